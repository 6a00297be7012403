//! Objects go from folders and come back. Folders are written as archives: each file after a line such as
//! `== app/kustomization.yaml`. What is built and may be written is `app`; what lies elsewhere is never written.

mod generated;
mod inherited;
mod orphans;
mod restore;

use model::{FilesInMemory, FolderPath, IssueKind, Refusal, RefusalCode};

use super::*;
use crate::kustomize::{Graph, Render, Rendered, build, graph};

/// A folder with what is known of it.
struct Known {
    files: FilesInMemory,
    graph: Graph,
    render: Render,
}

fn app() -> FolderPath {
    FolderPath::new("app").unwrap()
}

fn path(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}

fn files(archive: &str) -> FilesInMemory {
    let files = archive.trim_start_matches("== ").split("\n== ");
    files
        .filter_map(|file| file.split_once('\n'))
        .map(|(name, text)| (path(name), format!("{text}\n").into_bytes()))
        .collect()
}

impl Known {
    fn of(archive: &str) -> Self {
        Self::of_files(files(archive.trim_end_matches('\n')))
    }

    fn of_files(files: FilesInMemory) -> Self {
        Self {
            graph: graph(files.tree(), &FolderPath::root()).unwrap(),
            render: build(files.tree(), &app()).unwrap(),
            files,
        }
    }

    /// Returns an object by kind, namespace and name: `Deployment team/web`, or `Deployment web` without one.
    fn object(&self, title: &str) -> &Rendered {
        let mut objects = self.render.objects.iter();
        let found = objects.find(|object| titled(object) == title);
        found.unwrap_or_else(|| panic!("{title} is not built"))
    }

    fn objects(&self, titles: &[&str]) -> Vec<&Rendered> {
        titles.iter().map(|title| self.object(title)).collect()
    }

    fn inherited(&self, titles: &[&str]) -> Removed {
        let objects = self.objects(titles);
        let of = (&app(), &self.render);
        inherited(self.files.tree(), &self.graph, of, &objects).unwrap()
    }

    fn generated(&self, titles: &[&str]) -> Removed {
        let objects = self.objects(titles);
        let tree = self.files.tree();
        generated(tree, &self.graph, &app(), &self.render, &objects).unwrap()
    }

    /// Returns the folder with some files changed.
    fn with(&self, changes: &Changes) -> FilesInMemory {
        let mut files = FilesInMemory::default();
        for path in self.files.tree().files.paths() {
            files.put(&path, self.files.bytes(&path).unwrap().clone());
        }
        for (path, bytes) in changes {
            match bytes {
                Some(bytes) => files.put(path, bytes.clone()),
                None => files.remove(path),
            }
        }
        files
    }

    /// Returns the folder without some objects, and proves that they are gone and everything else is as before.
    fn without(&self, titles: &[&str], removed: Removed) -> Self {
        assert_eq!(removed.refused, [], "{titles:?}");
        let after = Self::of_files(self.with(&removed.files));
        let kept = self.render.objects.iter();
        let kept = kept.filter(|object| !titles.contains(&titled(object).as_str()));
        let said = |object: &Rendered| (object.id.clone(), object.node.to_value());
        let kept: Vec<_> = kept.map(said).collect();
        let built: Vec<_> = after.render.objects.iter().map(said).collect();
        assert_eq!(built, kept, "{titles:?}");
        after
    }

    fn text(&self, at: &str) -> &str {
        let bytes = self.files.bytes(&path(at));
        std::str::from_utf8(bytes.unwrap_or_else(|| panic!("{at} is not there"))).unwrap()
    }
}

fn titled(object: &Rendered) -> String {
    match object.namespace() {
        Some(namespace) => format!("{} {namespace}/{}", object.id.kind, object.id.name),
        None => format!("{} {}", object.id.kind, object.id.name),
    }
}

/// Returns the names of the files that change, with a minus before those that go.
fn names(changes: &Changes) -> Vec<String> {
    let name = |(path, bytes): (&RepoPath, &Option<Vec<u8>>)| match bytes {
        Some(_) => path.to_string(),
        None => format!("-{path}"),
    };
    changes.iter().map(name).collect()
}

/// Says where a refusal points to and what it is: `path:line issue`.
fn told(refusal: &Refusal) -> String {
    assert_eq!(refusal.code, RefusalCode::WriteBoundaryRefused);
    let at = refusal.at.as_ref().unwrap();
    let line = at.line.map_or_else(String::new, |line| format!(":{line}"));
    let issue = refusal.issue.map_or("boundary", IssueKind::as_str);
    format!("{}{line} {issue}", at.path)
}
