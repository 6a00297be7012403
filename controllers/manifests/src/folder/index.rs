//! The whole folder as it was found, kept up to date at the cost of what changed.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{
    Actor, Content, FileChange, FileEntry, FileTree, Files, FolderPath, IssueKind, ReadError,
    Refusal, RepoPath, ResourceId,
};

use super::builds::{Build, Builds, Made};
use super::document::{Claim, Document, Join, Joining};
use super::issue::{folder_issue, invalid_rules, sort, with_field};
use super::prepared::{Prepared, read_file};
use super::role::{Part, cannot_be_hidden, is_kustomization};
use super::scan::ScannedFile;
use super::texts::Texts;
use crate::ignore::IgnoreRules;
use crate::kustomize::{Cache, Graph, Layout, Render, Rendered, layout};
use crate::plan::FolderFacts;

/// The file with the ignore rules.
const RULES: &str = ".gittargetignore";
/// The most bytes of YAML that one folder may hold.
const LARGEST_FOLDER: usize = 256 << 20;

/// A folder of manifests: the role of every file and the identity of every document, and nothing of what they
/// say. [`Folder::update`] brings it to another commit by reading only the files that differ.
#[derive(Debug, Clone)]
pub struct Folder {
    path: FolderPath,
    joining: Joining,
    rules: IgnoreRules,
    rule_issues: Vec<Refusal>,
    files: Files,
    scanned: BTreeMap<RepoPath, ScannedFile>,
    claims: HashMap<Claim, Claimants>,
    disputed: BTreeSet<Claim>,
    texts: Texts,
    faulty: BTreeSet<RepoPath>,
    /// The kustomizations that are not hidden.
    kustomizations: BTreeSet<RepoPath>,
    builds: Builds,
    /// The values files that documents name, each with how many name it.
    values_files: BTreeMap<RepoPath, usize>,
    facts: FolderFacts,
    bytes: usize,
}

/// The pattern that hides a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shadow {
    /// The pattern as it is written.
    pub(crate) pattern: String,
    /// Its line, counted from 1.
    pub(crate) line: u32,
    /// The file that it stands in.
    pub(crate) rules: String,
}

/// Where a document stands: its file, and its position there.
type Place = (RepoPath, usize);

/// The documents that claim one identity.
#[derive(Debug, Clone)]
enum Claimants {
    /// One, as it should be.
    One(Place),
    /// Several, by path and position.
    Several(BTreeSet<Place>),
}

