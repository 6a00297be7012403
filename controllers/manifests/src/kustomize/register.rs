//! What a kustomization lists: files come in with what is written, and go with what is removed (RG-2, DL-6).
//!
//! A file that no kustomization lists is built by nobody, and an entry that leads nowhere breaks the build, so both
//! change in the commit that writes or removes the file. The list keeps its layout.

use model::{FolderPath, RepoPath};
use serde_json::{Map, Value, json};

use super::graph::{Graph, Reader, Resource};
use super::path::{Destination, follow, spell};
use crate::yaml;

/// Why the list of a kustomization cannot be changed (RG-5).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unlistable {
    /// It is not one document of YAML.
    #[error("the kustomization is not one document")]
    NotOneDocument,
    /// A list of it is something else.
    #[error("`{0}` holds something else than entries")]
    NoList(&'static str),
    /// The text does not take the edit.
    #[error("the list cannot be edited safely: {0}")]
    NotEditable(#[from] yaml::EditError),
}

/// The list of the files and folders that are built.
pub(crate) const RESOURCES: &str = "resources";
/// The older list, which adds to the first one.
const BASES: &str = "bases";

/// Returns the kustomization that has to list a file: the nearest one above it, in what may be written (RG-1, RG-4).
pub fn governing<'g>(
    graph: &'g Graph,
    file: &RepoPath,
    writable: &FolderPath,
) -> Option<&'g Reader> {
    let mut folder = file.parent();
    loop {
        let is_inside = folder == *writable
            || folder
                .as_repo_path()
                .is_some_and(|path| writable.contains(path));
        if !is_inside {
            return None;
        }
        if let Some(reader) = graph.get(&folder) {
            return Some(reader);
        }
        folder = folder.as_repo_path()?.parent();
    }
}

/// Returns every kustomization that lists a file, of those that may be written (DL-6).
pub fn listing<'g>(
    graph: &'g Graph,
    file: &RepoPath,
    writable: &FolderPath,
) -> impl Iterator<Item = &'g Reader> {
    let lists = move |reader: &&Reader| {
        let mut resources = reader.resources.iter();
        writable.contains(&reader.path)
            && resources.any(|entry| matches!(&entry.value, Resource::File(path) if path == file))
    };
    graph
        .folders()
        .filter_map(|folder| graph.get(folder))
        .filter(lists)
}

/// Returns the text of a kustomization that lists some files, and some others no more. What it lists already stays as
/// it is spelled. A list that loses its last entry stays as an empty one, because kustomize builds no file without a
/// list (DL-7).
///
/// # Errors
/// Returns why the list cannot be changed.
pub fn relist(
    text: &str,
    folder: &FolderPath,
    add: &[RepoPath],
    remove: &[RepoPath],
) -> Result<String, Unlistable> {
    edited(text, |fields| {
        let old: Vec<String> = match fields.get(RESOURCES) {
            None | Some(Value::Null) => Vec::new(),
            Some(list) => {
                serde_json::from_value(list.clone()).map_err(|_| Unlistable::NoList(RESOURCES))?
            }
        };
        let is_gone = |entry: &str| remove.iter().any(|file| leads_to(folder, entry, file));
        let mut loses_bases = false;
        if let Some(Value::Array(bases)) = fields.get_mut(BASES) {
            let before = bases.len();
            bases.retain(|entry| !entry.as_str().is_some_and(is_gone));
            loses_bases = bases.is_empty() && before > 0;
        }
        let mut entries = old.clone();
        entries.retain(|entry| !is_gone(entry));
        for file in add {
            if !entries.iter().any(|entry| leads_to(folder, entry, file)) {
                insert(&mut entries, spelled_alike(&old, spell(folder, file)));
            }
        }
        // Kustomize takes an empty list of resources for a list, and one of bases for none.
        if entries != old || loses_bases {
            fields.insert(RESOURCES.to_owned(), json!(entries));
        }
        Ok(())
    })
}

