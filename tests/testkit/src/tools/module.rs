//! What is built: the Go module of a tool, its package, its flags, and the key of all that.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::Tool;
use super::go::{Go, wanted_version};

/// Leaves the machine's paths out of the program.
const FLAGS: [&str; 1] = ["-trimpath"];
/// Leaves out symbols and debug information, which halves the programs.
const STRIP: &str = "-s -w";

/// The part of a [`Tool`] that says where its source comes from.
struct Source {
    /// The folder of the module below `tests`.
    module: &'static str,
    package: &'static str,
    /// The file that pins the versions, `go.mod` unless two sets of versions build one code.
    versions: &'static str,
    /// The files of the module that hold code.
    code: &'static [&'static str],
    /// The parts of the program that are chosen when it is built, in which case C code is built as well.
    tags: Option<&'static str>,
}

fn source(tool: Tool) -> Source {
    let pinned = |module, package| Source {
        module,
        package,
        versions: "go.mod",
        code: &[],
        tags: None,
    };
    let ours = |module, versions, code| Source {
        module,
        package: ".",
        versions,
        code,
        tags: None,
    };
    match tool {
        Tool::Etcd => pinned("controlplane/etcd", "go.etcd.io/etcd/server/v3"),
        Tool::KubeApiserver => pinned(KUBERNETES, "k8s.io/kubernetes/cmd/kube-apiserver"),
        Tool::Kubectl => pinned(KUBERNETES, "k8s.io/kubernetes/cmd/kubectl"),
        Tool::KubeControllerManager => {
            pinned(KUBERNETES, "k8s.io/kubernetes/cmd/kube-controller-manager")
        }
        Tool::Helm => pinned("controlplane/helm", "helm.sh/helm/v3/cmd/helm"),
        Tool::Kustomize => pinned(
            "controlplane/kustomize",
            "sigs.k8s.io/kustomize/kustomize/v5",
        ),
        Tool::Sops => pinned("controlplane/sops", "github.com/getsops/sops/v3/cmd/sops"),
        Tool::Gitea => Source {
            // Its database, which is C code.
            tags: Some("sqlite,sqlite_unlock_notify"),
            ..pinned("controlplane/gitea", "code.gitea.io/gitea")
        },
        Tool::YamlOracle => ours("oracle", "go.mod", &["main.go"]),
        Tool::KustomizeOracle => ours(KUSTOMIZE_ORACLE, "go.mod", KUSTOMIZE_ORACLE_CODE),
        Tool::KustomizeOracle55 => ours(KUSTOMIZE_ORACLE, "5.5.mod", KUSTOMIZE_ORACLE_CODE),
        Tool::TemplateOracle => ours("oracle/template", "go.mod", &["main.go"]),
    }
}

const KUBERNETES: &str = "controlplane/kubernetes";
const KUSTOMIZE_ORACLE: &str = "oracle/kustomize";
const KUSTOMIZE_ORACLE_CODE: &[&str] = &["main.go", "schema.go"];

/// Everything that decides what a program becomes.
#[derive(Debug)]
pub(super) struct Recipe {
    /// The folder of the Go module.
    pub(super) folder: PathBuf,
    /// The arguments of `go` without the output file.
    pub(super) arguments: Vec<String>,
    /// Whether C code is built as well.
    pub(super) with_c: bool,
    /// The package, which is also the name of its module where a test asks for that.
    pub(super) package: &'static str,
    /// The name of the folder in the cache.
    pub(super) cache_name: String,
}

