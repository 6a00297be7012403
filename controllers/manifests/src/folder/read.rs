//! From the files of a commit to documents and issues.

use std::collections::BTreeMap;

use model::{Actor, FileEntry, Files, FolderPath, IssueKind, Namespace, Refusal, RepoPath};

use super::document::{Claim, Content, Document, classify, is_encrypted};
use super::issue::{folder_issue, with_field};
use super::role::{Role, role};
use crate::folder::TypeCatalog;
use crate::yaml::{self, Reading};

/// A folder as it was found, not judged yet.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    pub(crate) files: BTreeMap<RepoPath, ManagedFile>,
    pub(crate) issues: Vec<Refusal>,
    pub(crate) is_empty: bool,
}

/// A YAML file that holds Kubernetes documents, or comments only.
#[derive(Debug, Clone, Default)]
pub struct ManagedFile {
    /// Its documents, in their order.
    pub documents: Vec<Document>,
}

impl Folder {
    /// Gives every file below the folder its role and every document its identity. `namespace` is the one that
    /// documents without a namespace belong to; usually there is none, and they belong to no object.
    pub fn read(
        files: &Files,
        folder: &FolderPath,
        catalog: &TypeCatalog,
        namespace: Option<&Namespace>,
    ) -> Self {
        let mut reader = Reader {
            folder,
            catalog,
            namespace,
            found: Self {
                is_empty: true,
                ..Self::default()
            },
        };
        reader.check_way(files);
        for (path, entry) in files {
            if let Some(below) = folder.strip(path) {
                reader.found.is_empty = false;
                reader.entry(path, role(below, entry), entry);
            }
        }
        let mut found = reader.found;
        found.find_duplicates();
        found
    }

    /// Reports each document whose identity an earlier one claims (IX-3).
    fn find_duplicates(&mut self) {
        let mut first: BTreeMap<&Claim, &Document> = BTreeMap::new();
        let mut issues = Vec::new();
        for document in self.files.values().flat_map(|file| &file.documents) {
            let Some(earlier) = first.get(&document.claim) else {
                first.insert(&document.claim, document);
                continue;
            };
            let issue = folder_issue(
                IssueKind::DuplicateIdentity,
                &document.path,
                Some(document.line),
                Actor::Author,
                format!(
                    "{} stands twice: first in {} line {}",
                    document.title(),
                    earlier.path,
                    earlier.line
                ),
                "keep one of the two documents",
            );
            issues.push(with_field(issue, "metadata.name"));
        }
        self.issues.extend(issues);
    }
}

struct Reader<'a> {
    folder: &'a FolderPath,
    catalog: &'a TypeCatalog,
    namespace: Option<&'a Namespace>,
    found: Folder,
}

