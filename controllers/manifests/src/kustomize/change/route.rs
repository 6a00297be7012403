//! From a difference to the input that has to say it.

use std::sync::Arc;

use model::files::ReadError;
use model::{FileTree, FolderPath, Location, Refusal, RepoPath};
use serde_json::Value;

use super::ObjectKey;
use super::delta::{Delta, Difference, deltas, spelled};
use super::refuse;
use super::source::{Source, below, way_in};
use super::target::{Edit, Part, Place, Says, Target, Written};
use crate::kustomize::cache::{Cache, index};
use crate::kustomize::graph::Graph;
use crate::kustomize::load::Loader;
use crate::kustomize::node::{Content, FileId, Node, Site, Supplier};
use crate::kustomize::read::Purpose;
use crate::kustomize::{Render, Rendered};
use crate::yaml::Step;

/// Finds the inputs of one build.
pub(super) struct Router<'r> {
    pub(super) loader: Loader<'r>,
    pub(super) graph: Graph,
    pub(super) root: &'r FolderPath,
    pub(super) writable: &'r FolderPath,
    render: &'r Render,
}

/// Finds the inputs of one object.
pub(super) struct Route<'o, 'r> {
    pub(super) router: &'o mut Router<'r>,
    pub(super) object: &'r Rendered,
    source: Option<Source>,
    pub(super) edits: Vec<Edit>,
}

/// Why the inputs of an object are not found.
pub(super) enum Stop {
    Refused(Box<Refusal>),
    Unreadable(ReadError),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        Self::Unreadable(error)
    }
}

impl<'r> Router<'r> {
    pub(super) fn new(
        tree: FileTree<'r>,
        root: &'r FolderPath,
        writable: &'r FolderPath,
        render: &'r Render,
        cache: &'r mut Cache,
    ) -> Result<Self, ReadError> {
        let mut loader = Loader::new(tree, cache);
        let graph = Graph::survey(&mut loader, [root.clone()])?;
        Ok(Self {
            loader,
            graph,
            root,
            writable,
            render,
        })
    }

    /// Returns the kustomization that is built.
    pub(super) fn root_path(&self) -> &RepoPath {
        let reader = self.graph.get(self.root);
        &reader.expect("because the folder was built just now").path
    }

    /// Returns what the inputs have to say for an object to be as wanted, or why they cannot.
    pub(super) fn route(
        &mut self,
        at: usize,
        wanted: &Value,
    ) -> Result<Result<Vec<Edit>, Box<Refusal>>, ReadError> {
        let object = &self.render.objects[at];
        let deltas = deltas(&object.node, wanted);
        if deltas.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let mac = object.node.get("sops").and_then(|sops| sops.get("mac"));
        // What is plain in a wish must not reach a file that is encrypted.
        if let (Supplier::Document(site), Some(_)) = (&object.node.supplier, mac) {
            let at = self.location(*site, &[])?;
            return Ok(Err(Box::new(refuse::encrypted(at))));
        }
        let mut route = Route {
            source: self.source(object)?,
            router: self,
            object,
            edits: Vec::new(),
        };
        match deltas.iter().try_for_each(|delta| route.follow(delta)) {
            Ok(()) => Ok(Ok(route.edits)),
            Err(Stop::Refused(refusal)) => Ok(Err(refusal)),
            Err(Stop::Unreadable(error)) => Err(error),
        }
    }

    /// Returns the edit after which a document that is edited anyway names its namespace, or names none; nothing where
    /// it does so already.
    pub(super) fn namespace(
        &mut self,
        at: usize,
        edits: &[Edit],
        key: &ObjectKey,
        names_it: bool,
    ) -> Result<Option<Edit>, ReadError> {
        let object = &self.render.objects[at];
        let (Some(namespace), Some((path, document))) =
            (&key.namespace, self.render.document(object))
        else {
            return Ok(None);
        };
        let is_own = |edit: &Edit| match &edit.target.place {
            Place::Value(written) => edit.target.file == *path && written.document == document,
            Place::Line(_) | Place::NewLine(_) | Place::Content => false,
        };
        let source = self.source(object)?.filter(|_| edits.iter().any(is_own));
        let Some(source) = source else {
            return Ok(None);
        };
        let way = ["metadata", "namespace"].map(|key| Step::Key(key.to_owned()));
        let says = match (source.at(&way).is_some(), names_it) {
            (true, false) => Says::Nothing,
            (false, true) => Says::Value(namespace.as_str().into()),
            (true, true) | (false, false) => return Ok(None),
        };
        let written = Written {
            document,
            way: way.to_vec(),
            part: Part::Whole,
        };
        let target = Target {
            file: path.clone(),
            place: Place::Value(written),
        };
        Ok(Some(Edit { target, says }))
    }

