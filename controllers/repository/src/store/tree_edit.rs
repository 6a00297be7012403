//! Makes the tree that follows from edits, refusing every edit that would destroy or follow something
//! silently.
//!
//! Each tree on the way is read once, whatever the number of edits below it, and nothing is added to the
//! objects before the whole result is known.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use gix::objs::Kind;
use gix::objs::tree::{EntryKind, EntryMode, name_order};
use model::RepoPath;

use super::objects::{Base, NewObject, Objects};
use crate::error::{EditRefusal, StoreError};

/// One file to write or remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEdit {
    /// The file, from the root of the repository.
    pub path: RepoPath,
    /// The new content; `None` removes the file. A mode that is executable stays so.
    pub content: Option<Vec<u8>>,
}

/// Applies edits to a tree and returns the new one; `None` stands for the empty tree.
pub(super) fn apply(
    objects: &mut Objects,
    root: Option<ObjectId>,
    edits: &[TreeEdit],
) -> Result<Option<ObjectId>, StoreError> {
    let mut paths = BTreeSet::new();
    for edit in edits {
        if !paths.insert(&edit.path) {
            let path = edit.path.clone();
            return Err(EditRefusal::Twice { path }.into());
        }
    }
    let steps = edits
        .iter()
        .map(|edit| Step {
            rest: edit.path.as_str(),
            edit,
        })
        .collect();
    let mut rewrite = Rewrite {
        objects,
        staged: BTreeMap::new(),
    };
    let tree = rewrite.folder(root, steps)?;
    let staged = rewrite.staged;
    objects.add(staged)?;
    Ok(tree)
}

/// Adds the tree without entries, which is what is left when the last file goes.
pub(super) fn add_empty(objects: &mut Objects) -> Result<ObjectId, StoreError> {
    let id = ObjectId::empty_tree(objects.hash_kind());
    let object = NewObject {
        kind: Kind::Tree,
        bytes: [].into(),
        base: None,
    };
    objects.add(BTreeMap::from([(id, object)]))?;
    Ok(id)
}

/// An edit on its way down: what is left of its path.
struct Step<'a> {
    rest: &'a str,
    edit: &'a TreeEdit,
}

/// The edits below one name of a folder: at most one is the name itself.
#[derive(Default)]
struct Below<'a> {
    here: Option<&'a TreeEdit>,
    deeper: Vec<Step<'a>>,
}

/// One entry of a folder.
struct Entry {
    name: BString,
    mode: EntryMode,
    id: ObjectId,
}

/// What stands under names of a folder.
type Named = BTreeMap<BString, (EntryMode, ObjectId)>;

struct Rewrite<'a> {
    objects: &'a Objects,
    staged: BTreeMap<ObjectId, NewObject>,
}

