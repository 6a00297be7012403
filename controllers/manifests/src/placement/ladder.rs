//! The choice of a path: the first rung that has one decides (PL-1).

use model::{FolderPath, RepoPath};

use super::segment::{MAX_BYTES, file_name, value};
use super::template::{Subject, Template};
use super::unplaced::Unplaced;
use super::variable::suffix;
use super::{Placement, TypeKey, builtin};
use crate::plan::PlacementSource;

/// Where a placement looks, beside the object.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The folder that is written.
    pub folder: &'a FolderPath,
    /// The one kustomization that governs the whole folder, if there is exactly one (PL-6).
    pub root: Option<RenderRoot<'a>>,
}

/// The folder of a kustomization, and the names that are no longer free in it.
#[derive(Clone, Copy)]
pub struct RenderRoot<'a> {
    /// The folder.
    pub folder: &'a FolderPath,
    /// Says whether a path is taken, by a file or by an object of the batch that was placed before.
    pub taken: &'a dyn Fn(&RepoPath) -> bool,
}

/// The place of a new document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The file, from the root of the repository.
    pub path: RepoPath,
    /// The rung that chose it.
    pub source: PlacementSource,
    /// The template, where one was declared.
    pub template: Option<Template>,
}

impl Placement {
    /// Chooses the path of a new document. A template that gives no legal path is a refusal, never a reason to
    /// try the next rung (PL-19).
    ///
    /// # Errors
    /// Returns why the object has no place.
    pub fn place(&self, subject: Subject<'_>, site: Site<'_>) -> Result<Placed, Unplaced> {
        let key = TypeKey::of(subject.served);
        if let Some(template) = self.template_of(&key) {
            let field = format!("spec.placement.byType[{key}]");
            let apart = template.tells_objects_apart();
            return declared(template, apart, subject, site.folder, &field)
                .map(|path| placed(path, PlacementSource::ByType, Some(template)));
        }
        if let Some(template) = self.default_template() {
            let apart = template.tells_types_apart();
            return declared(
                template,
                apart,
                subject,
                site.folder,
                "spec.placement.default",
            )
            .map(|path| placed(path, PlacementSource::Default, Some(template)));
        }
        if let Some(root) = site.root {
            return beside(root, subject)
                .map(|path| placed(path, PlacementSource::KustomizeRoot, None));
        }
        let parts = builtin::parts(subject.id, subject.served.sensitive);
        checked(site.folder, &parts, None).map(|path| placed(path, PlacementSource::Builtin, None))
    }
}

fn placed(path: RepoPath, source: PlacementSource, template: Option<&Template>) -> Placed {
    Placed {
        path,
        source,
        template: template.cloned(),
    }
}

/// Follows a declared template. What validation refused for the types known then is refused here for all.
fn declared(
    template: &Template,
    tells_apart: bool,
    subject: Subject<'_>,
    folder: &FolderPath,
    field: &str,
) -> Result<RepoPath, Unplaced> {
    if subject.served.sensitive && !tells_apart {
        return Err(Unplaced::SharedTemplate {
            field: field.to_owned(),
        });
    }
    let path = checked(folder, &template.render(subject), Some(field))?;
    if !subject.served.sensitive && template.names_sealed_files() {
        return Err(Unplaced::PlaintextOntoEncrypted { path });
    }
    Ok(path)
}

/// Takes the first free name beside the kustomization: the object's own, then ones that say more of it, since
/// objects of different kinds often share a name (PL-5).
fn beside(root: RenderRoot<'_>, subject: Subject<'_>) -> Result<RepoPath, Unplaced> {
    let id = subject.id;
    let mut names = vec![id.name.to_string()];
    names.push(format!(
        "{}-{}",
        subject.served.kind.to_lowercase(),
        id.name
    ));
    let more = [
        id.namespace.as_ref().map(ToString::to_string),
        Some(id.type_id.group.to_string()).filter(|group| !group.is_empty()),
    ];
    for part in more.into_iter().flatten() {
        names.extend(names.last().map(|name| format!("{name}-{part}")));
    }
    let mut first = None;
    for name in names {
        let sensitive = subject.served.sensitive;
        let name = file_name(&format!("{}{}", value(&name), suffix(sensitive)), sensitive);
        let path = checked(root.folder, &[name], None)?;
        if !(root.taken)(&path) {
            return Ok(path);
        }
        first.get_or_insert(path);
    }
    Err(Unplaced::InvalidPath {
        path: first.map_or_else(|| root.folder.to_string(), |path| path.to_string()),
        problem: "this name and every longer one beside the kustomization is taken".to_owned(),
        field: None,
    })
}

/// Makes a path of its parts and checks it once more: inside the folder, and something every file system holds.
fn checked(
    folder: &FolderPath,
    parts: &[String],
    field: Option<&str>,
) -> Result<RepoPath, Unplaced> {
    let below = parts.join("/");
    let invalid = |problem: String| Unplaced::InvalidPath {
        path: match folder.as_repo_path() {
            Some(folder) => format!("{folder}/{below}"),
            None => below.clone(),
        },
        problem,
        field: field.map(str::to_owned),
    };
    if let Some(long) = parts.iter().find(|part| part.len() > MAX_BYTES) {
        let start: String = long.chars().take(20).collect();
        return Err(invalid(format!(
            "the part that begins with {start:?} has {} bytes, and common file systems hold {MAX_BYTES}",
            long.len()
        )));
    }
    folder
        .join(&below)
        .map_err(|error| invalid(error.rule.to_owned()))
}