    /// Returns the document of an object; nothing for one that was generated or stands in a list of objects.
    fn source(&mut self, object: &Rendered) -> Result<Option<Source>, ReadError> {
        let file = object.origin.file;
        let Some(path) = self.path(file).filter(|_| !object.origin.generated) else {
            return Ok(None);
        };
        let Ok(manifests) = self.loader.manifests(&path, Purpose::Objects)? else {
            return Ok(None);
        };
        let of_this = manifests
            .list
            .iter()
            .filter(|manifest| manifest.document == object.origin.index);
        let [manifest] = of_this.collect::<Vec<_>>()[..] else {
            return Ok(None);
        };
        let Supplier::Document(site) = manifest.node.supplier else {
            return Ok(None);
        };
        let Some(text) = self.text(&path)? else {
            return Ok(None);
        };
        let is_document = way_in_document(&text, site.at);
        Ok(is_document.then(|| Source::new(manifest.node.clone(), file)))
    }

    pub(super) fn path(&self, file: FileId) -> Option<RepoPath> {
        self.render.files.get(index(file)).cloned()
    }

    /// Returns what a file holds; nothing where there is none.
    pub(super) fn bytes(&mut self, path: &RepoPath) -> Result<Arc<[u8]>, ReadError> {
        Ok(self.loader.bytes(path)?.unwrap_or_default())
    }

    /// Returns the text of a file, where it is one.
    fn text(&mut self, path: &RepoPath) -> Result<Option<String>, ReadError> {
        let bytes = self.loader.bytes(path)?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok()))
    }

    /// Returns where something stands, for people.
    pub(super) fn location(&mut self, site: Site, way: &[Step]) -> Result<Location, ReadError> {
        let path = self.path(site.file);
        let path = path.unwrap_or_else(|| self.root_path().clone());
        self.loader.bytes(&path)?;
        Ok(Location {
            line: Some(self.loader.line_of(site)),
            path,
            field: (!way.is_empty()).then(|| spelled(way)),
        })
    }

    pub(super) fn is_writable(&self, site: Site) -> bool {
        let path = self.render.files.get(index(site.file));
        path.is_some_and(|path| self.writable.contains(path))
    }
}

/// Says whether a whole document starts at a byte, and no item of a list of objects.
fn way_in_document(text: &str, at: u32) -> bool {
    way_in(text, at).is_some_and(|(_, way)| way.is_empty())
}

impl Route<'_, '_> {
    fn follow(&mut self, delta: &Delta<'_>) -> Result<(), Stop> {
        let way = &delta.way[..];
        if self.object.origin.generated {
            return self.generated(way, &delta.difference);
        }
        match &delta.difference {
            Difference::Other(node, wanted) => self.other(way, node, wanted),
            Difference::Added(wanted) => self.added(way, wanted),
            Difference::Removed(node) => {
                self.check_owned(node, way, true)?;
                let written = self.target(way)?;
                self.say(written, Says::Nothing);
                Ok(())
            }
            Difference::Items(list, items) => self.items(way, list, items),
        }
    }

    fn other(&mut self, way: &[Step], node: &Node, wanted: &Value) -> Result<(), Stop> {
        let Content::Scalar(old) = &node.content else {
            self.check_owned(node, way, true)?;
            let target = self.target(way)?;
            self.say(target, Says::Value(wanted.clone()));
            return Ok(());
        };
        match &node.supplier {
            Supplier::Document(site) => {
                if !self.router.is_writable(*site) && self.override_in_root(way, old, wanted)? {
                    return Ok(());
                }
                let target = self.target(way)?;
                self.say(target, Says::Value(wanted.clone()));
                Ok(())
            }
            Supplier::Image(parts) => self.image(way, parts, old, wanted),
            Supplier::Replicas(site) => {
                if !self.router.is_writable(*site) && self.override_in_root(way, old, wanted)? {
                    return Ok(());
                }
                self.count(*site, way, wanted)
            }
            supplier => Err(self.foreign(supplier, way)?),
        }
    }

