//! Commits that keep their files on another ground.
//!
//! A lost race moves the ground below every pending write. A write that edits documents of a folder that stands alone
//! follows from the files that it edits and from nothing else, so where somebody else's commit left those files as
//! they were, its commit is made again from what the earlier one holds. Everything else is planned anew.

use std::collections::{BTreeMap, BTreeSet};

use manifests::plan::Defaults;
use manifests::{Decision, FileContent, Outcome, Policy};
use model::{
    Content, ContentId, Contents as _, FileEntry, FileTree, Files, FolderPath, RepoPath, ResourceId,
};
use repository::{Attempt, TreeEdit};

use super::order::Cycle;
use super::projection::CommitError;
use super::workshop::{Projection, Workshop};
use super::{Fault, Replay};
use crate::message::TargetConfig;
use crate::state::{PendingWrite, WriteId};

/// What the commit of one write did, where nothing but the files that it edits had a say in it.
pub(super) struct Kept {
    files: Vec<EditedFile>,
    /// The objects, each with the file of its document.
    documents: Vec<(ResourceId, RepoPath)>,
    defaults: Defaults,
}

struct EditedFile {
    path: RepoPath,
    before: ContentId,
    after: ContentId,
}

/// An earlier projection, while another takes its place.
pub(super) struct Earlier {
    attempt: Attempt,
    kept: BTreeMap<WriteId, Kept>,
    /// What the commits made so far are on, as far as it is known.
    ground: Option<Known>,
}

/// What the commits that were kept since are on.
struct Known {
    files: Files,
    /// What they made of it.
    edited: BTreeMap<RepoPath, ContentId>,
    /// Whether a folder stands alone in it.
    alone: BTreeMap<FolderPath, bool>,
}

impl Kept {
    /// Says whether the commit did all that the write asks for: a part may have been refused on the earlier ground.
    fn is_all_of(&self, write: &PendingWrite) -> bool {
        let done: BTreeSet<&ResourceId> = self.documents.iter().map(|(id, _)| id).collect();
        let wanted: BTreeSet<&ResourceId> =
            write.actions.upserts.iter().map(|one| one.id()).collect();
        write.actions.removals.is_empty() && done == wanted
    }
}

impl From<Projection> for Earlier {
    fn from(projection: Projection) -> Self {
        Self {
            attempt: projection.attempt,
            kept: projection.kept,
            ground: None,
        }
    }
}

impl Earlier {
    /// Forgets what the commits are on, because one of them was planned anew.
    pub(super) fn forget_ground(&mut self) {
        self.ground = None;
    }
}

impl Known {
    fn holds(&self, file: &EditedFile) -> bool {
        let edited = self.edited.get(&file.path).copied();
        edited.or_else(|| content_at(&self.files, &file.path)) == Some(file.before)
    }
}

