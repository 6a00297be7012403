//! Repositories with a few kustomizations on top of each other, made up by a grammar.

use super::archive::Files;
use super::kinds::{KINDS, Kind, NAMES, NAMESPACES, Taste};
use super::written::Written;
use crate::dice::Dice;

/// The folder to build in every one of them.
pub const ROOT: &str = "root";

const KEYS: [&str; 3] = ["a", "team", "app.kubernetes.io/name"];

/// Makes the files of a repository.
pub fn repository(dice: &mut Dice) -> Files {
    let bases = dice.below(4);
    let mut files = Files::new();
    // The folders that no kustomization reads yet, with the objects below them.
    let mut unread: Vec<(String, Vec<Known>)> = Vec::new();
    // From the lowest base up, so that a kustomization knows what is below it.
    for at in (0..=bases).rev() {
        let folder = match at {
            0 => ROOT.to_owned(),
            at => format!("base{at}"),
        };
        let mut made = Kustomization {
            dice,
            folder: &folder,
            files: &mut files,
            entries: Vec::new(),
        };
        let is_root = at == 0;
        let below = if is_root || made.dice.once_in(2) {
            std::mem::take(&mut unread)
        } else {
            Vec::new()
        };
        let (below, objects): (Vec<_>, Vec<_>) = below.into_iter().unzip();
        let mut objects = objects.concat();
        made.bases(&below);
        made.resources(&mut objects, bases == 0);
        made.generators();
        made.patches(&objects);
        made.entries(&objects);
        made.write();
        unread.push((folder, objects));
    }
    files
}

/// An object by what patches and entries name it by.
#[derive(Clone)]
struct Known {
    kind: Kind,
    name: &'static str,
    namespace: Option<&'static str>,
}

/// A kustomization in the making.
struct Kustomization<'m> {
    dice: &'m mut Dice,
    folder: &'m str,
    files: &'m mut Files,
    entries: Vec<(String, Written)>,
}