    fn added(&mut self, way: &[Step], wanted: &Value) -> Result<(), Stop> {
        match self.target(way) {
            Ok(target) => {
                self.say(target, Says::Value(wanted.clone()));
                Ok(())
            }
            Err(stop) => {
                let is_outside = self.origin().is_some_and(|it| !self.router.is_writable(it));
                if is_outside && self.override_in_root(way, &Value::Null, wanted)? {
                    return Ok(());
                }
                Err(stop)
            }
        }
    }

    /// Returns where the object itself stands.
    pub(super) fn origin(&self) -> Option<Site> {
        match self.object.node.supplier {
            Supplier::Document(site) => Some(site),
            _ => None,
        }
    }

    /// Notes what a value of YAML shall be.
    pub(super) fn say(&mut self, (file, written): (RepoPath, Written), says: Says) {
        self.note(file, Place::Value(written), says);
    }

    /// Notes what an input shall say.
    pub(super) fn note(&mut self, file: RepoPath, place: Place, says: Says) {
        let target = Target { file, place };
        let edit = Edit { target, says };
        if !self.edits.contains(&edit) {
            self.edits.push(edit);
        }
    }

    /// Checks that the document supplies all of a value. What entries write into it needs no check below the top,
    /// since they write into nothing that is not there.
    pub(super) fn check_owned(
        &mut self,
        node: &Node,
        way: &[Step],
        is_top: bool,
    ) -> Result<(), Stop> {
        let below: Vec<(Step, &Node)> = match &node.content {
            Content::Scalar(_) => Vec::new(),
            Content::Sequence(items) => {
                let items = items.iter().enumerate();
                items.map(|(at, item)| (Step::Item(at), item)).collect()
            }
            Content::Mapping(fields) => {
                let fields = fields.iter();
                fields
                    .map(|(key, value)| (Step::Key(key.clone()), value))
                    .collect()
            }
        };
        if below.is_empty() {
            return match &node.supplier {
                Supplier::Document(_) | Supplier::Image(_) => Ok(()),
                Supplier::Replicas(_) if !is_top => Ok(()),
                supplier => Err(self.foreign(supplier, way)?),
            };
        }
        for (step, node) in below {
            let mut way = way.to_vec();
            way.push(step);
            self.check_owned(node, &way, false)?;
        }
        Ok(())
    }

    /// Returns where the document writes a value, or has to write it: in the nearest thing above it that it writes.
    pub(super) fn target(&mut self, way: &[Step]) -> Result<(RepoPath, Written), Stop> {
        let Some(origin) = self.origin() else {
            return Err(self.foreign(&self.object.node.supplier.clone(), way)?);
        };
        if let Some(supplier) = self.holder(way).cloned() {
            return Err(self.foreign(&supplier, way)?);
        }
        if !self.router.is_writable(origin) {
            let at = self.nearest(way);
            let at = self.router.location(at.unwrap_or(origin), way)?;
            return Err(refuse::read_only(at, self.router.writable).into());
        }
        let Some(written) = self.written(way) else {
            let at = self.router.location(origin, way)?;
            return Err(refuse::unplaceable(at).into());
        };
        let Some(path) = self.router.path(origin.file) else {
            let at = self.router.location(origin, way)?;
            return Err(refuse::unplaceable(at).into());
        };
        let written = Written {
            document: usize::try_from(self.object.origin.index).unwrap_or(usize::MAX),
            way: written,
            part: Part::Whole,
        };
        Ok((path, written))
    }

    /// Returns the way in the document to a value of the build, written or not.
    fn written(&self, way: &[Step]) -> Option<Vec<Step>> {
        let source = self.source.as_ref()?;
        (0..=way.len()).rev().find_map(|length| {
            let (above, rest) = way.split_at(length);
            let node = below(&self.object.node, above)?;
            let above = source.way_to(&node.supplier, above)?;
            // An item that the document does not have cannot be put into it.
            let are_keys = rest.iter().all(|step| matches!(step, Step::Key(_)));
            Some(are_keys.then(|| [above, rest].concat()))
        })?
    }