/// Returns the text of a kustomization with other fields. Everything else of it stays.
pub(super) fn edited(
    text: &str,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(), Unlistable>,
) -> Result<String, Unlistable> {
    let documents = yaml::values(text).map_err(|_| Unlistable::NotOneDocument)?;
    let [mut kustomization] =
        <[Value; 1]>::try_from(documents).map_err(|_| Unlistable::NotOneDocument)?;
    let fields = kustomization
        .as_object_mut()
        .ok_or(Unlistable::NotOneDocument)?;
    change(fields)?;
    Ok(yaml::edit(text, &[(0, &kustomization)])?)
}

/// Writes a kustomization for a folder that has none: what it lists, and nothing that changes an object (RG-6).
pub fn new_root(folder: &FolderPath, files: &[RepoPath]) -> String {
    let mut entries: Vec<String> = files.iter().map(|file| spell(folder, file)).collect();
    entries.sort();
    entries.dedup();
    let fields = [
        ("apiVersion", json!("kustomize.config.k8s.io/v1beta1")),
        ("kind", json!("Kustomization")),
        (RESOURCES, json!(entries)),
    ];
    yaml::canonical(
        &fields
            .map(|(key, value)| (key.to_owned(), value))
            .into_iter()
            .collect(),
    )
}

/// Says whether an entry of a kustomization leads to a file.
pub(super) fn leads_to(folder: &FolderPath, entry: &str, file: &RepoPath) -> bool {
    follow(folder, entry) == Destination::Path(file.clone())
}

/// Spells a path with `./` before it where most entries of the list have that.
pub(super) fn spelled_alike(list: &[String], path: String) -> String {
    let below: Vec<&String> = list
        .iter()
        .filter(|entry| !entry.starts_with(".."))
        .collect();
    let dotted = below.iter().filter(|entry| entry.starts_with("./")).count();
    if 2 * dotted > below.len() && !path.starts_with("..") {
        format!("./{path}")
    } else {
        path
    }
}

