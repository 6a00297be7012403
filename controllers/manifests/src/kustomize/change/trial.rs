//! The build with its inputs changed, compared with what is wanted (RV-2, RV-3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::files::{Content, ReadError};
use model::{FileEntry, FileTree, FolderPath, Location, Refusal, RepoPath};
use serde_json::Value;

use super::delta::{deltas, spelled};
use super::refuse;
use super::target::Edit;
use super::text::{edited, place};
use crate::kustomize::cache::Cache;
use crate::kustomize::issue::BuildError;
use crate::kustomize::overlay::Overlay;
use crate::kustomize::{Render, Rendered, build_with};
use crate::yaml::same;

/// What an object shall be.
pub(super) struct Expected {
    /// Its position in the build.
    pub(super) at: usize,
    /// All of it.
    pub(super) wanted: Value,
}

/// Tries edits until those that remain do what they shall and nothing else.
pub(super) struct Trial<'t> {
    pub(super) tree: FileTree<'t>,
    pub(super) root: &'t FolderPath,
    pub(super) render: &'t Render,
    pub(super) expected: &'t BTreeMap<usize, Expected>,
    pub(super) routes: &'t BTreeMap<usize, Vec<Edit>>,
    pub(super) cache: &'t mut Cache,
}

/// What remains.
#[derive(Default)]
pub(super) struct Settled {
    pub(super) files: BTreeMap<RepoPath, Vec<u8>>,
    pub(super) refused: BTreeMap<usize, Refusal>,
    wishes: BTreeSet<usize>,
}

/// Either new files or why they are not given out.
type Attempt = Result<BTreeMap<RepoPath, Vec<u8>>, Box<Refusal>>;

impl Trial<'_> {
    /// Finds the components that can land together: all of them at once where that works, else half of them and then
    /// the other half, down to single ones.
    pub(super) fn settle(
        &mut self,
        components: Vec<BTreeSet<usize>>,
    ) -> Result<Settled, BuildError> {
        let mut settled = Settled::default();
        let mut open = vec![&components[..]];
        while let Some(part) = open.pop() {
            let first = part.iter().flatten().next();
            let Some(first) = first.and_then(|wish| self.routes.get(wish)?.first()) else {
                continue;
            };
            let mut wishes = settled.wishes.clone();
            wishes.extend(part.iter().flatten());
            match self.attempt(&wishes, first)? {
                Ok(files) => {
                    settled.files = files;
                    settled.wishes = wishes;
                }
                Err(refusal) if part.len() == 1 => {
                    let refused = part[0].iter().map(|wish| (*wish, (*refusal).clone()));
                    settled.refused.extend(refused);
                }
                Err(_) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    open.extend([second, first]);
                }
            }
        }
        Ok(settled)
    }

    /// Tries some wishes, and blames an edit where that fails.
    fn attempt(&mut self, wishes: &BTreeSet<usize>, blamed: &Edit) -> Result<Attempt, BuildError> {
        let mut edits: BTreeMap<&RepoPath, Vec<&Edit>> = BTreeMap::new();
        for edit in wishes
            .iter()
            .filter_map(|wish| self.routes.get(wish))
            .flatten()
        {
            let edits = edits.entry(&edit.target.file).or_default();
            if !edits.iter().any(|known| known.target == edit.target) {
                edits.push(edit);
            }
        }
        let mut files = BTreeMap::new();
        for (path, edits) in edits {
            let before = self.bytes(path)?;
            match edited(path, &before, &edits) {
                Ok(after) if after == *before => {}
                Ok(after) => {
                    files.insert(path.clone(), after);
                }
                Err(failure) => {
                    let refusal = refuse::not_editable(failure.at, &failure.problem);
                    return Ok(Err(Box::new(refusal)));
                }
            }
        }
        Ok(match self.verify(&files, wishes)? {
            None => Ok(files),
            Some((problem, field)) => {
                let before = self.bytes(&blamed.target.file)?;
                let at = Location {
                    field,
                    ..place(blamed, &before)
                };
                Err(Box::new(refuse::not_verified(at, problem)))
            }
        })
    }

    /// Returns what a file holds that an edit was found for, and which was read therefore.
    fn bytes(&self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        let Some(FileEntry::Regular { content, .. }) = self.tree.files.get(path) else {
            return Ok(Arc::default());
        };
        Ok(match self.tree.contents.read(content)? {
            Content::Bytes(bytes) => bytes,
            Content::TooLarge { .. } => Arc::default(),
        })
    }

    /// Builds again; returns what is not as it shall be, and in which field.
    fn verify(
        &mut self,
        files: &BTreeMap<RepoPath, Vec<u8>>,
        wishes: &BTreeSet<usize>,
    ) -> Result<Option<(String, Option<String>)>, BuildError> {
        let files = files
            .iter()
            .map(|(path, bytes)| (path.clone(), Some(bytes.clone())));
        let overlay = Overlay::new(self.tree, &files.collect());
        let after = match build_with(overlay.tree(), self.root, self.cache) {
            Ok(after) => after,
            Err(BuildError::Refused(issues)) => {
                let problem = format!("the folder would not build any more: {}", issues[0]);
                return Ok(Some((problem, None)));
            }
            Err(error) => return Err(error),
        };
        let wished: BTreeMap<usize, &Value> = wishes
            .iter()
            .filter_map(|wish| self.expected.get(wish))
            .map(|expected| (expected.at, &expected.wanted))
            .collect();
        // What is wished for names its namespace by itself, so that is compared below.
        let is_there = |(at, (old, new)): (usize, (&Rendered, &Rendered))| {
            old.id == new.id || (wished.contains_key(&at) && old.id.is_alike(&new.id))
        };
        let pairs = self.render.objects.iter().zip(&after.objects);
        let is_same_length = self.render.objects.len() == after.objects.len();
        if !is_same_length || !pairs.enumerate().all(is_there) {
            let problem = "the build would make other objects, or in another order";
            return Ok(Some((problem.to_owned(), None)));
        }
        let pairs = self.render.objects.iter().zip(&after.objects);
        for (at, (before, object)) in pairs.enumerate() {
            let wished = wished.get(&at).copied();
            let is_right = match wished {
                Some(wanted) => same(&object.node.to_value(), wanted),
                None => object.node.says_as(&before.node),
            };
            if !is_right {
                let wanted = wished.cloned();
                let wanted = wanted.unwrap_or_else(|| before.node.to_value());
                let field = deltas(&object.node, &wanted)
                    .first()
                    .map(|it| spelled(&it.way));
                return Ok(Some((moved(object, wished.is_some()), field)));
            }
        }
        Ok(None)
    }
}

fn moved(object: &Rendered, is_wished: bool) -> String {
    let title = object.title();
    match is_wished {
        true => format!("the build would not make {title} what it is"),
        false => format!("the edit would change {title} too"),
    }
}
