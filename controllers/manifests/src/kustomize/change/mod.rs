//! From objects as they shall be to the inputs that have to say so.
//!
//! Each value that differs goes to the one input that supplied it: a document, an entry of a kustomization, what a
//! generator reads. What has no such input, or one that is never written, is refused with its name and line. The
//! result is built again before it is given out: it makes the objects what they shall be and leaves every other one as
//! it was. Nothing is written here, no new object is placed and none is removed.
//!
//! Reading order: the types here, `delta` (in what an object differs), `source` (where values stand in texts), `route`
//! with `image`, `list`, `entry` and `generated` (which input says them), `target` (what is said to inputs), `text` (new bytes),
//! `trial` (built again), `refuse`.

mod delta;
mod entry;
mod generated;
mod image;
mod list;
mod refuse;
mod route;
mod source;
mod target;
#[cfg(test)]
mod tests;
mod text;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use model::{FileTree, FolderPath, Refusal, RepoPath};
use serde_json::Value;

use super::cache::Cache;
use super::issue::BuildError;
use super::node::Supplier;
use super::{Render, Rendered, build_with, gave_up};
use route::Router;
use target::{Edit, Says};
use trial::{Expected, Trial};

pub(crate) use source::way_in;

/// Which object of a build is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The group and version, as in `apiVersion`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Where it lives; nothing where its kind lives in no namespace.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// An object as it shall be.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// Which object, each one once.
    pub object: ObjectKey,
    /// What the build shall make of it: all of it, and nothing that Git does not hold.
    pub wanted: Value,
    /// Whether its document shall name the namespace, once it is written for another reason (NS-3); nothing where it
    /// stays as it is.
    pub names_namespace: Option<bool>,
}

/// What has to be written, and what is not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changed {
    /// The files that say something else, with all that they say then.
    pub files: BTreeMap<RepoPath, Vec<u8>>,
    /// The objects that become as wished, sorted, each with the files that say so. There is none where an object is
    /// so already.
    pub landed: Vec<(ObjectKey, BTreeSet<RepoPath>)>,
    /// The objects that stay as they are and why, sorted. The refusals themselves name no object.
    pub refused: Vec<(ObjectKey, Refusal)>,
}

/// Finds what the inputs of a build have to say for some of its objects to be as wished. Each object lands whole or
/// not at all, and only those that share an input are held back together.
///
/// # Errors
/// Returns why the folder cannot be built as it is (RV-4), or that a file could not be read.
pub fn change(
    tree: FileTree<'_>,
    root: &FolderPath,
    writable: &FolderPath,
    wishes: &[Wish],
    cache: &mut Cache,
) -> Result<Changed, BuildError> {
    let render = build_with(tree, root, cache)?;
    change_render(tree, (root, &render), writable, wishes, cache)
}

/// Finds what inputs have to say, as [`change()`] does, for a folder of which the render is at hand.
///
/// # Errors
/// Returns that a file could not be read.
pub(crate) fn change_render(
    tree: FileTree<'_>,
    of: (&FolderPath, &Render),
    writable: &FolderPath,
    wishes: &[Wish],
    cache: &mut Cache,
) -> Result<Changed, BuildError> {
    // What nobody thought of must not take the process down (GA-1).
    let change = || change_unguarded(tree, of, writable, wishes, cache);
    catch_unwind(AssertUnwindSafe(change)).unwrap_or_else(|_| Err(gave_up(of.0).into()))
}

fn change_unguarded(
    tree: FileTree<'_>,
    (root, render): (&FolderPath, &Render),
    writable: &FolderPath,
    wishes: &[Wish],
    cache: &mut Cache,
) -> Result<Changed, BuildError> {
    // The order in which wishes come decides nothing.
    let mut wishes: Vec<Wish> = wishes.to_vec();
    wishes.sort_by(|one, other| one.object.cmp(&other.object));
    let mut router = Router::new(tree, root, writable, render, cache)?;
    let Routed {
        mut refused,
        expected,
        mut routes,
        respelled,
    } = route_all(&mut router, render, &wishes)?;
    for (index, edit) in conflicts(&routes) {
        let text = router.bytes(&edit.target.file)?;
        routes.remove(&index);
        refused.insert(index, refuse::disagreement(text::place(&edit, &text)));
    }
    let mut trial = Trial {
        tree,
        root,
        render,
        expected: &expected,
        routes: &routes,
        cache,
    };
    let settled = trial.settle(components(&routes))?;
    refused.extend(settled.refused);
    let stuck: Vec<usize> = respelled
        .into_iter()
        .filter(|wish| refused.contains_key(wish))
        .collect();
    if !stuck.is_empty() {
        // A patch may mean the object as its document is now, so the namespace stays and the rest is tried alone.
        for wish in stuck {
            wishes[wish].names_namespace = None;
        }
        return change_render(tree, (root, render), writable, &wishes, cache);
    }
    let landed = routes
        .iter()
        .filter(|(index, edits)| !edits.is_empty() && !refused.contains_key(index));
    let landed = landed.map(|(index, edits)| {
        let files = edits.iter().map(|edit| edit.target.file.clone());
        (wishes[*index].object.clone(), files.collect())
    });
    Ok(Changed {
        files: settled.files,
        landed: landed.collect(),
        refused: refused
            .into_iter()
            .map(|(index, refusal)| (wishes[index].object.clone(), refusal))
            .collect(),
    })
}

