//! A folder that may be written, as a plan asks it.

use std::collections::BTreeMap;

use model::{Files, FolderPath, RepoPath, ResourceId};

use super::builds::{Build, Made, join};
use super::document::{Claim, Document, Join};
use super::index::{AcceptedFolder, RULES, Shadow};
use super::role::Part;
use crate::kustomize::{Graph, Render, Rendered, file_in};
use crate::plan::FolderFacts;

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

    /// Returns the kustomization of a folder.
    pub(crate) fn kustomization_of(&self, root: &FolderPath) -> RepoPath {
        let reader = self.graph().get(root);
        reader.map_or_else(|| file_in(root), |reader| reader.path.clone())
    }

    /// Returns an object of a build, with the build.
    pub(crate) fn object(&self, made: &Made) -> Option<(&'a Render, &'a Rendered)> {
        let render = &*self.0.builds.all().get(&made.root)?.render;
        Some((render, render.objects.get(made.at)?))
    }

    /// Returns which object something that a build makes is, where that is known.
    pub(crate) fn identify(&self, object: &Rendered) -> Option<ResourceId> {
        match join(object, &self.0.joining) {
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
