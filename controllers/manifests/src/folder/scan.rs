//! One file of a folder, read once: its documents, and what is wrong with it.

use model::{Actor, FileEntry, FolderPath, IssueKind, Refusal, RepoPath};

use super::document::{Content, Document, Lack, NOTED, classify, is_encrypted};
use super::helm::values_files;
use super::issue::{folder_issue, with_field};
use super::role::{Part, Role, role};
use crate::ignore::pattern_of;
use crate::yaml::{self, Reading};

/// What a file turned out to be.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ScannedFile {
    /// Its documents, in their order.
    pub(crate) documents: Vec<Document>,
    /// What forbids to write the folder.
    pub(crate) issues: Vec<Refusal>,
    /// The values files that its documents name.
    pub(crate) values_files: Vec<RepoPath>,
    /// Whether all that is wrong with it is that it holds no Kubernetes objects, as a values file does not.
    pub(crate) may_be_values: bool,
    /// Its size, where it was read.
    pub(crate) bytes: usize,
    /// Whether it is YAML that holds Kubernetes documents, or comments only.
    pub(crate) managed: bool,
    /// What it is to the builds of the folder.
    pub(crate) part: Part,
}

/// What is read of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Read<'a> {
    /// Its content.
    Bytes(&'a [u8]),
    /// It is larger than what is read.
    TooLarge,
}

/// Says whether the content of the entry matters.
pub(crate) fn needs_content(below: &str, entry: &FileEntry) -> bool {
    matches!(
        role(below, entry),
        Role::Candidate | Role::SopsConfig | Role::Kustomization
    )
}

/// Reads a file of the folder; `below` is its path in it.
pub(crate) fn scan(
    folder: &FolderPath,
    path: &RepoPath,
    below: &str,
    entry: &FileEntry,
    read: Read<'_>,
) -> ScannedFile {
    let mut scan = Scan {
        folder,
        path,
        found: ScannedFile::default(),
    };
    scan.entry(role(below, entry), read);
    scan.found
}

struct Scan<'a> {
    folder: &'a FolderPath,
    path: &'a RepoPath,
    found: ScannedFile,
}