impl Reader<'_> {
    fn issue(
        &mut self,
        kind: IssueKind,
        path: &RepoPath,
        line: Option<u32>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.issue_for(Actor::Author, kind, path, line, message, remedy);
    }

    fn issue_for(
        &mut self,
        actor: Actor,
        kind: IssueKind,
        path: &RepoPath,
        line: Option<u32>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.found
            .issues
            .push(folder_issue(kind, path, line, actor, message, remedy));
    }

    /// Refuses a folder whose own path, or a part of it, is a file, a link or a submodule.
    fn check_way(&mut self, files: &Files) {
        let mut way = self.folder.as_repo_path().cloned();
        while let Some(path) = way {
            let kind = match files.get(&path) {
                None => None,
                Some(FileEntry::Symlink) => Some(IssueKind::ForeignSymlink),
                Some(FileEntry::Submodule) => Some(IssueKind::ForeignSubmodule),
                Some(FileEntry::Regular { .. } | FileEntry::TooLarge { .. }) => {
                    Some(IssueKind::ForeignFile)
                }
            };
            if let Some(kind) = kind {
                self.issue(
                    kind,
                    &path,
                    None,
                    "the path of the folder leads through something that is no folder",
                    "point spec.path at a real folder",
                );
            }
            way = path.parent().as_repo_path().cloned();
        }
    }

    fn entry(&mut self, path: &RepoPath, role: Role, entry: &FileEntry) {
        match (role, entry) {
            (Role::Passenger, _) => {}
            (Role::Link, _) => self.issue(
                IssueKind::ForeignSymlink,
                path,
                None,
                "a symbolic link stands where manifests are expected, and links are never followed",
                "replace the link with what it points at, or move it out of the folder",
            ),
            (Role::Submodule, _) => self.issue(
                IssueKind::ForeignSubmodule,
                path,
                None,
                "a submodule stands in the folder, and its content is not seen",
                "move the submodule out of the folder",
            ),
            (Role::MisplacedIgnoreRules, _) => self.issue(
                IssueKind::ForeignFile,
                path,
                None,
                "ignore rules are read at the root of the folder only",
                format!("move the rules to {}", self.at_root(".gittargetignore")),
            ),
            (Role::TooLarge, _) => self.issue(
                IssueKind::InvalidYaml,
                path,
                None,
                "the file is larger than what is read",
                "split the file",
            ),
            (Role::Kustomization, _) => self.kustomization(path),
            (Role::IgnoreRules, entry) => self.ignore_rules(path, entry),
            (Role::SopsConfig, entry) => self.sops_config(path, entry),
            (Role::Candidate, entry) => self.candidate(path, entry),
        }
    }

    fn at_root(&self, name: &str) -> String {
        self.folder
            .join(name)
            .map_or_else(|_| name.to_owned(), |path| path.to_string())
    }

    fn kustomization(&mut self, path: &RepoPath) {
        let free = self.at_root("live");
        self.issue_for(
            Actor::Nobody,
            IssueKind::UnsupportedKustomize,
            path,
            None,
            "kustomize folders cannot be written yet",
            format!("for now, point spec.path at a folder of plain manifests without a kustomization, such as {free}"),
        );
    }

    /// Rules that hide nothing are as good as none (SC-17); others cannot be followed yet, and writing past them
    /// would be worse than not writing.
    fn ignore_rules(&mut self, path: &RepoPath, entry: &FileEntry) {
        let bytes = entry.bytes().map(|bytes| &bytes[..]).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes);
        let active = text.lines().position(|line| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        if let Some(index) = active {
            self.issue_for(
                Actor::Nobody,
                IssueKind::ForeignFile,
                path,
                u32::try_from(index + 1).ok(),
                "patterns in .gittargetignore cannot be followed yet",
                "for now, move what is to be ignored out of the folder and leave only comments in the file",
            );
        }
    }

    fn sops_config(&mut self, path: &RepoPath, entry: &FileEntry) {
        let Some(Ok(readings)) = entry
            .bytes()
            .and_then(|bytes| text_of(bytes))
            .map(yaml::read)
        else {
            return;
        };
        for (index, reading) in readings.into_iter().enumerate() {
            let line = reading.line;
            if let Content::Document(document) = classify(path, index, reading, self.catalog, None)
            {
                self.issue(
                    IssueKind::MixedManagedAllowlisted,
                    path,
                    Some(line),
                    format!("the configuration of SOPS also holds {}", document.title()),
                    "move the object to a file of its own",
                );
            }
        }
    }

    fn candidate(&mut self, path: &RepoPath, entry: &FileEntry) {
        let Some(text) = entry.bytes().and_then(|bytes| text_of(bytes)) else {
            self.issue(
                IssueKind::InvalidYaml,
                path,
                None,
                "the file is not UTF-8",
                "store the file as UTF-8, or move it out of the folder",
            );
            return;
        };
        match yaml::read(text) {
            Err(error) => self.issue(
                IssueKind::InvalidYaml,
                path,
                Some(error.line),
                format!("the file does not parse: {}", error.problem),
                "repair the file, or move it out of the folder",
            ),
            Ok(readings) => self.documents(path, readings),
        }
    }

    fn documents(&mut self, path: &RepoPath, readings: Vec<Reading>) {
        let sealed = readings.iter().any(|reading| is_encrypted(&reading.value));
        if path.file_name().ends_with(".sops.yaml")
            && !sealed
            && readings.iter().any(|r| !r.is_empty)
        {
            self.issue(
                IssueKind::InvalidYaml,
                path,
                None,
                "the name says that the file is encrypted, and it has no sops block",
                "encrypt the file with sops, or give it another name",
            );
        }
        let mut documents = Vec::new();
        let mut others = Vec::new();
        for (index, reading) in readings.into_iter().enumerate() {
            let line = reading.line;
            match classify(path, index, reading, self.catalog, self.namespace) {
                Content::Document(document) => documents.push(*document),
                other => others.push((line, other)),
            }
        }
        for (line, other) in others {
            self.other(path, line, &other, !documents.is_empty());
        }
        self.found
            .files
            .insert(path.clone(), ManagedFile { documents });
    }

    /// Reports what is no Kubernetes document, alone in its file or beside documents.
    fn other(&mut self, path: &RepoPath, line: u32, content: &Content, beside: bool) {
        let ignored = "add one, or move the file out of the folder";
        match (content, beside) {
            (Content::Document(_), _) | (Content::Empty, false) => {}
            (Content::List, _) => self.issue(
                IssueKind::NonKrmYaml,
                path,
                Some(line),
                "a list of objects in one document is not split into its items",
                "write each object as a document of its own",
            ),
            (Content::Empty, true) => self.issue(
                IssueKind::ImpureManagedFile,
                path,
                Some(line),
                "a document of the file is empty",
                "remove the separator that leaves it empty",
            ),
            (Content::Other, true) => self.issue(
                IssueKind::ImpureManagedFile,
                path,
                Some(line),
                "a document of the file is no Kubernetes object: it lacks apiVersion, kind or metadata.name",
                "move it to a file outside of the folder",
            ),
            (Content::Other, false) => self.issue(
                IssueKind::NonKrmYaml,
                path,
                Some(line),
                "the file is YAML and no Kubernetes object: it lacks apiVersion, kind or metadata.name",
                ignored,
            ),
        }
    }
}

fn text_of(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
