//! The one role that each entry below a folder has (SC-1 to SC-15, as far as plain folders go).

use model::FileEntry;

use crate::kustomize::parse::FILE_NAMES;

/// What an entry is to the folder. The first rule that fits decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The rules for what is not looked at.
    IgnoreRules,
    /// Ignore rules below the root of the folder, which nobody reads.
    MisplacedIgnoreRules,
    /// A kustomization.
    Kustomization,
    /// The configuration of SOPS.
    SopsConfig,
    /// YAML that may hold managed documents.
    Candidate,
    /// A symbolic link where content is expected.
    Link,
    /// A submodule.
    Submodule,
    /// Anything else: left alone, never a reason to refuse (D28).
    Passenger,
}

/// What a file is to the builds of the folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// Nothing: its documents stand for objects as they are written.
    #[default]
    Alone,
    /// A resource: its documents stand for the objects that builds make of them (IX-7).
    Built,
    /// What a patch or a generator reads: no document of the mirror (SC-11, SC-12).
    Input,
}

/// Returns the role of an entry, by its path below the folder.
pub(crate) fn role(below: &str, entry: &FileEntry) -> Role {
    let name = below.rsplit('/').next().unwrap_or(below);
    match entry {
        FileEntry::Submodule => return Role::Submodule,
        FileEntry::Symlink if is_opaque_link(name) => return Role::Link,
        FileEntry::Symlink => return Role::Passenger,
        FileEntry::Regular { .. } => {}
    }
    match name {
        ".gittargetignore" if below == name => Role::IgnoreRules,
        ".gittargetignore" => Role::MisplacedIgnoreRules,
        _ if is_kustomization(name) => Role::Kustomization,
        ".sops.yaml" => Role::SopsConfig,
        _ if is_yaml(name) => Role::Candidate,
        _ => Role::Passenger,
    }
}

/// Says whether no ignore rule can hide a file of this name (SC-4).
pub(crate) fn cannot_be_hidden(name: &str) -> bool {
    matches!(name, "README.md" | ".sops.yaml") || is_kustomization(name)
}

/// Says whether a file name is that of a kustomization.
pub(crate) fn is_kustomization(name: &str) -> bool {
    FILE_NAMES.contains(&name)
}

/// Says whether a file name is that of YAML.
pub(crate) fn is_yaml(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Says whether a link may hide manifests: one with a YAML name does, and one without any extension may lead to
/// a folder, which the tree alone does not tell. What people commonly link without an extension is let through.
fn is_opaque_link(name: &str) -> bool {
    const COMMON: [&str; 4] = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];
    is_yaml(name) || (!name.contains('.') && !COMMON.contains(&name))
}