impl Scan<'_> {
    fn issue(
        &mut self,
        kind: IssueKind,
        line: Option<u32>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.issue_for(Actor::Author, kind, line, message, remedy);
    }

    fn issue_for(
        &mut self,
        actor: Actor,
        kind: IssueKind,
        line: Option<u32>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let issue = folder_issue(kind, self.path, line, actor, message, remedy);
        self.found.issues.push(issue);
    }

    fn entry(&mut self, role: Role, read: Read<'_>) {
        match role {
            Role::Passenger | Role::IgnoreRules => {}
            Role::Link => self.issue(
                IssueKind::ForeignSymlink,
                None,
                "a symbolic link stands where manifests are expected, and links are never followed",
                "replace the link with what it points at, or move it out of the folder",
            ),
            Role::Submodule => self.issue(
                IssueKind::ForeignSubmodule,
                None,
                "a submodule stands in the folder, and its content is not seen",
                "move the submodule out of the folder",
            ),
            Role::MisplacedIgnoreRules => {
                let root = self.at_root(".gittargetignore");
                self.issue(
                    IssueKind::ForeignFile,
                    None,
                    "ignore rules are read at the root of the folder only",
                    format!("move the rules to {root}"),
                );
            }
            Role::Kustomization => self.kustomization(read),
            Role::SopsConfig => self.sops_config(read),
            Role::Candidate => self.candidate(read),
        }
    }

    /// Says how the file is left alone.
    fn ignore_it(&self) -> String {
        let below = self.folder.strip(self.path).unwrap_or_default();
        let rules = self.at_root(".gittargetignore");
        format!("add the line {} to {rules}", pattern_of(below))
    }

    fn at_root(&self, name: &str) -> String {
        self.folder
            .join(name)
            .map_or_else(|_| name.to_owned(), |path| path.to_string())
    }

    /// Looks for objects in a kustomization; what else is wrong with it, its build tells.
    fn kustomization(&mut self, read: Read<'_>) {
        let is_kustomization = |document: &Document| {
            document.kind() == "Kustomization"
                && document.api_version.starts_with("kustomize.config.k8s.io/")
        };
        self.objects(read, "the kustomization", is_kustomization);
    }

    fn sops_config(&mut self, read: Read<'_>) {
        self.objects(read, "the configuration of SOPS", |_| false);
    }

    /// Reports the objects in a file that is none of manifests.
    fn objects(&mut self, read: Read<'_>, what: &str, is_its_own: fn(&Document) -> bool) {
        let Read::Bytes(bytes) = read else { return };
        let Some(Ok(readings)) = text_of(bytes).map(read_documents) else {
            return;
        };
        for (index, reading) in readings.into_iter().enumerate() {
            let line = reading.line;
            match classify(self.path, index, reading) {
                Content::Document(document) if !is_its_own(&document) => self.issue(
                    IssueKind::MixedManagedAllowlisted,
                    Some(line),
                    format!("{what} also holds {}", document.title()),
                    "move the object to a file of its own",
                ),
                _ => {}
            }
        }
    }

    fn candidate(&mut self, read: Read<'_>) {
        let Read::Bytes(bytes) = read else {
            return self.issue(
                IssueKind::InvalidYaml,
                None,
                "the file is larger than what is read",
                "split the file",
            );
        };
        self.found.bytes = bytes.len();
        let Some(text) = text_of(bytes) else {
            return self.issue(
                IssueKind::InvalidYaml,
                None,
                "the file is not UTF-8",
                format!("store the file as UTF-8, or {}", self.ignore_it()),
            );
        };
        match read_documents(text) {
            Err(error) => self.issue(
                IssueKind::InvalidYaml,
                Some(error.line),
                format!("the file does not parse: {}", error.problem),
                format!("repair the file, or {}", self.ignore_it()),
            ),
            Ok(readings) => self.documents(readings),
        }
    }

    fn documents(&mut self, readings: Vec<Reading>) {
        let sealed = readings.iter().any(|reading| is_encrypted(&reading.value));
        let named_sealed = self.path.file_name().ends_with(".sops.yaml");
        let first = readings.iter().find(|reading| !reading.is_empty);
        if let (true, false, Some(first)) = (named_sealed, sealed, first) {
            self.issue_of_field(
                IssueKind::InvalidYaml,
                first.line,
                "sops",
                "the name says that the file is encrypted, and it has no sops block",
                "encrypt the file with sops, or give it another name",
            );
        }
        let mut others = Vec::new();
        for (index, reading) in readings.into_iter().enumerate() {
            let line = reading.line;
            self.found.values_files.extend(values_files(&reading.value));
            match classify(self.path, index, reading) {
                Content::Document(document) => self.found.documents.push(*document),
                other => others.push((line, other)),
            }
        }
        let beside = !self.found.documents.is_empty();
        let all = |fits: fn(&Content) -> bool| others.iter().all(|(_, other)| fits(other));
        self.found.managed = all(|other| matches!(other, Content::Empty));
        self.found.may_be_values = !beside
            && self.found.issues.is_empty()
            && all(|other| matches!(other, Content::Empty | Content::Other(_)));
        for (line, other) in others {
            self.other(line, &other, beside);
        }
    }

    /// Reports what is no Kubernetes document, alone in its file or beside documents.
    fn other(&mut self, line: u32, content: &Content, beside: bool) {
        match content {
            Content::Document(_) => {}
            Content::List { line } => self.issue_of_field(
                IssueKind::NonKrmYaml,
                *line,
                "items",
                "a list of objects in one document is not split into its items",
                "write each object as a document of its own",
            ),
            Content::Empty if beside => self.issue(
                IssueKind::ImpureManagedFile,
                Some(line),
                "a document of the file is empty",
                "remove the separator that leaves it empty",
            ),
            Content::Empty => {}
            Content::Other(lack) => self.lacking(lack, beside),
        }
    }

    fn lacking(&mut self, lack: &Lack, beside: bool) {
        let field = lack.fields.first().copied().unwrap_or_default();
        let lacks = listed(&lack.fields);
        if beside {
            return self.issue_of_field(
                IssueKind::ImpureManagedFile,
                lack.line,
                field,
                format!("a document of the file is no Kubernetes object: it lacks {lacks}"),
                "move it to a file outside of the folder",
            );
        }
        let remedy = format!("add what is missing, or {}", self.ignore_it());
        self.issue_of_field(
            IssueKind::NonKrmYaml,
            lack.line,
            field,
            format!("the file is YAML and no Kubernetes object: it lacks {lacks}"),
            remedy,
        );
    }

    fn issue_of_field(
        &mut self,
        kind: IssueKind,
        line: u32,
        field: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let line = Some(line);
        let issue = folder_issue(kind, self.path, line, Actor::Author, message, remedy);
        self.found.issues.push(with_field(issue, field));
    }
}

/// Joins words as a sentence does.
fn listed(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn read_documents(text: &str) -> Result<Vec<Reading>, yaml::SyntaxError> {
    yaml::read_with(text, &NOTED)
}

fn text_of(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
