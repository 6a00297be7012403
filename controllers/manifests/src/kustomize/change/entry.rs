//! Entries that an overlay gets for what a base says that is never written (OV-11, D17).

use model::RepoPath;
use serde_json::{Map, Value, json};

use super::image::read;
use super::route::{Route, Stop};
use super::target::{Part, Says, Written};
use crate::kustomize::image_reference::ImageReference;
use crate::kustomize::images::is_place;
use crate::kustomize::parse::Kustomization;
use crate::kustomize::replicas::KINDS;
use crate::yaml::Step;

impl Route<'_, '_> {
    /// Puts an image or a count into the kustomization that is built. Says whether the value is one that an entry can
    /// say there.
    pub(super) fn override_in_root(
        &mut self,
        way: &[Step],
        old: &Value,
        wanted: &Value,
    ) -> Result<bool, Stop> {
        if !self.router.writable.contains(self.router.root_path()) {
            return Ok(false);
        }
        let keys: Vec<&str> = way.iter().filter_map(key).collect();
        let kind = self.object.id.kind.as_str();
        if keys.len() == way.len() && keys == ["spec", "replicas"] && KINDS.contains(&kind) {
            if wanted.as_u64().is_none() {
                return Ok(false);
            }
            let name = self.object.id.name.clone();
            let entry = json!({"name": name, "count": wanted});
            self.put_entry("replicas", name, entry);
            return Ok(true);
        }
        if !is_image(kind, way) {
            return Ok(false);
        }
        let (Some(before), Some(after)) = (read(old), read(wanted)) else {
            return Ok(false);
        };
        let Some(keys) = keys_for(&before, &after) else {
            return Ok(false);
        };
        let reader = self.router.graph.get(self.router.root);
        let known = reader.and_then(|it| image_entry(&it.kustomization, &before.name));
        match known {
            Some(at) => {
                for (key, value) in keys {
                    let way = ["images"].map(|key| Step::Key(key.to_owned())).to_vec();
                    let way = [way, vec![Step::Item(at), Step::Key(key)]].concat();
                    let target = self.in_root(way, Part::Whole);
                    self.say(target, Says::Value(value));
                }
            }
            None => {
                let name = [("name".to_owned(), Value::from(before.name.as_str()))];
                let entry: Map<String, Value> = name.into_iter().chain(keys).collect();
                self.put_entry("images", before.name, Value::Object(entry));
            }
        }
        Ok(true)
    }

    fn put_entry(&mut self, list: &str, name: String, entry: Value) {
        let way = vec![Step::Key(list.to_owned())];
        let target = self.in_root(way, Part::Entry(name));
        self.say(target, Says::Value(entry));
    }

    fn in_root(&self, way: Vec<Step>, part: Part) -> (RepoPath, Written) {
        let document = 0;
        let written = Written {
            document,
            way,
            part,
        };
        (self.router.root_path().clone(), written)
    }
}

fn key(step: &Step) -> Option<&str> {
    match step {
        Step::Key(key) => Some(key),
        Step::Item(_) => None,
    }
}

/// Says whether entries of `images:` reach a value.
fn is_image(kind: &str, way: &[Step]) -> bool {
    let way: Vec<&str> = way.iter().map(|step| key(step).unwrap_or("[]")).collect();
    kind != "CustomResourceDefinition" && is_place(&way)
}

/// Returns the keys of an entry that makes the one reference of the other; nothing where none does.
fn keys_for(before: &ImageReference, after: &ImageReference) -> Option<Vec<(String, Value)>> {
    let mut keys = Vec::new();
    let mut put = |key: &str, value: &str| keys.push((key.to_owned(), Value::from(value)));
    if before.name != after.name {
        put("newName", &after.name);
    }
    if (&before.tag, &before.digest) != (&after.tag, &after.digest) {
        if after.tag.is_none() && after.digest.is_none() {
            return None;
        }
        if let Some(tag) = &after.tag {
            put("newTag", tag);
        }
        if let Some(digest) = &after.digest {
            put("digest", digest);
        }
    }
    Some(keys)
}

/// Finds the entry for a name.
fn image_entry(kustomization: &Kustomization, name: &str) -> Option<usize> {
    let mut entries = kustomization.images.iter();
    entries.position(|entry| entry.name.value == name)
}