/// Where wishes lead.
#[derive(Default)]
struct Routed {
    refused: BTreeMap<usize, Refusal>,
    expected: BTreeMap<usize, Expected>,
    routes: BTreeMap<usize, Vec<Edit>>,
    /// The wishes whose documents come to name their namespace, or to name none.
    respelled: Vec<usize>,
}

fn route_all(
    router: &mut Router<'_>,
    render: &Render,
    wishes: &[Wish],
) -> Result<Routed, BuildError> {
    let mut routed = Routed::default();
    for (index, wish) in wishes.iter().enumerate() {
        let Some(at) = position(render, &wish.object) else {
            let refusal = refuse::not_rendered(router.root_path());
            routed.refused.insert(index, refusal);
            continue;
        };
        let object = &render.objects[at];
        let mut wanted = in_place(&wish.wanted, object, &wish.object);
        let mut edits = match router.route(at, &wanted)? {
            Ok(edits) => edits,
            Err(refusal) => {
                routed.refused.insert(index, *refusal);
                continue;
            }
        };
        if let Some(names_it) = wish.names_namespace
            && let Some(edit) = router.namespace(at, &edits, &wish.object, names_it)?
        {
            respell(&mut wanted, object, &edit);
            edits.push(edit);
            routed.respelled.push(index);
        }
        routed.routes.insert(index, edits);
        routed.expected.insert(index, Expected { at, wanted });
    }
    Ok(routed)
}

/// Finds an object: by all of what it is called; else one that the build puts into no namespace (NS-5), or one in a
/// namespace although it can live in none (NS-8).
fn position(render: &Render, key: &ObjectKey) -> Option<usize> {
    let is_alike = |object: &&(usize, &Rendered)| {
        let text = |name: &str| object.1.node.get(name).and_then(|node| node.as_str());
        text("apiVersion") == Some(&key.api_version)
            && text("kind") == Some(&key.kind)
            && object.1.id.name == key.name
    };
    let objects: Vec<(usize, &Rendered)> = render.objects.iter().enumerate().collect();
    let alike: Vec<&(usize, &Rendered)> = objects.iter().filter(is_alike).collect();
    let exact = alike
        .iter()
        .find(|(_, object)| object.namespace() == key.namespace.as_deref());
    if let Some((at, _)) = exact {
        return Some(*at);
    }
    let mut tolerated = alike
        .iter()
        .filter(|(_, object)| key.namespace.is_none() || object.namespace().is_none());
    let (at, _) = tolerated.next()?;
    tolerated.next().is_none().then_some(*at)
}

/// Returns what is wanted with the namespace as the build writes it: none where it writes none (NS-5), and its own for
/// an object that can live in none (NS-8).
fn in_place(wanted: &Value, object: &Rendered, key: &ObjectKey) -> Value {
    let mut wanted = wanted.clone();
    let rendered = object.node.get("metadata");
    let rendered = rendered.and_then(|metadata| metadata.get("namespace"));
    let Some(Value::Object(metadata)) = wanted.get_mut("metadata") else {
        return wanted;
    };
    match rendered {
        None => {
            metadata.remove("namespace");
        }
        Some(namespace) if key.namespace.is_none() => {
            metadata.insert("namespace".to_owned(), namespace.to_value());
        }
        Some(_) => {}
    }
    wanted
}

/// Brings what is wanted to a namespace that the document names no more, or names now. What a kustomization gives
/// stays.
fn respell(wanted: &mut Value, object: &Rendered, edit: &Edit) {
    let metadata = object.node.get("metadata");
    let rendered = metadata.and_then(|metadata| metadata.get("namespace"));
    let is_given = rendered.is_some_and(|node| !matches!(node.supplier, Supplier::Document(_)));
    let Some(metadata) = wanted.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    match &edit.says {
        _ if is_given => {}
        Says::Value(namespace) => {
            metadata.insert("namespace".to_owned(), namespace.clone());
        }
        Says::Nothing | Says::Items(_) => {
            metadata.remove("namespace");
        }
    }
}

/// Finds wishes that want one input to say different things.
fn conflicts(routes: &BTreeMap<usize, Vec<Edit>>) -> Vec<(usize, Edit)> {
    let mut said: BTreeMap<_, Vec<(usize, &Edit)>> = BTreeMap::new();
    for (index, edit) in routes
        .iter()
        .flat_map(|(index, edits)| edits.iter().map(|edit| (*index, edit)))
    {
        said.entry(&edit.target).or_default().push((index, edit));
    }
    let disagree =
        |edits: &&Vec<(usize, &Edit)>| edits.iter().any(|(_, edit)| edit.says != edits[0].1.says);
    let edits = said.values().filter(disagree).flatten();
    edits
        .map(|(index, edit)| (*index, (*edit).clone()))
        .collect()
}

/// Groups wishes that share an input, in the order of the first of each group.
fn components(routes: &BTreeMap<usize, Vec<Edit>>) -> Vec<BTreeSet<usize>> {
    let mut groups: Vec<(BTreeSet<usize>, BTreeSet<&target::Target>)> = Vec::new();
    for (index, edits) in routes.iter().filter(|(_, edits)| !edits.is_empty()) {
        let mut members = BTreeSet::from([*index]);
        let mut targets: BTreeSet<&target::Target> =
            edits.iter().map(|edit| &edit.target).collect();
        let (sharing, apart): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|(_, others)| !others.is_disjoint(&targets));
        for (others, shared) in sharing {
            members.extend(others);
            targets.extend(shared);
        }
        groups = apart;
        groups.push((members, targets));
    }
    let mut groups: Vec<BTreeSet<usize>> = groups.into_iter().map(|(members, _)| members).collect();
    groups.sort();
    groups
}
