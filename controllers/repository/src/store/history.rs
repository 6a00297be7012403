//! Walks from a commit to its ancestors, within a bound.

use std::collections::{BTreeSet, VecDeque};
use std::io::ErrorKind;
use std::path::Path;

use gix::ObjectId;
use model::CommitId;

use super::commit_id;
use super::objects::{Objects, object_id};
use crate::error::StoreError;

/// The commits between two points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The commits, nearest to the tip first; the base is not among them.
    pub commits: Vec<CommitId>,
    /// Whether these are all, or the bound was reached.
    pub complete: bool,
}

impl History {
    /// Says whether a commit is among them.
    pub fn contains(&self, id: &CommitId) -> bool {
        self.commits.contains(id)
    }
}

pub(super) fn between(
    objects: &Objects,
    shallow_file: &Path,
    tip: &CommitId,
    base: &CommitId,
    limit: usize,
) -> Result<History, StoreError> {
    let mut walk = Walk::from(objects, shallow_file, tip, Some(object_id(base)?))?;
    let mut commits = Vec::new();
    while let Some(id) = walk.next()? {
        if commits.len() == limit {
            return Ok(History {
                commits,
                complete: false,
            });
        }
        commits.push(commit_id(&id));
    }
    Ok(History {
        commits,
        complete: true,
    })
}

pub(super) fn is_descendant(
    objects: &Objects,
    shallow_file: &Path,
    tip: &CommitId,
    ancestor: &CommitId,
    limit: usize,
) -> Result<bool, StoreError> {
    let ancestor = object_id(ancestor)?;
    let mut walk = Walk::from(objects, shallow_file, tip, None)?;
    for _ in 0..limit {
        match walk.next()? {
            Some(id) if id == ancestor => return Ok(true),
            Some(_) => {}
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Reads the commits whose parents were left out of a fetch, one id a line; no file means none.
fn read_boundary(shallow_file: &Path) -> Option<BTreeSet<ObjectId>> {
    match std::fs::read(shallow_file) {
        Ok(text) => text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| ObjectId::from_hex(line).ok())
            .collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(BTreeSet::new()),
        Err(_) => None,
    }
}

struct Walk<'a> {
    objects: &'a Objects,
    boundary: BTreeSet<ObjectId>,
    queue: VecDeque<ObjectId>,
    seen: BTreeSet<ObjectId>,
}

impl<'a> Walk<'a> {
    /// Starts at `tip`; `stop` and what is only reachable through it is left out.
    fn from(
        objects: &'a Objects,
        shallow_file: &Path,
        tip: &CommitId,
        stop: Option<ObjectId>,
    ) -> Result<Self, StoreError> {
        objects.commit(tip)?;
        let boundary = read_boundary(shallow_file)
            .ok_or_else(|| objects.damage("the shallow file cannot be read"))?;
        let start = object_id(tip)?;
        let mut walk = Self {
            objects,
            boundary,
            queue: VecDeque::new(),
            seen: stop.into_iter().collect(),
        };
        walk.visit(start);
        Ok(walk)
    }

    fn visit(&mut self, id: ObjectId) {
        if self.seen.insert(id) {
            self.queue.push_back(id);
        }
    }

    fn next(&mut self) -> Result<Option<ObjectId>, StoreError> {
        let Some(id) = self.queue.pop_front() else {
            return Ok(None);
        };
        if !self.boundary.contains(&id) {
            let links = self.objects.read_commit(&id)?;
            let links =
                links.ok_or_else(|| self.objects.damage(format!("commit {id} is missing")))?;
            for parent in links.parents {
                self.visit(parent);
            }
        }
        Ok(Some(id))
    }
}