/// Puts an entry into its sorted place where the list has an order, and behind the others where it has none.
fn insert(entries: &mut Vec<String>, entry: String) {
    let at = if entries.len() > 1 && entries.is_sorted() {
        entries.partition_point(|other| *other <= entry)
    } else {
        entries.len()
    };
    entries.insert(at, entry);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::graph;
    use model::FilesInMemory;

    fn path(path: &str) -> RepoPath {
        RepoPath::new(path).unwrap()
    }

    fn paths(paths: &[&str]) -> Vec<RepoPath> {
        paths.iter().map(|one| path(one)).collect()
    }

    fn folder(path: &str) -> FolderPath {
        FolderPath::new(path).unwrap()
    }

    fn relisted(text: &str, add: &[&str], remove: &[&str]) -> String {
        relist(text, &folder("live/app"), &paths(add), &paths(remove)).unwrap()
    }

    #[test]
    fn rg_2_a_file_is_listed_once_in_the_style_of_the_list() {
        let cases = [
            (
                "# head\nresources:\n- b.yaml # first\n# second\n- a.yaml\nnamespace: team\n",
                "# head\nresources:\n- b.yaml # first\n# second\n- a.yaml\n- c.yaml\nnamespace: team\n",
            ),
            (
                "resources:\n  - ./a.yaml\n  - ./d.yaml\n",
                "resources:\n  - ./a.yaml\n  - ./c.yaml\n  - ./d.yaml\n",
            ),
            (
                "resources: [a.yaml, ../base]\n",
                "resources: [a.yaml, ../base, c.yaml]\n",
            ),
            (
                "resources:\n- a.yaml\n- ./x/../c.yaml\n",
                "resources:\n- a.yaml\n- ./x/../c.yaml\n",
            ),
        ];
        for (before, after) in cases {
            assert_eq!(relisted(before, &["live/app/c.yaml"], &[]), after);
            assert_eq!(relisted(after, &["live/app/c.yaml"], &[]), after, "twice");
        }
        let nested = relisted("resources:\n- a.yaml\n", &["live/app/x/c.yaml"], &[]);
        assert_eq!(nested, "resources:\n- a.yaml\n- x/c.yaml\n");
    }

    #[test]
    fn rg_5_a_list_is_made_where_there_is_none_and_refused_where_it_cannot_be() {
        for before in [
            "namespace: team\n",
            "namespace: team\nresources:\n",
            "namespace: team\nresources: []\n",
        ] {
            let after = relisted(before, &["live/app/c.yaml"], &[]);
            let value = yaml::values(&after).unwrap().remove(0);
            assert_eq!(
                value,
                json!({"namespace": "team", "resources": ["c.yaml"]}),
                "{after}"
            );
            assert!(after.starts_with("namespace: team\nresources:"), "{after}");
        }
        let add = paths(&["live/app/c.yaml"]);
        for (text, expected) in [
            ("a: 1\n---\nb: 1\n", Unlistable::NotOneDocument),
            ("", Unlistable::NotOneDocument),
            ("- a\n", Unlistable::NotOneDocument),
            ("a: [\n", Unlistable::NotOneDocument),
            ("resources: a.yaml\n", Unlistable::NoList(RESOURCES)),
            ("resources: [1]\n", Unlistable::NoList(RESOURCES)),
        ] {
            assert_eq!(
                relist(text, &folder("live/app"), &add, &[]),
                Err(expected),
                "{text}"
            );
        }
        let twice = "resources: [a]\nresources: [b]\n";
        let refused = relist(twice, &folder("live/app"), &add, &[]);
        assert!(
            matches!(refused, Err(Unlistable::NotEditable(_))),
            "{refused:?}"
        );
    }

    #[test]
    fn dl_7_the_last_entry_leaves_an_empty_list() {
        let before = "resources:\n- a.yaml\n- b.yaml # stays\n";
        let one = relisted(before, &[], &["live/app/a.yaml", "live/app/none.yaml"]);
        assert_eq!(one, "resources:\n- b.yaml # stays\n");
        let none = relisted(&one, &[], &["live/app/b.yaml"]);
        let value = yaml::values(&none).unwrap().remove(0);
        assert_eq!(value, json!({"resources": []}), "{none}");
    }

    #[test]
    fn dl_6_a_file_among_the_bases_is_forgotten_as_well() {
        let before = "bases:\n- ../base\n- a.yaml\nresources: [b.yaml]\n";
        let after = relisted(before, &[], &["live/app/a.yaml", "live/app/b.yaml"]);
        assert_eq!(after, "bases:\n- ../base\nresources: []\n");
        let after = relisted("bases: [a.yaml]\n", &[], &["live/app/a.yaml"]);
        assert_eq!(after, "bases: []\nresources: []\n");
    }

    #[test]
    fn rg_6_a_new_root_lists_what_is_there_and_says_no_more() {
        let files = paths(&["live/app/b.yaml", "live/app/x/a.yaml", "live/app/b.yaml"]);
        assert_eq!(
            new_root(&folder("live/app"), &files),
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - b.yaml\n  - x/a.yaml\n"
        );
    }

    #[test]
    fn rg_1_rg_4_dl_6_who_lists_a_file_and_who_has_to() {
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        let files = FilesInMemory::from_iter([
            (
                path("kustomization.yaml"),
                b"resources: [live/app/a.yaml]\n".to_vec(),
            ),
            (
                path("live/kustomization.yml"),
                b"resources: [app/a.yaml]\n".to_vec(),
            ),
            (
                path("live/app/kustomization.yaml"),
                b"resources: [a.yaml]\n".to_vec(),
            ),
            (path("live/app/a.yaml"), object.as_bytes().to_vec()),
        ]);
        let graph = graph(files.tree(), &FolderPath::root()).unwrap();
        let governs = |file: &str, writable: &str| {
            let reader = governing(&graph, &path(file), &folder(writable));
            reader.map(|reader| reader.path.to_string())
        };
        let of_app = Some("live/app/kustomization.yaml".to_owned());
        assert_eq!(governs("live/app/x/new.yaml", "live"), of_app);
        assert_eq!(
            governs("live/other/new.yaml", "live").as_deref(),
            Some("live/kustomization.yml")
        );
        assert_eq!(governs("live/other/new.yaml", "live/other"), None);
        assert_eq!(
            governs("new.yaml", ".").as_deref(),
            Some("kustomization.yaml")
        );
        let listed: Vec<&str> = listing(&graph, &path("live/app/a.yaml"), &folder("live"))
            .map(|reader| reader.path.as_str())
            .collect();
        assert_eq!(
            listed,
            ["live/kustomization.yml", "live/app/kustomization.yaml"]
        );
    }
}
