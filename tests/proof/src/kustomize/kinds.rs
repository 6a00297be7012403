//! Objects of many kinds, and patches for them, made up by a grammar.

use serde_json::Value;

use super::written::Written;
use crate::dice::Dice;

/// A kind and what its objects can hold.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The fields beside what every object has.
    fields: Fields,
}

/// How far from what people write an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taste {
    /// Everything is what its field is for.
    Tame,
    /// Nulls, numbers and booleans stand anywhere, and elements lack what tells them apart.
    Wild,
}

type Fields = &'static [(&'static str, Grammar)];

/// What can stand at some place of a kind.
#[derive(Debug, Clone, Copy)]
enum Grammar {
    Word,
    Number,
    /// The name of an object that may be there.
    Name,
    /// A namespace that objects may have.
    Namespace,
    /// The kind of a subject.
    Subject,
    Image,
    /// A mapping with any keys and texts only, as kustomize wants them in labels and annotations.
    Texts,
    /// A mapping with any keys.
    Words,
    /// A mapping with some of these fields.
    Object(Fields),
    /// A list of objects that each have the first field, which tells them apart, and some of the others.
    Listed(Fields),
    /// A list of words.
    List,
}

use Grammar::{Image, List, Listed, Name, Namespace, Number, Object, Subject, Texts, Word, Words};

const CONTAINER: Fields = &[
    ("name", Word),
    ("image", Image),
    ("args", List),
    ("env", Listed(&[("name", Word), ("value", Word)])),
    (
        "ports",
        Listed(&[("containerPort", Number), ("name", Word)]),
    ),
    (
        "volumeMounts",
        Listed(&[("mountPath", Word), ("name", Word)]),
    ),
    ("resources", Object(&[("limits", Words)])),
];
const POD: Fields = &[
    ("containers", Listed(CONTAINER)),
    ("initContainers", Listed(CONTAINER)),
    ("volumes", Listed(&[("name", Word), ("emptyDir", Words)])),
    ("imagePullSecrets", Listed(&[("name", Word)])),
    ("tolerations", Listed(&[("key", Word), ("operator", Word)])),
    ("hostAliases", Listed(&[("ip", Word), ("hostnames", List)])),
    ("topologySpreadConstraints", Listed(SPREAD)),
    ("nodeSelector", Words),
    ("serviceAccountName", Word),
];
const SPREAD: Fields = &[
    ("topologyKey", Word),
    ("whenUnsatisfiable", Word),
    ("maxSkew", Number),
    ("labelSelector", SELECTOR),
];
const SELECTOR: Grammar = Object(&[("matchLabels", Texts)]);
const METADATA: Grammar = Object(&[("labels", Texts), ("annotations", Texts)]);
const TEMPLATE: Grammar = Object(&[("metadata", METADATA), ("spec", Object(POD))]);
const WORKLOAD: Fields = &[(
    "spec",
    Object(&[
        ("replicas", Number),
        ("selector", SELECTOR),
        ("template", TEMPLATE),
    ]),
)];
const STATEFUL: Fields = &[(
    "spec",
    Object(&[
        ("replicas", Number),
        ("template", TEMPLATE),
        (
            "volumeClaimTemplates",
            Listed(&[("metadata", METADATA), ("spec", Words)]),
        ),
    ]),
)];
const JOB: Grammar = Object(&[("backoffLimit", Number), ("template", TEMPLATE)]);
const CRON_JOB: Fields = &[(
    "spec",
    Object(&[
        ("schedule", Word),
        (
            "jobTemplate",
            Object(&[("metadata", METADATA), ("spec", JOB)]),
        ),
    ]),
)];
const SERVICE: Fields = &[(
    "spec",
    Object(&[("selector", Texts), ("ports", Listed(PORT))]),
)];
const PORT: Fields = &[("port", Number), ("name", Word), ("targetPort", Number)];
const BINDING: Fields = &[
    ("roleRef", Object(&[("kind", Word), ("name", Name)])),
    (
        "subjects",
        Listed(&[("name", Name), ("kind", Subject), ("namespace", Namespace)]),
    ),
];
const SERVICE_OF: Grammar = Object(&[("name", Name), ("namespace", Namespace), ("port", Number)]);
const CLIENT: Grammar = Object(&[("url", Word), ("service", SERVICE_OF)]);
const HOOKS: Fields = &[(
    "webhooks",
    Listed(&[("name", Word), ("rules", List), ("clientConfig", CLIENT)]),
)];
const API_SERVICE: Fields = &[("spec", Object(&[("group", Word), ("service", SERVICE_OF)]))];
const CONVERSION: Grammar = Object(&[
    ("strategy", Word),
    ("webhook", Object(&[("clientConfig", CLIENT)])),
]);
const DEFINITION: Fields = &[(
    "spec",
    Object(&[("group", Word), ("conversion", CONVERSION)]),
)];
const PEERS: Grammar = Listed(&[("podSelector", SELECTOR), ("namespaceSelector", SELECTOR)]);
const POLICY: Fields = &[(
    "spec",
    Object(&[
        ("podSelector", SELECTOR),
        ("ingress", Listed(&[("from", PEERS)])),
        ("egress", Listed(&[("to", PEERS)])),
    ]),
)];
const ACCOUNT: Fields = &[
    ("secrets", Listed(&[("name", Word)])),
    ("imagePullSecrets", Listed(&[("name", Word)])),
];
const SCALER: Fields = &[("spec", Object(&[("metrics", Listed(&[("type", Word)]))]))];

