//! Objects that are taken out of folders without a document of their own, and brought back.
//!
//! A file of cases begins each of them with a line such as `## patch Deployment team/web of app: what it shows`: what
//! has to take the object away, the object as it is built, the folder to build, which is also what may be written.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use manifests::kustomize::change::ObjectKey;
use manifests::kustomize::remove::{
    Changes, Going, Removed, generated, inherited, orphans, restore, without_orphans,
};
use manifests::kustomize::{Cache, Render, Rendered, build, graph};
use model::{FilesInMemory, FolderPath, Refusal};

use super::archive::{self, Files};
use super::ours;
use crate::dice::Dice;

/// An object to take out of a folder.
#[derive(Debug, Clone)]
pub struct Removal {
    /// What the case shows.
    pub title: String,
    /// The files before.
    pub files: Files,
    /// The folder that is built.
    pub folder: String,
    way: Way,
    kind: String,
    namespace: Option<String>,
    name: String,
}

/// What takes an object away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Patch,
    Generator,
}

/// What became of a folder.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The position of the object in the build.
    pub at: usize,
    /// The files without it.
    pub without: Files,
    /// Whether entries went with it that do not come back.
    pub has_orphans: bool,
    /// The files with it again; nothing where its generator is gone.
    pub back: Option<Files>,
}

/// Reads every case.
///
/// # Errors
/// Returns that the file of cases cannot be read.
pub fn removals() -> Result<Vec<Removal>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/removals.txt");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let cases = text.trim_start_matches("## ").split("\n## ");
    cases
        .map(|case| read(case).with_context(|| format!("a case of removals: {case:.60}")))
        .collect()
}

fn read(case: &str) -> Result<Removal> {
    let (head, files) = case.split_once('\n').context("has no files")?;
    let (head, title) = head.split_once(": ").context("has no title")?;
    let [way, kind, name, "of", folder] = head.split(' ').collect::<Vec<_>>()[..] else {
        bail!("does not say what goes: {head}");
    };
    let (namespace, name) = match name.split_once('/') {
        Some((namespace, name)) => (Some(namespace.to_owned()), name),
        None => (None, name),
    };
    Ok(Removal {
        title: title.to_owned(),
        files: archive::files(files),
        folder: folder.to_owned(),
        way: match way {
            "patch" => Way::Patch,
            "generator" => Way::Generator,
            other => bail!("nothing is taken away by a {other}"),
        },
        kind: kind.to_owned(),
        namespace,
        name: name.to_owned(),
    })
}

impl Removal {
    /// Picks an object of a folder that is made up.
    pub fn pick(files: &Files, folder: &str, render: &Render, dice: &mut Dice) -> Option<Self> {
        let object = dice.pick(&render.objects)?;
        let source = render
            .files
            .get(usize::try_from(object.origin.file.0).ok()?)?;
        let is_here = source.parent().as_str() == folder;
        Some(Self {
            title: format!("{} {}", object.id.kind, object.id.name),
            files: files.clone(),
            folder: folder.to_owned(),
            way: match object.origin.generated && is_here {
                true => Way::Generator,
                false => Way::Patch,
            },
            kind: object.id.kind.clone(),
            namespace: object.namespace().map(str::to_owned),
            name: object.id.name.clone(),
        })
    }

    /// Takes the object out and brings it back; or returns why it stays.
    ///
    /// # Errors
    /// Returns what cannot be built.
    pub fn play(&self) -> Result<Result<Outcome, Refusal>> {
        let root = FolderPath::new(&self.folder)?;
        let tree = ours::tree(&self.files).map_err(anyhow::Error::msg)?;
        let render = build(tree.tree(), &root)?;
        let mut objects = render.objects.iter();
        let at = objects.position(|object| self.is(object));
        let at = at.context("the object is not built")?;
        let (changes, has_orphans) = match self.removed(&tree, &root, &render, at)? {
            Ok(removed) => removed,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let without = changed(&self.files, &changes);
        let back = match self.way {
            Way::Patch => Some(self.restored(&without, &root, &render.objects[at])?),
            Way::Generator => None,
        };
        Ok(Ok(Outcome {
            at,
            without,
            has_orphans,
            back,
        }))
    }

    fn is(&self, object: &Rendered) -> bool {
        object.id.kind == self.kind
            && object.id.name == self.name
            && object.namespace() == self.namespace.as_deref()
    }

    /// Returns the files that change, and whether entries became orphans.
    fn removed(
        &self,
        tree: &FilesInMemory,
        root: &FolderPath,
        render: &Render,
        at: usize,
    ) -> Result<Result<(Changes, bool), Refusal>> {
        let graph = graph(tree.tree(), root)?;
        let object = &render.objects[at];
        let (removed, going) = match self.way {
            Way::Patch => {
                let removed = inherited(tree.tree(), &graph, (root, render), &[object])?;
                (removed, Going::Patched(object))
            }
            Way::Generator => {
                let removed = generated(tree.tree(), &graph, root, render, &[object])?;
                (removed, Going::Source(object))
            }
        };
        let Removed { mut files, refused } = removed;
        if let Some((_, refusal)) = refused.into_iter().next() {
            return Ok(Err(refusal));
        }
        let found = orphans(render, &graph, root, &[going]);
        let now = ours::tree(&changed(&self.files, &files)).map_err(anyhow::Error::msg)?;
        Ok(match without_orphans(now.tree(), root, &found)? {
            Ok(cleaned) => {
                files.extend(cleaned);
                Ok((files, !found.is_empty()))
            }
            Err(refusal) => Err(*refusal),
        })
    }

    fn restored(&self, without: &Files, root: &FolderPath, object: &Rendered) -> Result<Files> {
        let tree = ours::tree(without).map_err(anyhow::Error::msg)?;
        let graph = graph(tree.tree(), root)?;
        let api_version = match &*object.id.group {
            "" => object.id.version.clone(),
            group => format!("{group}/{}", object.id.version),
        };
        let key = ObjectKey {
            api_version,
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        };
        match restore(tree.tree(), &graph, root, &key, &mut Cache::default())? {
            Some(Ok(changes)) => Ok(changed(without, &changes)),
            Some(Err(refusal)) => bail!("it is not brought back: {refusal}"),
            None => bail!("no patch keeps it away"),
        }
    }
}

fn changed(files: &Files, changes: &Changes) -> Files {
    let mut files = files.clone();
    for (path, bytes) in changes {
        match bytes {
            Some(bytes) => drop(files.insert(path.to_string(), bytes.clone())),
            None => drop(files.remove(path.as_str())),
        }
    }
    files
}