    /// Returns what supplied the item that holds a value, where it is not the document.
    fn holder(&self, way: &[Step]) -> Option<&Supplier> {
        let lengths = (0..=way.len()).rev();
        let mut items = lengths.filter(|length| matches!(way[..*length], [.., Step::Item(_)]));
        let supplier = &below(&self.object.node, &way[..items.next()?])?.supplier;
        let is_foreign = !matches!(supplier, Supplier::Document(_));
        is_foreign.then_some(supplier)
    }

    /// Returns the way in the document to a value of the build that it writes itself.
    pub(super) fn exact(&self, node: &Node, way: &[Step]) -> Option<&Vec<Step>> {
        self.source.as_ref()?.way_to(&node.supplier, way)
    }

    /// Returns what the document has at a way.
    pub(super) fn in_source(&self, way: &[Step]) -> Option<&Node> {
        self.source.as_ref()?.at(way)
    }

    /// Returns where the nearest thing on the way to a value stands.
    fn nearest(&self, way: &[Step]) -> Option<Site> {
        (0..=way.len()).rev().find_map(|length| {
            match below(&self.object.node, &way[..length])?.supplier {
                Supplier::Document(site) => Some(site),
                _ => None,
            }
        })
    }

    /// Refuses a value for what supplies it.
    pub(super) fn foreign(&mut self, supplier: &Supplier, way: &[Step]) -> Result<Stop, ReadError> {
        let (by, site) = match supplier {
            Supplier::Document(site) => ("another document", Some(*site)),
            Supplier::Patch(site) => ("a patch", Some(*site)),
            Supplier::Image(_) => ("an entry of images", None),
            Supplier::Replicas(site) => ("an entry of replicas", Some(*site)),
            Supplier::Namespace(site) => ("the namespace of a kustomization", Some(*site)),
            Supplier::Label(site) => ("a label of a kustomization", Some(*site)),
            Supplier::Annotation(site) => ("an annotation of a kustomization", Some(*site)),
            Supplier::Literal(site) => ("a literal of a generator", Some(*site)),
            Supplier::EnvLine(site) => ("a line that a generator reads", Some(*site)),
            Supplier::Content(file) => {
                let site = Site { file: *file, at: 0 };
                ("a file that a generator reads", Some(site))
            }
            Supplier::Entry(site) => ("the entry of a generator", Some(*site)),
            Supplier::Synthesised => ("kustomize itself", None),
        };
        let origin = Site {
            file: self.object.origin.file,
            at: self.origin().map_or(0, |origin| origin.at),
        };
        let at = self.router.location(site.unwrap_or(origin), way)?;
        Ok(refuse::supplied(at, by).into())
    }

    /// Returns the value of YAML that starts at a place of a kustomization.
    pub(super) fn value_at(
        &mut self,
        site: Site,
        way: &[Step],
    ) -> Result<(RepoPath, Written), Stop> {
        let at = self.own_location(site, way)?;
        let text = self.router.text(&at.path)?;
        let Some((document, way)) = text.and_then(|text| way_in(&text, site.at)) else {
            return Err(refuse::unplaceable(at).into());
        };
        let part = Part::Whole;
        Ok((
            at.path,
            Written {
                document,
                way,
                part,
            },
        ))
    }

    /// Returns where an input stands, and refuses one that is never written.
    pub(super) fn own_location(&mut self, site: Site, way: &[Step]) -> Result<Location, Stop> {
        let at = self.router.location(site, way)?;
        match self.router.is_writable(site) {
            true => Ok(at),
            false => Err(refuse::read_only(at, self.router.writable).into()),
        }
    }

    /// Says how many replicas there shall be in the entry that says it now.
    fn count(&mut self, site: Site, way: &[Step], wanted: &Value) -> Result<(), Stop> {
        if wanted.as_u64().is_none() {
            let at = self.router.location(site, way)?;
            return Err(refuse::not_sayable(at, "an entry of replicas").into());
        }
        let (file, mut written) = self.value_at(site, way)?;
        // An entry without a count is pointed at as a whole.
        if !matches!(written.way.last(), Some(Step::Key(key)) if key == "count") {
            written.way.push(Step::Key("count".to_owned()));
        }
        self.say((file, written), Says::Value(wanted.clone()));
        Ok(())
    }
}