impl Kustomization<'_> {
    fn put(&mut self, key: &str, value: Written) {
        let at = self.dice.below(self.entries.len() + 1);
        self.entries.insert(at, (key.to_owned(), value));
    }

    fn file(&mut self, name: &str, content: String) {
        let path = format!("{}/{name}", self.folder);
        self.files.insert(path, content.into_bytes());
    }

    fn bases(&mut self, below: &[String]) {
        let bases = below
            .iter()
            .map(|below| Written::bare(&format!("../{below}")));
        let bases = Written::List(bases.collect());
        self.entries.push(("resources".to_owned(), bases));
    }

    fn resources(&mut self, objects: &mut Vec<Known>, is_alone: bool) {
        let count = self.dice.below(4) + usize::from(is_alone);
        for at in 0..count {
            let mut text = String::new();
            for document in 0..=self.dice.below(2) {
                if document > 0 {
                    text.push_str("---\n");
                }
                let known = Known {
                    kind: self.dice.one(&KINDS),
                    name: self.dice.one(&NAMES),
                    namespace: self.dice.once_in(3).then(|| self.dice.one(&NAMESPACES)),
                };
                let mut object = known.kind.object(self.dice, Taste::Tame, known.name);
                place(&mut object, known.namespace);
                text.push_str(&object.yaml());
                objects.push(known);
            }
            let name = format!("{at}.yaml");
            self.file(&name, text);
            if let Some((_, Written::List(resources))) = self.entries.first_mut() {
                resources.push(Written::bare(&name));
            }
        }
    }

    fn generators(&mut self) {
        if !self.dice.once_in(3) {
            return;
        }
        let name = self.dice.one(&["made", "also", "more", "config"]);
        let mut entry = Written::map([("name", Written::bare(name))]);
        if self.dice.once_in(2) {
            let items = ["a=1", "b='two'", "c= three "].map(Written::quoted);
            entry.set("literals", Written::List(items.into()));
        }
        if self.dice.once_in(2) {
            self.file("one.env", "D=4\n# five\nF=\"6\"\n".to_owned());
            entry.set("envs", Written::List(vec![Written::bare("one.env")]));
        }
        if self.dice.once_in(2) {
            self.file("file.txt", "some\ntext\n".to_owned());
            entry.set("files", Written::List(vec![Written::bare("key=file.txt")]));
        }
        if self.dice.once_in(3) {
            entry.set("namespace", Written::bare("space"));
        }
        self.put("configMapGenerator", Written::List(vec![entry]));
        let mut options = Written::map([("disableNameSuffixHash", Written::plain("true", true))]);
        if self.dice.once_in(3) {
            options.set("labels", Written::map([("made", Written::bare("here"))]));
        }
        self.put("generatorOptions", options);
    }

    fn patches(&mut self, objects: &[Known]) {
        let mut patches = Vec::new();
        for at in 0..self.dice.below(3) {
            let Some(known) = self.dice.pick(objects).cloned() else {
                return;
            };
            let name = format!("patch{at}.yaml");
            let mut patch = known.kind.patch(self.dice, Taste::Tame, known.name);
            let mut entry = Written::map([("path", Written::bare(&name))]);
            let is_targeted = self.dice.once_in(3);
            if is_targeted {
                let mut target = Written::map([("kind", Written::bare(known.kind.kind))]);
                if self.dice.once_in(2) {
                    target.set(
                        "name",
                        Written::quoted(self.dice.one(&["one|two", "t.*", "one"])),
                    );
                }
                entry.set("target", target);
            } else {
                place(&mut patch, known.namespace);
            }
            let mut text = patch.yaml();
            let other = self.dice.pick(objects).cloned();
            let is_followed = self.dice.once_in(if is_targeted { 50 } else { 4 });
            if let Some(other) = other.filter(|_| is_followed) {
                let mut patch = other.kind.patch(self.dice, Taste::Tame, other.name);
                place(&mut patch, other.namespace);
                text.push_str("---\n");
                text.push_str(&patch.yaml());
            }
            self.file(&name, text);
            patches.push(entry);
        }
        if !patches.is_empty() {
            self.put("patches", Written::List(patches));
        }
    }

    fn entries(&mut self, objects: &[Known]) {
        if self.dice.once_in(4) {
            let namespace = self.dice.one(&["space", "new"]);
            self.put("namespace", Written::bare(namespace));
        }
        for key in ["commonLabels", "commonAnnotations"] {
            if self.dice.once_in(5) {
                let pairs = self.pairs();
                self.put(key, pairs);
            }
        }
        if self.dice.once_in(3) {
            let labels = (0..=self.dice.below(2)).map(|_| {
                let mut entry = Written::map([("pairs", self.pairs())]);
                let flag = self.dice.one(&["", "includeSelectors", "includeTemplates"]);
                if !flag.is_empty() {
                    entry.set(flag, Written::plain("true", true));
                }
                entry
            });
            let labels = Written::List(labels.collect());
            self.put("labels", labels);
        }
        if self.dice.once_in(2) {
            let images = (0..=self.dice.below(2)).map(|_| self.image());
            let images = Written::List(images.collect());
            self.put("images", images);
        }
        let scaled = objects
            .iter()
            .find(|known| matches!(known.kind.kind, "Deployment" | "StatefulSet"));
        if let Some(known) = scaled
            && self.dice.once_in(2)
        {
            let entry = Written::map([
                ("name", Written::bare(known.name)),
                ("count", Written::number(self.dice.below(4))),
            ]);
            self.put("replicas", Written::List(vec![entry]));
        }
    }

    fn pairs(&mut self) -> Written {
        let mut pairs = Written::map([]);
        for _ in 0..=self.dice.below(2) {
            let value = Written::bare(self.dice.one(&["x", "z", "text"]));
            pairs.set(self.dice.one(&KEYS), value);
        }
        pairs
    }

    fn image(&mut self) -> Written {
        const DIGEST: &str =
            "sha256:9999999999999999999999999999999999999999999999999999999999999999";
        let names = [
            "web",
            "db",
            "busybox",
            "we.",
            "registry.example.com/team/web",
            "front",
        ];
        let mut entry = Written::map([("name", Written::quoted(self.dice.one(&names)))]);
        if self.dice.once_in(2) {
            entry.set(
                "newName",
                Written::bare(self.dice.one(&["front", "registry.example.com/w"])),
            );
        }
        if self.dice.once_in(2) {
            entry.set(
                "newTag",
                Written::quoted(self.dice.one(&["2", "v3", "latest"])),
            );
        }
        if self.dice.once_in(4) {
            entry.set("digest", Written::bare(DIGEST));
        }
        entry
    }

    fn write(self) {
        let Self {
            folder,
            files,
            entries,
            ..
        } = self;
        let path = format!("{folder}/kustomization.yaml");
        files.insert(path, Written::Map(entries).yaml().into_bytes());
    }
}

/// Gives an object a namespace.
fn place(object: &mut Written, namespace: Option<&str>) {
    let (Some(namespace), Written::Map(fields)) = (namespace, object) else {
        return;
    };
    if let Some((_, metadata)) = fields.iter_mut().find(|(key, _)| key == "metadata") {
        metadata.set("namespace", Written::bare(namespace));
    }
}