const fn kind(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    fields: Fields,
) -> Kind {
    Kind {
        group,
        version,
        kind,
        fields,
    }
}

const RBAC: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";
const RULES: Fields = &[("rules", Listed(&[("verbs", List)]))];

/// The kinds of which objects are made up.
pub const KINDS: [Kind; 24] = [
    kind("apps", "v1", "Deployment", WORKLOAD),
    kind("apps", "v1", "ReplicaSet", WORKLOAD),
    kind("apps", "v1", "DaemonSet", WORKLOAD),
    kind("apps", "v1", "StatefulSet", STATEFUL),
    kind("batch", "v1", "Job", &[("spec", JOB)]),
    kind("batch", "v1", "CronJob", CRON_JOB),
    kind("", "v1", "Pod", &[("spec", Object(POD))]),
    kind("", "v1", "ConfigMap", &[("data", Words)]),
    kind("", "v1", "Service", SERVICE),
    kind("", "v1", "ServiceAccount", ACCOUNT),
    kind("", "v1", "Namespace", &[]),
    kind("", "v1", "PersistentVolumeClaim", &[("spec", Words)]),
    kind(RBAC, "v1", "Role", RULES),
    kind(RBAC, "v1", "ClusterRole", RULES),
    kind(RBAC, "v1", "RoleBinding", BINDING),
    kind(RBAC, "v1", "ClusterRoleBinding", BINDING),
    kind(ADMISSION, "v1", "ValidatingWebhookConfiguration", HOOKS),
    kind(ADMISSION, "v1", "MutatingWebhookConfiguration", HOOKS),
    kind("apiregistration.k8s.io", "v1", "APIService", API_SERVICE),
    kind(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        DEFINITION,
    ),
    kind("networking.k8s.io", "v1", "NetworkPolicy", POLICY),
    kind(
        "policy",
        "v1",
        "PodDisruptionBudget",
        &[("spec", Object(&[("selector", SELECTOR)]))],
    ),
    kind("example.com", "v1", "Widget", WORKLOAD),
    kind("autoscaling", "v2", "HorizontalPodAutoscaler", SCALER),
];

/// Names that objects share, so that entries and references meet them.
pub const NAMES: [&str; 8] = [
    "one", "two", "three", "four", "five", "six", "seven", "default",
];

/// Namespaces that objects share.
pub const NAMESPACES: [&str; 2] = ["space", "other"];

impl Kind {
    /// Returns the version as documents write it, with the group before it.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Makes an object with a name.
    pub fn object(&self, dice: &mut Dice, taste: Taste, name: &str) -> Written {
        self.make(dice, taste, name, false)
    }

    /// Makes a patch for the object with a name.
    pub fn patch(&self, dice: &mut Dice, taste: Taste, name: &str) -> Written {
        let mut patch = self.make(dice, taste, name, true);
        if dice.once_in(15) {
            patch.set("$patch", Written::bare(dice.one(&ORDERS)));
        }
        patch
    }

    fn make(&self, dice: &mut Dice, taste: Taste, name: &str, is_patch: bool) -> Written {
        let mut maker = Maker {
            dice,
            taste,
            is_patch,
        };
        let mut object = Written::map([
            ("apiVersion", Written::bare(&self.api_version())),
            ("kind", Written::bare(self.kind)),
        ]);
        let mut metadata = Written::map([("name", Written::bare(name))]);
        let fields = [
            ("labels", Texts),
            ("annotations", Texts),
            ("finalizers", List),
        ];
        for (field, grammar) in fields {
            if maker.dice.once_in(3) {
                let value = maker.value(grammar);
                metadata.set(field, value);
            }
        }
        object.set("metadata", metadata);
        let Written::Map(fields) = maker.object(self.fields) else {
            return object;
        };
        for (field, value) in fields {
            object.set(&field, value);
        }
        object
    }
}

const ORDERS: [&str; 3] = ["delete", "replace", "merge"];

/// Images as people write them.
const IMAGES: [&str; 10] = [
    "web",
    "web:1",
    "web:1.2.3-alpine",
    "registry.example.com/team/web:1",
    "registry.example.com:5000/web",
    "registry.example.com:5000/web:1",
    "web@sha256:0123456789012345678901234567890123456789012345678901234567890123",
    "web:1@sha256:0123456789012345678901234567890123456789012345678901234567890123",
    "db:14",
    "busybox",
];