impl Cycle<'_> {
    /// Notes what the last commit did, if it can be done elsewhere without planning it.
    pub(super) fn note_kept(
        &mut self,
        write: WriteId,
        target: &TargetConfig,
        before: &Files,
        planned: Planned,
    ) {
        let Some(projection) = &mut self.shop.projection else {
            return;
        };
        // What cannot be read here is planned anew, and then says why.
        let Ok(after) = projection.attempt.snapshot(&target.folder) else {
            return;
        };
        let edited = |path: RepoPath| {
            Some(EditedFile {
                before: content_at(before, &path)?,
                after: content_at(&after.files, &path)?,
                path,
            })
        };
        let files: Option<Vec<_>> = planned.paths.into_iter().map(edited).collect();
        if let Some(files) = files {
            let kept = Kept {
                files,
                documents: planned.documents,
                defaults: planned.defaults,
            };
            projection.kept.insert(write, kept);
        }
    }

    /// Makes the commit of a write again with the files that it has in the earlier projection. `None` where that may
    /// not be what a plan would come to.
    pub(super) fn keep(
        &mut self,
        write: &PendingWrite,
        earlier: &mut Earlier,
    ) -> Result<Option<PendingWrite>, Fault> {
        let Some(kept) = earlier
            .kept
            .remove(&write.id)
            .filter(|kept| kept.is_all_of(write))
        else {
            return Ok(None);
        };
        let policy = self
            .shop
            .policy(&write.target, write.target.prune, &write.types);
        if !kept.defaults.is(&policy.defaults) {
            return Ok(None);
        }
        let known = match earlier.ground.take() {
            Some(known) => known,
            None => match self.attempt()?.snapshot(&write.target.folder) {
                Ok(snapshot) => Known {
                    files: snapshot.files,
                    edited: BTreeMap::new(),
                    alone: BTreeMap::new(),
                },
                Err(_) => return Ok(None),
            },
        };
        let known = earlier.ground.insert(known);
        if !self.stands_alone(known, &policy)?
            || !self.documents_stand(&kept, &policy.folder)
            || !kept.files.iter().all(|file| known.holds(file))
        {
            return Ok(None);
        }
        let Some(edits) = edits(&kept, &earlier.attempt) else {
            return Ok(None);
        };
        let commit = match self.commit_edits(&write.message, &write.author, write.closed_at, &edits)
        {
            Ok(Some(commit)) => commit,
            Ok(None) | Err(CommitError::Store(_)) => return Ok(None),
            Err(CommitError::Fault(fault)) => return Err(fault),
        };
        for file in &kept.files {
            known.edited.insert(file.path.clone(), file.after);
        }
        if let Some(projection) = &mut self.shop.projection {
            projection.kept.insert(write.id, kept);
        }
        let made = PendingWrite {
            commit,
            ..write.clone()
        };
        self.note_replay(Replay {
            id: write.id,
            write: Some(made.clone()),
            refusals: Vec::new(),
        });
        Ok(Some(made))
    }

    /// Says whether the folder is accepted and has nothing to do with a build.
    fn stands_alone(&mut self, known: &mut Known, policy: &Policy) -> Result<bool, Fault> {
        if let Some(alone) = known.alone.get(&policy.folder) {
            return Ok(*alone);
        }
        let Workshop {
            projection,
            folders,
            ..
        } = &mut *self.shop;
        let Some(projection) = projection else {
            return Ok(false);
        };
        let tree = FileTree {
            files: &known.files,
            contents: &projection.attempt,
        };
        let alone = folders.inspect(tree, policy)?.stands_alone;
        known.alone.insert(policy.folder.clone(), alone);
        Ok(alone)
    }

    /// Says whether the documents of the objects are where they were.
    fn documents_stand(&mut self, kept: &Kept, folder: &FolderPath) -> bool {
        let Ok(folder) = self.shop.folders.known(folder).accept() else {
            return false;
        };
        let stands = |(id, path): &(ResourceId, RepoPath)| {
            folder
                .find(id)
                .is_some_and(|document| document.path == *path)
        };
        kept.documents.iter().all(stands)
    }
}

/// What a plan came to, before its commit is made.
pub(super) struct Planned {
    paths: Vec<RepoPath>,
    documents: Vec<(ResourceId, RepoPath)>,
    defaults: Defaults,
}

impl Planned {
    /// Returns what was planned, if it consists of edits of documents that nothing else has a say in.
    pub(super) fn alone(outcome: &Outcome, policy: &Policy) -> Option<Self> {
        let decided = &outcome.decided;
        if !outcome.stands_alone || !decided.removals.is_empty() {
            return None;
        }
        let wanted: BTreeSet<&ResourceId> = decided.upserts.iter().map(|one| one.id()).collect();
        let mut documents = Vec::with_capacity(wanted.len());
        for one in &outcome.decisions {
            match &one.decision {
                Decision::Edited { path } => documents.push((one.id.clone(), path.clone())),
                _ if wanted.contains(&one.id) => return None,
                _ => {}
            }
        }
        let edited: BTreeSet<&RepoPath> = documents.iter().map(|(_, path)| path).collect();
        let is_alone = |edit: &manifests::FileEdit| {
            edited.contains(&edit.path) && matches!(edit.content, FileContent::Plain(_))
        };
        if !outcome.edits.iter().all(is_alone) {
            return None;
        }
        Some(Self {
            paths: outcome.edits.iter().map(|edit| edit.path.clone()).collect(),
            documents,
            defaults: policy.defaults.clone(),
        })
    }
}

/// Returns the files of a commit as edits; `None` where one cannot be read.
fn edits(kept: &Kept, attempt: &Attempt) -> Option<Vec<TreeEdit>> {
    let edit = |file: &EditedFile| match attempt.read(&file.after) {
        Ok(Content::Bytes(bytes)) => Some(TreeEdit {
            path: file.path.clone(),
            content: Some(bytes.to_vec()),
        }),
        Ok(Content::TooLarge { .. }) | Err(_) => None,
    };
    kept.files.iter().map(edit).collect()
}

fn content_at(files: &Files, path: &RepoPath) -> Option<ContentId> {
    match files.get(path)? {
        FileEntry::Regular { content, .. } => Some(*content),
        FileEntry::Symlink | FileEntry::Submodule => None,
    }
}