impl Claimants {
    fn first(&self) -> Option<&Place> {
        match self {
            Self::One(place) => Some(place),
            Self::Several(places) => places.first(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Place> {
        let (one, several) = match self {
            Self::One(place) => (Some(place), None),
            Self::Several(places) => (None, Some(places)),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }
}

/// A folder that may be written. [`Folder::accept`] is the only way to get one.
#[derive(Debug, Clone, Copy)]
pub struct AcceptedFolder<'a>(&'a Folder);

impl Folder {
    /// Starts with a folder that holds nothing.
    pub fn new(path: FolderPath) -> Self {
        Self {
            path,
            joining: Joining::default(),
            rules: IgnoreRules::default(),
            rule_issues: Vec::new(),
            files: Files::default(),
            scanned: BTreeMap::new(),
            claims: HashMap::new(),
            disputed: BTreeSet::new(),
            texts: Texts::default(),
            faulty: BTreeSet::new(),
            kustomizations: BTreeSet::new(),
            builds: Builds::default(),
            values_files: BTreeMap::new(),
            facts: FolderFacts::default(),
            bytes: 0,
        }
    }

    /// Reads a folder from nothing.
    ///
    /// # Errors
    /// Returns the content that could not be read.
    pub fn read(
        tree: FileTree<'_>,
        path: FolderPath,
        joining: &Joining,
    ) -> Result<Self, ReadError> {
        Self::read_prepared(tree, path, joining, Prepared::default())
    }

    /// Reads a folder from nothing, of which some files are scanned already.
    ///
    /// # Errors
    /// Returns the content that could not be read.
    pub fn read_prepared(
        tree: FileTree<'_>,
        path: FolderPath,
        joining: &Joining,
        prepared: Prepared,
    ) -> Result<Self, ReadError> {
        let mut folder = Self::new(path);
        folder.update_prepared(tree, joining, prepared)?;
        Ok(folder)
    }

    /// Returns what its documents are joined with objects by.
    pub(crate) fn joining(&self) -> &Joining {
        &self.joining
    }

    /// Returns where the folder is.
    pub fn path(&self) -> &FolderPath {
        &self.path
    }

    /// Brings the folder to what the tree holds. Files that are as before are not read again.
    ///
    /// # Errors
    /// Returns the content that could not be read; the folder is then as good as new, and the next update reads
    /// everything.
    pub fn update(&mut self, tree: FileTree<'_>, joining: &Joining) -> Result<(), ReadError> {
        self.update_prepared(tree, joining, Prepared::default())
    }

    fn update_prepared(
        &mut self,
        tree: FileTree<'_>,
        joining: &Joining,
        mut prepared: Prepared,
    ) -> Result<(), ReadError> {
        if self.scanned.is_empty() && self.joining != *joining {
            // Before anything is read, so that what is read needs not be joined a second time.
            self.joining = joining.clone();
        }
        let changes = tree.files.changes_since_below(&self.files, &self.path);
        let result = if changes.iter().any(|change| self.holds_rules(&change.path)) {
            self.clear();
            self.read_rules(tree).and_then(|()| {
                let nothing = Files::default();
                let all = tree.files.changes_since_below(&nothing, &self.path);
                self.take(tree, all, &mut prepared)
            })
        } else {
            self.take(tree, changes, &mut prepared)
        };
        if let Err(error) = result {
            self.clear();
            return Err(error);
        }
        self.texts.sweep();
        self.files = tree.files.clone();
        if self.joining != *joining {
            self.joining = joining.clone();
            self.join_all();
        }
        if let Err(error) = self.build(tree) {
            self.clear();
            return Err(error);
        }
        Ok(())
    }

    /// Brings the builds to what the tree holds, and gives each file the part in them that it has now.
    fn build(&mut self, tree: FileTree<'_>) -> Result<(), ReadError> {
        let starts: BTreeSet<FolderPath> =
            self.kustomizations.iter().map(RepoPath::parent).collect();
        let mut builds = std::mem::take(&mut self.builds);
        let before: BTreeSet<RepoPath> = builds.parts().keys().cloned().collect();
        let changed = builds.update(tree, &self.path, &starts, &self.joining)?;
        if changed {
            let concerned: BTreeSet<&RepoPath> =
                before.iter().chain(builds.parts().keys()).collect();
            let joins = builds.joins();
            for path in concerned {
                if let Some(mut file) = self.scanned.remove(path) {
                    self.detach(&mut file);
                    file.part = builds.part(path);
                    if file.part == Part::Built {
                        for document in &mut file.documents {
                            let join = joins.get(&(&document.path, document.index)).copied();
                            document.join = join.cloned().unwrap_or(Join::NoObject);
                        }
                    }
                    self.attach(&mut file);
                    self.scanned.insert(path.clone(), file);
                }
            }
        }
        self.builds = builds;
        Ok(())
    }

    /// Says whether the file has the ignore rules, which give every other file its role.
    fn holds_rules(&self, path: &RepoPath) -> bool {
        self.path.strip(path) == Some(RULES)
    }

    fn read_rules(&mut self, tree: FileTree<'_>) -> Result<(), ReadError> {
        let Ok(path) = self.path.join(RULES) else {
            return Ok(());
        };
        let Some(FileEntry::Regular { content, .. }) = tree.files.get(&path) else {
            return Ok(());
        };
        let Content::Bytes(bytes) = tree.contents.read(content)? else {
            return Ok(());
        };
        match IgnoreRules::parse(&String::from_utf8_lossy(&bytes)) {
            Ok(rules) => self.rules = rules,
            Err(problems) => {
                let issues = problems.into_iter().map(|one| invalid_rules(&path, one));
                self.rule_issues = issues.collect();
            }
        }
        Ok(())
    }

    /// Says whether the rules hide a file. What stands in a hidden folder is never seen; outside of one, some
    /// names cannot be hidden (SC-4).
    fn is_hidden(&self, below: &str) -> bool {
        let name = below.rsplit('/').next().unwrap_or(below);
        if cannot_be_hidden(name) {
            let folder = below.rsplit_once('/').map(|(folder, _)| folder);
            return folder.is_some_and(|folder| self.rules.is_ignored(folder, true));
        }
        self.rules.is_ignored(below, false)
    }

    fn clear(&mut self) {
        *self = Self {
            joining: std::mem::take(&mut self.joining),
            ..Self::new(self.path.clone())
        };
    }

    fn take(
        &mut self,
        tree: FileTree<'_>,
        changes: Vec<FileChange>,
        prepared: &mut Prepared,
    ) -> Result<(), ReadError> {
        for FileChange { path, entry } in changes {
            let Some(below) = self.path.strip(&path).map(str::to_owned) else {
                continue;
            };
            self.remove(&path);
            if let Some(entry) = entry.filter(|_| !self.is_hidden(&below)) {
                let file = match prepared.take(&path) {
                    Some(file) => file,
                    None => read_file(&self.path, &path, &below, &entry, tree.contents)?,
                };
                self.insert(path, file);
            }
        }
        Ok(())
    }

    fn insert(&mut self, path: RepoPath, mut file: ScannedFile) {
        self.bytes += file.bytes;
        if !file.issues.is_empty() {
            self.faulty.insert(path.clone());
        }
        if is_kustomization(path.file_name()) {
            self.kustomizations.insert(path.clone());
        }
        for named in &file.values_files {
            *self.values_files.entry(named.clone()).or_default() += 1;
        }
        for document in &mut file.documents {
            document.share(&mut self.texts);
        }
        file.part = self.builds.part(&path);
        self.attach(&mut file);
        // A list that grew by one has room for four, and most files hold one document.
        file.documents.shrink_to_fit();
        self.scanned.insert(path, file);
    }

    fn remove(&mut self, path: &RepoPath) {
        let Some(mut file) = self.scanned.remove(path) else {
            return;
        };
        self.bytes -= file.bytes;
        self.faulty.remove(path);
        self.kustomizations.remove(path);
        for named in &file.values_files {
            let left = self.values_files.get(named).map_or(0, |count| count - 1);
            if left == 0 {
                self.values_files.remove(named);
            } else {
                self.values_files.insert(named.clone(), left);
            }
        }
        self.detach(&mut file);
    }

    /// Counts the documents of a file in, as the part asks for that it has.
    fn attach(&mut self, file: &mut ScannedFile) {
        if file.part == Part::Input {
            return;
        }
        self.facts.files += usize::from(!file.documents.is_empty());
        for document in &mut file.documents {
            if file.part == Part::Alone {
                let claim = self.joining.join(document);
                self.claim(claim, document);
            }
            self.facts.add(document);
        }
    }

    /// Takes back what [`attach`](Self::attach) did.
    fn detach(&mut self, file: &mut ScannedFile) {
        if file.part == Part::Input {
            return;
        }
        self.facts.files -= usize::from(!file.documents.is_empty());
        for document in &mut file.documents {
            self.facts.subtract(document);
            if file.part == Part::Alone {
                let claim = self.joining.join(document);
                self.give_up(claim, document);
            }
        }
    }

    /// Notes what a document claims. The first one by path and position has the identity (IX-3).
    fn claim(&mut self, claim: Claim, document: &Document) {
        let place = (document.path.clone(), document.index);
        match self.claims.entry(claim) {
            Entry::Vacant(vacant) => {
                vacant.insert(Claimants::One(place));
            }
            Entry::Occupied(mut occupied) => {
                self.disputed.insert(occupied.key().clone());
                let mut places = match occupied.get_mut() {
                    Claimants::One(other) => BTreeSet::from([other.clone()]),
                    Claimants::Several(places) => std::mem::take(places),
                };
                places.insert(place);
                occupied.insert(Claimants::Several(places));
            }
        }
    }

    fn give_up(&mut self, claim: Claim, document: &Document) {
        let Entry::Occupied(mut occupied) = self.claims.entry(claim) else {
            return;
        };
        let Claimants::Several(places) = occupied.get_mut() else {
            occupied.remove();
            return;
        };
        places.remove(&(document.path.clone(), document.index));
        let left = (places.len() < 2).then(|| places.pop_first()).flatten();
        if let Some(place) = left {
            self.disputed.remove(occupied.key());
            occupied.insert(Claimants::One(place));
        }
    }

    /// Joins every document anew, without reading a file.
    fn join_all(&mut self) {
        self.claims.clear();
        self.disputed.clear();
        self.facts = FolderFacts::default();
        self.builds.join_all(&self.joining);
        let mut scanned = std::mem::take(&mut self.scanned);
        let joins = self.builds.joins();
        for file in scanned.values_mut().filter(|file| file.part == Part::Built) {
            for document in &mut file.documents {
                let join = joins.get(&(&document.path, document.index)).copied();
                document.join = join.cloned().unwrap_or(Join::NoObject);
            }
        }
        drop(joins);
        for file in scanned.values_mut() {
            self.attach(file);
        }
        self.scanned = scanned;
    }

    /// Returns every document, by path and position.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        let files = self.scanned.values();
        let files = files.filter(|file| file.part != Part::Input);
        files.flat_map(|file| &file.documents)
    }

    /// Returns what the folder holds.
    pub fn facts(&self) -> &FolderFacts {
        &self.facts
    }

    /// Says whether a file holds a sensitive object in plain text.
    pub(crate) fn holds_plain_secret(&self, path: &RepoPath) -> bool {
        let file = self.scanned.get(path);
        file.is_some_and(|file| {
            let mut documents = file.documents.iter();
            documents.any(|document| !document.encrypted && self.joining.is_sensitive(document))
        })
    }

    /// Judges the folder.
    ///
    /// # Errors
    /// Returns every issue at once, sorted by path, line and kind.
    pub fn accept(&self) -> Result<AcceptedFolder<'_>, Vec<Refusal>> {
        let mut issues = self.way_issues();
        issues.extend_from_slice(&self.rule_issues);
        for path in &self.faulty {
            let file = &self.scanned[path];
            // A values file is read by Helm and no document of the mirror (SC-13), and neither is what a patch or a
            // generator reads (SC-11, SC-12).
            let is_values = file.may_be_values && self.values_files.contains_key(path);
            // What a kustomization lists it needs, so what kustomize says of it counts: nobody can hide such a file.
            let is_told = file.part == Part::Built && self.builds.blames(path);
            if !is_values && file.part != Part::Input && !is_told {
                issues.extend_from_slice(&file.issues);
            }
        }
        self.unbuildable(&mut issues);
        self.duplicates(&mut issues);
        self.clashes(&mut issues);
        issues.extend(self.too_large());
        if issues.is_empty() {
            return Ok(AcceptedFolder(self));
        }
        sort(&mut issues);
        Err(issues)
    }

    /// Reports why builds do not work, but for places that are reported already.
    fn unbuildable(&self, issues: &mut Vec<Refusal>) {
        let place = |issue: &Refusal| issue.at.as_ref().map(|at| (at.path.clone(), at.line));
        let told: BTreeSet<_> = issues.iter().map(place).collect();
        let of_builds = self.builds.issues().iter();
        issues.extend(of_builds.filter(|it| !told.contains(&place(it))).cloned());
    }

    /// Refuses a folder whose own path, or a part of it, is a file, a link or a submodule.
    fn way_issues(&self) -> Vec<Refusal> {
        let mut issues = Vec::new();
        let mut way = self.path.as_repo_path().cloned();
        while let Some(path) = way {
            let kind = self.files.get(&path).map(|entry| match entry {
                FileEntry::Symlink => IssueKind::ForeignSymlink,
                FileEntry::Submodule => IssueKind::ForeignSubmodule,
                FileEntry::Regular { .. } => IssueKind::ForeignFile,
            });
            if let Some(kind) = kind {
                issues.push(folder_issue(
                    kind,
                    &path,
                    None,
                    Actor::Author,
                    "the path of the folder leads through something that is no folder",
                    "point spec.path at a real folder",
                ));
            }
            way = path.parent().as_repo_path().cloned();
        }
        issues
    }

    /// Reports each document whose identity an earlier one claims (IX-3).
    fn duplicates(&self, issues: &mut Vec<Refusal>) {
        for claim in &self.disputed {
            let mut documents = self.claims[claim].all().map(|place| self.at(place));
            let Some(first) = documents.next() else {
                continue;
            };
            for document in documents {
                let issue = folder_issue(
                    IssueKind::DuplicateIdentity,
                    &document.path,
                    Some(document.name_line),
                    Actor::Author,
                    format!(
                        "{} stands twice: first in {} line {}",
                        document.title(),
                        first.path,
                        first.name_line
                    ),
                    "keep one of the two documents",
                );
                issues.push(with_field(issue, "metadata.name"));
            }
        }
    }

    /// Reports each object of a build that a document beside the builds is too, or that builds make of several
    /// documents (IX-3, IX-7).
    fn clashes(&self, issues: &mut Vec<Refusal>) {
        for (id, made) in self.builds.objects() {
            let alone = self.claims.get(&Claim::Object(id.clone()));
            let alone = alone.and_then(Claimants::first);
            let places: BTreeSet<Place> = made.iter().filter_map(|made| self.place(made)).collect();
            let mut places: Vec<&Place> = places.iter().chain(alone).collect();
            places.sort();
            let [first, others @ ..] = &places[..] else {
                continue;
            };
            for place in others {
                let line = |place: &Place| self.document(place).map(|document| document.name_line);
                let of_first = line(first).map_or_else(String::new, |line| format!(" line {line}"));
                let issue = folder_issue(
                    IssueKind::DuplicateIdentity,
                    &place.0,
                    line(place),
                    Actor::Author,
                    format!("{id} stands twice: first in {}{of_first}", first.0),
                    "keep one of the two documents",
                );
                issues.push(with_field(issue, "metadata.name"));
            }
        }
    }

    /// Returns the document that a build makes an object of, in the folder or outside of it.
    fn place(&self, made: &Made) -> Option<Place> {
        let build = self.builds.all().get(&made.root)?;
        let object = build.render.objects.get(made.at)?;
        let (path, index) = build.render.document(object)?;
        Some((path.clone(), index))
    }

    /// Returns the document at a place, where it is one of the folder.
    fn document(&self, place: &Place) -> Option<&Document> {
        let documents = &self.scanned.get(&place.0)?.documents;
        let at = documents.binary_search_by_key(&place.1, |document| document.index);
        documents.get(at.ok()?)
    }

    /// Returns which kustomization governs its new documents.
    pub fn layout(&self) -> Layout {
        layout(self.builds.graph(), &self.path)
    }

    /// Returns what its kustomizations build to, by their folders.
    pub fn renders(&self) -> impl Iterator<Item = (&FolderPath, &Render)> {
        let builds = self.builds.all().iter();
        builds.map(|(root, build)| (root, &*build.render))
    }

    /// Lends out what was read of kustomize files, for builds of what is planned.
    pub(crate) fn take_cache(&mut self) -> Cache {
        self.builds.take_cache()
    }

    /// Takes back what was lent out.
    pub(crate) fn give_cache(&mut self, cache: Cache) {
        self.builds.give_cache(cache);
    }

    fn too_large(&self) -> Option<Refusal> {
        if self.bytes <= LARGEST_FOLDER {
            return None;
        }
        let (path, _) = self.scanned.iter().max_by_key(|(_, file)| file.bytes)?;
        Some(folder_issue(
            IssueKind::ForeignFile,
            path,
            None,
            Actor::Author,
            "the folder holds more YAML than is read; this file is the largest",
            "split the folder into several",
        ))
    }

    /// Returns the document at a place. Positions count what is in the file, so a file with a gap holds fewer
    /// documents than its last position says (MD-2).
    fn at(&self, place: &Place) -> &Document {
        self.document(place)
            .expect("because a place is noted with its document and forgotten with it")
    }
}

impl<'a> AcceptedFolder<'a> {
    /// Says whether a file holds a sensitive object in plain text.
    pub(crate) fn holds_plain_secret(&self, path: &RepoPath) -> bool {
        self.0.holds_plain_secret(path)
    }