impl Rewrite<'_> {
    /// Rewrites one folder; `None` stands for a folder without entries, which Git does not keep.
    fn folder(
        &mut self,
        tree: Option<ObjectId>,
        steps: Vec<Step<'_>>,
    ) -> Result<Option<ObjectId>, StoreError> {
        let base = match tree {
            Some(tree) => Some(self.objects.encoded_tree(&tree)?),
            None => None,
        };
        let names = by_name(steps);
        let found = match &base {
            Some(base) => self.named(base, &names)?,
            None => Named::new(),
        };
        let mut changed = false;
        let mut rewritten = Vec::new();
        for (name, below) in names {
            let before = found.get(&name).copied();
            let after = self.name(before, below)?;
            changed |= before != after;
            rewritten.extend(after.map(|(mode, id)| Entry { name, mode, id }));
        }
        if !changed {
            return Ok(tree);
        }
        let bytes = self.splice(base.as_ref(), &found, rewritten)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.stage(Kind::Tree, bytes, base).map(Some)
    }

    /// Rewrites what one name of a folder stands for.
    fn name(
        &mut self,
        before: Option<(EntryMode, ObjectId)>,
        below: Below<'_>,
    ) -> Result<Option<(EntryMode, ObjectId)>, StoreError> {
        let Below { here, deeper } = below;
        match here {
            None => self.deeper(before, deeper),
            // A file that goes makes room for a folder of its name, and the other way round.
            Some(edit) if edit.content.is_none() => {
                let without = self.file(before, edit)?;
                self.deeper(without, deeper)
            }
            Some(edit) => {
                let without = self.deeper(before, deeper)?;
                self.file(without, edit)
            }
        }
    }

    /// Writes or removes a file.
    fn file(
        &mut self,
        before: Option<(EntryMode, ObjectId)>,
        edit: &TreeEdit,
    ) -> Result<Option<(EntryMode, ObjectId)>, StoreError> {
        let path = || edit.path.clone();
        match before.map(|(mode, _)| mode.kind()) {
            Some(EntryKind::Tree) => return Err(EditRefusal::IsFolder { path: path() }.into()),
            Some(EntryKind::Link) => return Err(EditRefusal::Symlink { path: path() }.into()),
            Some(EntryKind::Commit) => return Err(EditRefusal::Submodule { path: path() }.into()),
            Some(EntryKind::Blob | EntryKind::BlobExecutable) | None => {}
        }
        let Some(content) = &edit.content else {
            return Ok(None);
        };
        let mode = before.map_or_else(|| EntryKind::Blob.into(), |(mode, _)| mode);
        let id = self.stage(Kind::Blob, content.clone(), None)?;
        Ok(Some((mode, id)))
    }

    /// Rewrites the folder that a name stands for.
    fn deeper(
        &mut self,
        before: Option<(EntryMode, ObjectId)>,
        steps: Vec<Step<'_>>,
    ) -> Result<Option<(EntryMode, ObjectId)>, StoreError> {
        let Some(first) = steps.first() else {
            return Ok(before);
        };
        let path = || first.edit.path.clone();
        let tree = match before.map(|(mode, id)| (mode.kind(), id)) {
            None => None,
            Some((EntryKind::Tree, id)) => Some(id),
            Some((EntryKind::Link, _)) => return Err(EditRefusal::Symlink { path: path() }.into()),
            Some((EntryKind::Commit, _)) => {
                return Err(EditRefusal::Submodule { path: path() }.into());
            }
            Some((EntryKind::Blob | EntryKind::BlobExecutable, _)) => {
                if let Some(step) = steps.iter().find(|step| step.edit.content.is_some()) {
                    let path = step.edit.path.clone();
                    return Err(EditRefusal::FileInTheWay { path }.into());
                }
                return Ok(before);
            }
        };
        let after = self.folder(tree, steps)?;
        Ok(after.map(|id| (EntryKind::Tree.into(), id)))
    }

    /// Finds what stands under the names of the edits.
    fn named(
        &self,
        base: &Base,
        names: &BTreeMap<BString, Below<'_>>,
    ) -> Result<Named, StoreError> {
        let mut named = Named::new();
        for entry in self.objects.tree_entries(base) {
            let (entry, _) = entry?;
            if names.contains_key(entry.filename) {
                let here = (entry.mode, entry.oid.to_owned());
                named.insert(entry.filename.to_owned(), here);
                if named.len() == names.len() {
                    break;
                }
            }
        }
        Ok(named)
    }

    /// Puts entries in the place of those that were found. The bytes between them are copied, because that is
    /// cheaper than to encode ten thousand entries.
    fn splice(
        &self,
        base: Option<&Base>,
        found: &Named,
        mut entries: Vec<Entry>,
    ) -> Result<Vec<u8>, StoreError> {
        entries.sort_by(|a, b| a.order(b.name.as_ref(), b.mode));
        let bytes = base.map_or(&[][..], |base| &base.bytes);
        let mut spliced = Vec::with_capacity(bytes.len() + 64 * entries.len());
        let mut entries = entries.into_iter().peekable();
        let mut left = found.len();
        let (mut copied, mut at) = (0, 0);
        for old in base
            .into_iter()
            .flat_map(|base| self.objects.tree_entries(base))
        {
            if left == 0 && entries.peek().is_none() {
                break;
            }
            let (old, next) = old?;
            while let Some(entry) =
                entries.next_if(|entry| entry.order(old.filename, old.mode).is_lt())
            {
                spliced.extend_from_slice(&bytes[copied..at]);
                copied = at;
                entry.write(&mut spliced);
            }
            if found.contains_key(old.filename) {
                spliced.extend_from_slice(&bytes[copied..at]);
                copied = next;
                left -= 1;
            }
            at = next;
        }
        spliced.extend_from_slice(&bytes[copied..]);
        entries.for_each(|entry| entry.write(&mut spliced));
        Ok(spliced)
    }

    fn stage(
        &mut self,
        kind: Kind,
        bytes: Vec<u8>,
        base: Option<Base>,
    ) -> Result<ObjectId, StoreError> {
        let id =
            gix::objs::compute_hash(self.objects.hash_kind(), kind, &bytes).map_err(|error| {
                self.objects
                    .damage(format!("an object cannot be named: {error}"))
            })?;
        self.staged.entry(id).or_insert_with(|| NewObject {
            kind,
            bytes: bytes.into(),
            base,
        });
        Ok(id)
    }
}

/// Groups edits by the first name of what is left of their path.
fn by_name(steps: Vec<Step<'_>>) -> BTreeMap<BString, Below<'_>> {
    let mut names: BTreeMap<BString, Below<'_>> = BTreeMap::new();
    for step in steps {
        match step.rest.split_once('/') {
            None => names.entry(step.rest.into()).or_default().here = Some(step.edit),
            Some((name, rest)) => names.entry(name.into()).or_default().deeper.push(Step {
                rest,
                edit: step.edit,
            }),
        }
    }
    names
}

impl Entry {
    /// Git sorts a folder as if its name ended with a slash.
    fn order(&self, name: &BStr, mode: EntryMode) -> Ordering {
        name_order(&self.name, self.mode.is_tree(), name, mode.is_tree())
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.mode.as_bytes(&mut Default::default()));
        to.push(b' ');
        to.extend_from_slice(&self.name);
        to.push(0);
        to.extend_from_slice(self.id.as_bytes());
    }
}