impl Recipe {
    pub(super) fn of(tool: Tool) -> Result<Self> {
        let source = source(tool);
        let folder = tests_folder().join(source.module);
        let versions = folder.join(source.versions);
        let go_mod = read(&versions)?;
        let go_sum = read(&versions.with_extension("sum"))?;
        let go = Go::find(&folder, wanted_version(&go_mod)?)?;
        let link_flags = link_flags(&go_mod)?;

        let mut key = Sha256::new();
        let parts = [
            &go_mod,
            &go_sum,
            &go.version,
            &go.platform,
            FLAGS[0],
            &link_flags,
        ];
        let code: Vec<String> = source
            .code
            .iter()
            .map(|file| read(&folder.join(file)))
            .collect::<Result<_>>()?;
        let chosen = code.iter().map(String::as_str).chain(source.tags);
        for part in parts.into_iter().chain(chosen) {
            key.update(part.len().to_be_bytes());
            key.update(part);
        }
        let key: String = key
            .finalize()
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();

        let mut arguments = vec!["build".to_owned()];
        arguments.extend(FLAGS.map(str::to_owned));
        arguments.push(format!("-modfile={}", source.versions));
        arguments.extend(source.tags.map(|tags| format!("-tags={tags}")));
        arguments.extend(["-ldflags".to_owned(), link_flags, source.package.to_owned()]);
        let module = source.module.rsplit('/').next().unwrap_or_default();
        Ok(Self {
            folder,
            arguments,
            with_c: source.tags.is_some(),
            package: source.package,
            cache_name: format!("{module}-{key}"),
        })
    }
}

fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(1)
        .expect("because every folder of a crate has one above it")
        .to_owned()
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Kubernetes learns its version from the linker; without it, clients take the server for v0.0.0.
fn link_flags(go_mod: &str) -> Result<String> {
    let Some(version) = required_version(go_mod, "k8s.io/kubernetes") else {
        return Ok(STRIP.to_owned());
    };
    let mut numbers = version.trim_start_matches('v').split('.');
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        anyhow::bail!("{version} is not a version of Kubernetes");
    };
    let variable =
        |name: &str, value: &str| format!(" -X k8s.io/component-base/version.{name}={value}");
    Ok([
        STRIP.to_owned(),
        variable("gitVersion", version),
        variable("gitMajor", major),
        variable("gitMinor", minor),
    ]
    .concat())
}

/// Finds the version that a go.mod file requires of a module.
fn required_version<'a>(go_mod: &'a str, module: &str) -> Option<&'a str> {
    go_mod.lines().find_map(|line| {
        let mut words = line
            .trim()
            .trim_start_matches("require ")
            .split_whitespace();
        (words.next() == Some(module))
            .then(|| words.next())
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_kubernetes_comes_from_its_go_mod() {
        let go_mod = "module x\n\nrequire (\n\tk8s.io/kubernetes v1.36.3 // indirect\n)\n";
        let flags = link_flags(go_mod).unwrap();
        assert_eq!(
            flags,
            "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 -X \
             k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"
        );
    }

    #[test]
    fn other_modules_get_no_version() {
        assert_eq!(
            link_flags("module x\nrequire go.etcd.io/etcd v3.6.16\n").unwrap(),
            "-s -w"
        );
    }

    #[test]
    fn a_module_holds_tools_and_pinned_versions_only() {
        for tool in Tool::ALL {
            let source = source(tool);
            let versions = tests_folder().join(source.module).join(source.versions);
            let go_mod = read(&versions).unwrap();
            for (directive, rest) in directives(&go_mod) {
                let allowed = match directive {
                    "module" | "go" | "tool" => true,
                    "require" => rest.contains(" v"),
                    "replace" => rest
                        .split_once(" => ")
                        .is_some_and(|(_, new)| is_pinned_module(new)),
                    _ => false,
                };
                assert!(allowed, "{tool}: {directive} {rest}");
            }
        }
    }

    /// Says whether this is a module with a version, and not a folder of the machine.
    fn is_pinned_module(text: &str) -> bool {
        text.split_once(' ').is_some_and(|(module, version)| {
            !module.starts_with(['.', '/']) && version.starts_with('v')
        })
    }

    /// Reads each line of a go.mod file as a directive and its arguments, blocks taken apart.
    fn directives(go_mod: &str) -> Vec<(&str, &str)> {
        let mut block = None;
        let mut directives = Vec::new();
        for line in go_mod
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            if let Some(name) = line.strip_suffix(" (") {
                block = Some(name);
            } else if line == ")" {
                block = None;
            } else {
                directives.push(match block {
                    Some(name) => (name, line),
                    None => line.split_once(' ').unwrap_or((line, "")),
                });
            }
        }
        directives
    }
}
