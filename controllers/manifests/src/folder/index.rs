//! The whole folder as it was found, kept up to date at the cost of what changed.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{
    Content, FileChange, FileEntry, FileTree, Files, FolderPath, ReadError, Refusal, RepoPath,
};

use super::builds::{Builds, Made};
use super::document::{Claim, Document, Join, Joining};
use super::issue::invalid_rules;
use super::prepared::{Prepared, read_file};
use super::role::{Part, cannot_be_hidden, is_kustomization};
use super::scan::ScannedFile;
use super::texts::Texts;
use crate::ignore::IgnoreRules;
use crate::kustomize::{Cache, Layout, Render, layout};
use crate::plan::FolderFacts;

/// The file with the ignore rules.
pub(super) const RULES: &str = ".gittargetignore";
/// The most bytes of YAML that one folder may hold.
pub(super) const LARGEST_FOLDER: usize = 256 << 20;

/// A folder of manifests: the role of every file and the identity of every document, and nothing of what they
/// say. [`Folder::update`] brings it to another commit by reading only the files that differ.
#[derive(Debug, Clone)]
pub struct Folder {
    pub(super) path: FolderPath,
    pub(super) joining: Joining,
    pub(super) rules: IgnoreRules,
    pub(super) rule_issues: Vec<Refusal>,
    pub(super) files: Files,
    pub(super) scanned: BTreeMap<RepoPath, ScannedFile>,
    pub(super) claims: HashMap<Claim, Claimants>,
    pub(super) disputed: BTreeSet<Claim>,
    texts: Texts,
    pub(super) faulty: BTreeSet<RepoPath>,
    /// The kustomizations that are not hidden.
    kustomizations: BTreeSet<RepoPath>,
    pub(super) builds: Builds,
    /// The values files that documents name, each with how many name it.
    pub(super) values_files: BTreeMap<RepoPath, usize>,
    pub(super) facts: FolderFacts,
    pub(super) bytes: usize,
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
pub(super) type Place = (RepoPath, usize);

/// The documents that claim one identity.
#[derive(Debug, Clone)]
pub(super) enum Claimants {
    /// One, as it should be.
    One(Place),
    /// Several, by path and position.
    Several(BTreeSet<Place>),
}

impl Claimants {
    pub(super) fn first(&self) -> Option<&Place> {
        match self {
            Self::One(place) => Some(place),
            Self::Several(places) => places.first(),
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Place> {
        let (one, several) = match self {
            Self::One(place) => (Some(place), None),
            Self::Several(places) => (None, Some(places)),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }
}

/// A folder that may be written. [`Folder::accept`] is the only way to get one.
#[derive(Debug, Clone, Copy)]
pub struct AcceptedFolder<'a>(pub(super) &'a Folder);

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

    /// Returns the document that a build makes an object of, in the folder or outside of it.
    pub(super) fn place(&self, made: &Made) -> Option<Place> {
        let build = self.builds.all().get(&made.root)?;
        let object = build.render.objects.get(made.at)?;
        let (path, index) = build.render.document(object)?;
        Some((path.clone(), index))
    }

    /// Returns the document at a place, where it is one of the folder.
    pub(super) fn document(&self, place: &Place) -> Option<&Document> {
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

    /// Returns the document at a place. Positions count what is in the file, so a file with a gap holds fewer
    /// documents than its last position says (MD-2).
    pub(super) fn at(&self, place: &Place) -> &Document {
        self.document(place)
            .expect("because a place is noted with its document and forgotten with it")
    }
}
