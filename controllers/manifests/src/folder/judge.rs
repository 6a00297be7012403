//! What forbids to write a folder, as far as the whole of it shows.

use std::collections::BTreeSet;

use model::{Actor, FileEntry, IssueKind, Refusal};

use super::document::Claim;
use super::index::{AcceptedFolder, Claimants, Folder, LARGEST_FOLDER, Place};
use super::issue::{folder_issue, sort, with_field};
use super::role::Part;

impl Folder {
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
}
