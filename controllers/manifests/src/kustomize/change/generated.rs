//! Objects that a generator makes: their values go back to what it reads (A11).

use model::{Location, RepoPath};
use serde_json::{Map, Value};

use super::delta::Difference;
use super::refuse;
use super::route::{Route, Stop};
use super::source::below;
use super::target::{Part, Place, Says};
use crate::kustomize::cache::index;
use crate::kustomize::generator::edit::{
    content_with_value, env_with_new_line, env_with_value, literal_with_value, new_literal,
};
use crate::kustomize::node::{FileId, Node, Site, Supplier};
use crate::kustomize::parse::ConfigMapEntry;
use crate::yaml::Step;

impl Route<'_, '_> {
    pub(super) fn generated(
        &mut self,
        way: &[Step],
        difference: &Difference<'_>,
    ) -> Result<(), Stop> {
        match (way, difference) {
            ([Step::Key(data), Step::Key(_)], Difference::Other(node, wanted))
                if data == "data" =>
            {
                self.value(way, node, Some(wanted))
            }
            ([Step::Key(data), Step::Key(_)], Difference::Removed(node)) if data == "data" => {
                self.value(way, node, None)
            }
            ([Step::Key(data), Step::Key(key)], Difference::Added(value)) if data == "data" => {
                self.new_key(way, key, value)
            }
            ([Step::Key(data)], Difference::Removed(node)) if data == "data" => {
                for (key, node) in node.fields().into_iter().flatten() {
                    self.value(&[way, &[Step::Key(key.clone())]].concat(), node, None)?;
                }
                Ok(())
            }
            ([Step::Key(data)], Difference::Added(Value::Object(fields))) if data == "data" => {
                self.new_keys(way, fields)
            }
            _ => {
                let supplier = below(&self.object.node, way).map(|node| node.supplier.clone());
                let supplier = supplier.unwrap_or(Supplier::Entry(self.entry_site()));
                Err(self.foreign(&supplier, way)?)
            }
        }
    }

    fn new_keys(&mut self, way: &[Step], fields: &Map<String, Value>) -> Result<(), Stop> {
        for (key, value) in fields {
            self.new_key(&[way, &[Step::Key(key.clone())]].concat(), key, value)?;
        }
        Ok(())
    }

    /// Changes what a key says, or takes it away.
    fn value(&mut self, way: &[Step], node: &Node, wanted: Option<&Value>) -> Result<(), Stop> {
        let says = |text: &str| Says::Value(Value::from(text));
        let text = match wanted {
            None => None,
            Some(Value::String(text)) => Some(text.as_str()),
            Some(_) => return Err(self.foreign(&node.supplier, way)?),
        };
        match (&node.supplier, text) {
            (Supplier::Literal(site), None) => {
                let target = self.value_at(*site, way)?;
                self.say(target, Says::Nothing);
            }
            (Supplier::Literal(site), Some(text)) => {
                let at = self.own_location(*site, way)?;
                let old = self.entry(|entry| {
                    let mut literals = entry.literals.iter();
                    let literal = literals.find(|literal| literal.at == site.at);
                    literal.map(|literal| literal.value.clone())
                });
                let Some(new) = old.and_then(|old| literal_with_value(&old, text)) else {
                    return Err(refuse::not_sayable(at, "a literal of a generator").into());
                };
                let target = self.value_at(*site, way)?;
                self.say(target, says(&new));
            }
            (Supplier::EnvLine(site), text) => {
                let at = self.own_location(*site, way)?;
                let content = self.router.bytes(&at.path)?;
                let is_sayable =
                    text.is_none_or(|text| env_with_value(&content, site.at, text).is_some());
                if !is_sayable {
                    return Err(refuse::not_sayable(at, "a line that a generator reads").into());
                }
                let says = text.map_or(Says::Nothing, says);
                self.note(at.path, Place::Line(site.at), says);
            }
            (Supplier::Content(file), Some(text)) => {
                let at = self.own_location(Site { file: *file, at: 0 }, way)?;
                if content_with_value(text).is_none() {
                    return Err(refuse::not_sayable(at, "a file that a generator reads").into());
                }
                self.note(at.path, Place::Content, says(text));
            }
            (supplier, _) => return Err(self.foreign(supplier, way)?),
        }
        Ok(())
    }

    /// Adds a key to the only `envs:` file, or else to the literals.
    fn new_key(&mut self, way: &[Step], key: &str, value: &Value) -> Result<(), Stop> {
        let site = self.entry_site();
        let at = self.own_location(site, way)?;
        let Some(text) = value.as_str() else {
            return Err(refuse::not_sayable(at, "a generator").into());
        };
        let file = self.object.origin.file;
        let literal = self.entry(|entry| entry.literals.first().map(|literal| literal.at));
        match (&self.envs()[..], literal) {
            ([path], _) => {
                let path = path.clone();
                if !self.router.writable.contains(&path) {
                    let at = Location { path, ..at };
                    return Err(refuse::read_only(at, self.router.writable).into());
                }
                let content = self.router.bytes(&path)?;
                if env_with_new_line(&content, key, text).is_none() {
                    return Err(refuse::not_sayable(at, "the lines of a generator").into());
                }
                let place = Place::NewLine(key.to_owned());
                self.note(path, place, Says::Value(value.clone()));
                Ok(())
            }
            ([], Some(first)) => {
                let Some(literal) = new_literal(key, text) else {
                    return Err(refuse::not_sayable(at, "the literals of a generator").into());
                };
                let (path, mut written) = self.value_at(Site { file, at: first }, way)?;
                written.way.pop();
                written.part = Part::Entry(key.to_owned());
                self.say((path, written), Says::Value(Value::from(literal)));
                Ok(())
            }
            _ => Err(refuse::no_input(at).into()),
        }
    }

    /// Returns where the entry stands that generates the object.
    fn entry_site(&self) -> Site {
        let file = self.object.origin.file;
        let at = self.entry(|entry| Some(entry.at));
        Site {
            file,
            at: at.unwrap_or(0),
        }
    }

    /// Asks the entry that generates the object.
    fn entry<T>(&self, ask: impl FnOnce(&ConfigMapEntry) -> Option<T>) -> Option<T> {
        let folder = self.router.path(self.object.origin.file)?.parent();
        let reader = self.router.graph.get(&folder)?;
        let at = index(FileId(self.object.origin.index));
        ask(reader.kustomization.config_maps.get(at)?)
    }

    fn envs(&self) -> Vec<RepoPath> {
        let path = self.router.path(self.object.origin.file);
        let reader = path.and_then(|path| self.router.graph.get(&path.parent()));
        let at = index(FileId(self.object.origin.index));
        let generator = reader.and_then(|reader| reader.generators.get(at));
        generator
            .map(|generator| generator.envs.clone())
            .unwrap_or_default()
    }
}