    /// Returns the document of an object, where it has one in the folder.
    pub fn find(&self, id: &ResourceId) -> Option<&'a Document> {
        if let Some(claimants) = self.0.claims.get(&Claim::Object(id.clone())) {
            return claimants.first().map(|place| self.0.at(place));
        }
        let made = self.0.builds.made(id);
        made.iter()
            .find_map(|made| self.0.document(&self.0.place(made)?))
    }

    /// Returns where builds make an object.
    pub(crate) fn made(&self, id: &ResourceId) -> &'a [Made] {
        self.0.builds.made(id)
    }

    /// Returns the builds by the folder of their kustomization.
    pub(crate) fn builds(&self) -> &'a BTreeMap<FolderPath, Build> {
        self.0.builds.all()
    }

    /// Returns which kustomization reads what.
    pub(crate) fn graph(&self) -> &'a Graph {
        self.0.builds.graph()
    }

    /// Returns an object of a build, with the build.
    pub(crate) fn object(&self, made: &Made) -> Option<(&'a Render, &'a Rendered)> {
        let render = &*self.0.builds.all().get(&made.root)?.render;
        Some((render, render.objects.get(made.at)?))
    }

    /// Returns which object something that a build makes is, where that is known.
    pub(crate) fn identify(&self, object: &Rendered) -> Option<ResourceId> {
        match super::builds::join(object, &self.0.joining) {
            Join::Object(id) => Some(id),
            Join::UnknownKind | Join::NoNamespace | Join::NoObject => None,
        }
    }

    /// Returns the files that hold documents.
    pub(crate) fn managed(&self) -> impl Iterator<Item = &RepoPath> {
        let files = self.0.scanned.iter();
        let files =
            files.filter(|(_, file)| file.part != Part::Input && !file.documents.is_empty());
        files.map(|(path, _)| path)
    }

    /// Returns the documents of a file, or `None` where the file is no YAML of the folder.
    pub fn documents_of(&self, path: &RepoPath) -> Option<&'a [Document]> {
        let file = self.0.scanned.get(path)?;
        let is_managed = file.managed && file.part != Part::Input;
        is_managed.then_some(&file.documents)
    }

    /// Returns the objects that the folder has, in no particular order.
    pub fn objects(&self) -> impl Iterator<Item = &ResourceId> {
        let alone = self.0.claims.keys().filter_map(|claim| match claim {
            Claim::Object(id) => Some(id),
            Claim::Written { .. } => None,
        });
        alone.chain(self.0.builds.objects().map(|(id, _)| id))
    }

    /// Returns the entries that the folder was read from.
    pub fn files(&self) -> &Files {
        &self.0.files
    }

    /// Returns what hides a path of this folder.
    pub(crate) fn shadow(&self, path: &RepoPath) -> Option<Shadow> {
        let below = self.0.path.strip(path)?;
        let hidden = self.0.rules.hidden_by(below, false)?;
        Some(Shadow {
            pattern: hidden.pattern.to_owned(),
            line: hidden.line,
            rules: self
                .0
                .path
                .join(RULES)
                .map_or_else(|_| RULES.to_owned(), |path| path.to_string()),
        })
    }

    /// Says whether the folder holds no file at all, or does not exist.
    pub fn is_empty(&self) -> bool {
        self.0.scanned.is_empty()
    }

    /// Returns what the folder holds.
    pub fn facts(&self) -> &FolderFacts {
        &self.0.facts
    }
}