struct Maker<'d> {
    dice: &'d mut Dice,
    taste: Taste,
    is_patch: bool,
}

impl Maker<'_> {
    fn value(&mut self, grammar: Grammar) -> Written {
        if self.is_null(grammar) {
            // Kustomize makes an empty text of nothing where what is around it stands in a flow.
            let null = match self.taste {
                Taste::Tame => self.dice.one(&["null", "~"]),
                Taste::Wild => self.dice.one(&["null", "~", ""]),
            };
            return Written::plain(null, Value::Null);
        }
        match grammar {
            Word => self.word(),
            Name => Written::bare(self.dice.one(&NAMES)),
            Namespace => Written::bare(self.dice.one(&NAMESPACES)),
            Subject => Written::bare(self.dice.one(&["ServiceAccount", "User", "Group"])),
            Number => self.number(),
            Image => Written::bare(self.dice.one(&IMAGES)),
            Texts => {
                let mut texts = Written::map([]);
                for _ in 0..=self.dice.below(2) {
                    let text = Written::quoted(self.dice.one(&["x", "80", "true"]));
                    texts.set(self.dice.one(&["a", "b", "c", "d"]), text);
                }
                texts
            }
            Words => {
                let mut words = Written::map([]);
                for _ in 0..self.dice.below(4) {
                    let value = self.value(Word);
                    words.set(self.dice.one(&["a", "b", "c", "d"]), value);
                }
                self.order(words)
            }
            Object(fields) => {
                let object = self.object(fields);
                self.order(object)
            }
            Listed(fields) => self.listed(fields),
            List => {
                let words = (0..self.dice.below(4)).map(|_| self.word());
                Written::List(words.collect())
            }
        }
    }

    fn is_null(&mut self, grammar: Grammar) -> bool {
        let times = match (self.taste, self.is_patch) {
            _ if matches!(grammar, Texts) => return false,
            (Taste::Tame, false) => return false,
            (Taste::Tame, true) if matches!(grammar, Name | Namespace | Subject) => return false,
            (Taste::Tame, true) => 25,
            (Taste::Wild, false) => 25,
            (Taste::Wild, true) => 10,
        };
        self.dice.once_in(times)
    }

    fn object(&mut self, fields: Fields) -> Written {
        let mut object = Written::map([]);
        for (field, grammar) in fields {
            if !self.dice.once_in(3) {
                let value = self.value(*grammar);
                let value = if self.taste == Taste::Tame && self.dice.once_in(12) {
                    Written::Flow(Box::new(value))
                } else {
                    value
                };
                object.set(field, value);
            }
        }
        object
    }

    fn listed(&mut self, fields: Fields) -> Written {
        let (key, grammar) = fields[0];
        let mut elements = Vec::new();
        let mut taken = Vec::new();
        for _ in 0..self.dice.below(4) {
            let mut element = self.object(fields);
            let text = match grammar {
                Number => self.number(),
                Object(_) | List | Listed(_) | Name => self.value(grammar),
                _ => Written::bare(self.dice.one(&["x", "y", "z"])),
            };
            if self.taste == Taste::Tame && taken.contains(&text) {
                continue;
            }
            taken.push(text.clone());
            if self.taste == Taste::Tame || !self.dice.once_in(100) {
                element.set(key, text);
            }
            if key.ends_with("ort") && self.dice.once_in(3) {
                element.set("protocol", Written::bare(self.dice.one(&["TCP", "UDP"])));
            }
            elements.push(self.order(element));
        }
        if self.is_patch && self.dice.once_in(10) {
            let at = self.dice.below(elements.len() + 1);
            let order = Written::bare(self.dice.one(&ORDERS));
            elements.insert(at, Written::map([("$patch", order)]));
        }
        Written::List(elements)
    }

    /// Lets a mapping of a patch order something, now and then.
    fn order(&mut self, mut mapping: Written) -> Written {
        let times = match self.taste {
            Taste::Tame => 40,
            Taste::Wild => 12,
        };
        if self.is_patch && self.dice.once_in(times) {
            mapping.set("$patch", Written::bare(self.dice.one(&ORDERS)));
        }
        mapping
    }

    fn word(&mut self) -> Written {
        match self.dice.below(8) {
            0 if self.taste == Taste::Wild => self.number(),
            1 if self.taste == Taste::Wild => Written::plain("true", true),
            2 | 3 => Written::quoted(self.dice.one(&["x", "8080", "true", "two words", ""])),
            _ => Written::bare(self.dice.one(&["x", "y", "z", "w"])),
        }
    }

    fn number(&mut self) -> Written {
        Written::number(self.dice.one(&[80, 81, 443]))
    }
}
