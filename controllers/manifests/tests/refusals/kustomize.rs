//! What refuses a folder for what its kustomizations say.

use model::{FileEntry, IssueKind};

use crate::row::{CONF, Row};
use crate::support::Bed;

pub(crate) const ROOT: &str = "apps/kustomization.yaml";
const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx:1.0
";
pub(crate) const OTHER: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\ndata:\n  b: x\n";

pub(crate) fn rows() -> Vec<Row> {
    let parts = [fields(), kustomizations(), entries(), documents()];
    parts.into_iter().flatten().collect()
}

/// A folder with one Deployment and one more ConfigMap, whose kustomization says more than that.
pub(crate) fn root(more: &str) -> impl Fn(&mut Bed) + use<> {
    let text = format!("namespace: demo\nresources:\n- web.yaml\n- other.yaml\n{more}\n");
    move |bed| {
        bed.put(ROOT, &text);
        bed.put("apps/web.yaml", WEB);
        bed.put("apps/other.yaml", OTHER);
    }
}

/// The usual object with a label, which the kustomization gives to all that it builds.
fn labelled(label: &str) -> String {
    CONF.replace("  name:", &format!("  labels: {{{label}}}\n  name:"))
}

pub(crate) fn files<const N: usize>(files: [(&'static str, &'static str); N]) -> impl Fn(&mut Bed) {
    move |bed| {
        for (path, text) in files {
            bed.put(path, text);
        }
    }
}

/// A kustomization that is refused for a feature.
pub(crate) fn refused(feature: &str, reason: impl Into<String>) -> Row {
    Row::folder(IssueKind::UnsupportedKustomize, reason)
        .at(ROOT)
        .says(format!("{feature}: "))
}

/// A case in which one part of the kustomization is the reason: what it says more, where that is reported, and what
/// it may say instead.
pub(crate) fn part(
    feature: &str,
    reason: &'static str,
    (given, mended): (&'static str, &'static str),
    line: &'static str,
    field: &'static str,
) -> Row {
    refused(feature, reason)
        .given(root(given))
        .line(line)
        .field(field)
        .mended(root(mended))
}

/// Fields that are known and not modelled, by their own names. An empty one says nothing.
fn fields() -> Vec<Row> {
    [
        ("buildMetadata", "[originAnnotations]", "[]"),
        ("components", "[../c]", "[]"),
        ("configurations", "[c.yaml]", "[]"),
        ("crds", "[c.json]", "[]"),
        ("generators", "[g.yaml]", "[]"),
        ("helmChartInflationGenerator", "[{chartName: x}]", "[]"),
        ("helmCharts", "[{name: x}]", "[]"),
        ("helmGlobals", "{chartHome: x}", "{}"),
        ("imageTags", "[{name: nginx, newTag: '1'}]", "[]"),
        ("namePrefix", "x-", "''"),
        ("nameSuffix", "-x", "''"),
        ("openapi", "{path: x.json}", "{}"),
        ("patchesJson6902", "[{path: p.yaml}]", "[]"),
        ("patchesStrategicMerge", "[p.yaml]", "[]"),
        ("replacements", "[{path: r.yaml}]", "[]"),
        ("secretGenerator", "[{name: s}]", "[]"),
        ("sortOptions", "{order: fifo}", ""),
        ("transformers", "[t.yaml]", "[]"),
        ("validators", "[v.yaml]", "[]"),
        ("vars", "[{name: X}]", "[]"),
    ]
    .into_iter()
    .map(|(field, given, mended)| {
        refused(field, format!("the field {field}"))
            .given(root(&format!("{field}: {given}")))
            .line(field)
            .field(field)
            .mended(root(&format!("{field}: {mended}")))
    })
    .collect()
}

/// Files that kustomize would not take for a kustomization.
fn kustomizations() -> Vec<Row> {
    vec![
        part(
            "unparseable",
            "a field that nobody knows",
            ("Images: []", "images: []"),
            "Images",
            "Images",
        ),
        part(
            "unparseable",
            "another version of the kustomization",
            (
                "apiVersion: kustomize.config.k8s.io/v1",
                "apiVersion: kustomize.config.k8s.io/v1beta1",
            ),
            "apiVersion",
            "apiVersion",
        ),
        part(
            "unparseable",
            "another kind than a kustomization",
            ("kind: ConfigMap", "kind: Kustomization"),
            "kind",
            "kind",
        ),
        part(
            "components",
            "a component",
            ("kind: Component", "kind: Kustomization"),
            "kind",
            "kind",
        ),
        part(
            "unparseable",
            "a list that is one text",
            ("bases: x", "bases: []"),
            "bases",
            "bases",
        ),
        part(
            "unparseable",
            "a label that is a number",
            ("commonLabels:\n  app: 5", "commonLabels:\n  app: '5'"),
            "app: 5",
            "commonLabels.app",
        )
        .live([&labelled("app: '5'")]),
        part(
            "unparseable",
            "a switch that is a text",
            (
                "labels:\n- pairs: {a: b}\n  includeSelectors: 'no'",
                "labels:\n- pairs: {a: b}\n  includeSelectors: false",
            ),
            "includeSelectors",
            "labels[0].includeSelectors",
        )
        .live([&labelled("a: b")]),
        part(
            "labels.fields",
            "places for labels",
            (
                "labels:\n- pairs: {a: b}\n  fields: [{path: x}]",
                "labels:\n- pairs: {a: b}",
            ),
            "fields",
            "labels[0].fields",
        )
        .live([&labelled("a: b")]),
        refused(
            "unparseable",
            "a field of a kustomization that stands twice",
        )
        .given(root("namespace: other"))
        .line("namespace: other")
        .mended(root("")),
        refused("unparseable", "a kustomization of two documents")
            .given(root("---\nnamespace: other"))
            .line("namespace: other")
            .mended(root("")),
        refused("unparseable", "a kustomization that does not parse")
            .given(root("images: [\n}"))
            .line("}")
            .mended(root("images: [\n  ]")),
        refused("unparseable", "a kustomization that says nothing")
            .given(files([(ROOT, "kind: Kustomization\n")]))
            .line("kind")
            .mended(files([(ROOT, "kind: Kustomization\nresources: []\n")])),
        refused("unparseable", "a kustomization without a word")
            .given(files([(ROOT, "# nothing yet\n")]))
            .mended(files([(ROOT, "# nothing yet\nresources: []\n")])),
        refused("unparseable", "a kustomization that is not UTF-8")
            .given(|bed| {
                let path = crate::support::path_of(ROOT);
                bed.files.put(&path, &b"namespace: \xff\n"[..]);
            })
            .mended(root("")),
        refused(
            "render-failed",
            "a base's kustomization that is a symbolic link",
        )
        .given(|bed| {
            root("- ../base")(bed);
            bed.put_entry("base/kustomization.yaml", FileEntry::Symlink);
        })
        .at("base/kustomization.yaml")
        .mended(files([("base/kustomization.yaml", "resources: []\n")])),
        refused("render-failed", "two kustomizations in one folder")
            .given(|bed| {
                root("")(bed);
                bed.put("apps/kustomization.yml", "resources: []\n");
            })
            .at("apps/kustomization.yml")
            .line("resources")
            .mended(|bed| bed.remove("apps/kustomization.yml")),
    ]
}

/// Entries that mean nothing.
fn entries() -> Vec<Row> {
    let image = |reason, texts, line, field| part("images", reason, texts, line, field);
    let count = |reason, texts, line, field| part("replicas", reason, texts, line, field);
    vec![
        image(
            "an image without a name",
            (
                "images:\n- newTag: '2'",
                "images:\n- name: nginx\n  newTag: '2'",
            ),
            "newTag",
            "images[0]",
        ),
        image(
            "an image's tag that is a number",
            (
                "images:\n- name: nginx\n  newTag: 2",
                "images:\n- name: nginx\n  newTag: '2'",
            ),
            "newTag",
            "images[0].newTag",
        ),
        image(
            "an image's key in another case",
            (
                "images:\n- name: nginx\n  newtag: '2'",
                "images:\n- name: nginx\n  newTag: '2'",
            ),
            "newtag",
            "images[0].newtag",
        ),
        image(
            "an image's suffix",
            (
                "images:\n- name: nginx\n  tagSuffix: -x",
                "images:\n- name: nginx\n  newTag: 1.0-x",
            ),
            "tagSuffix",
            "images[0].tagSuffix",
        ),
        image(
            "an image's name that is no expression",
            ("images:\n- name: 'ngin(x'", "images:\n- name: 'ngin(x)'"),
            "ngin(x",
            "images[0].name",
        ),
        count(
            "a count without a name",
            (
                "replicas:\n- count: 2",
                "replicas:\n- name: web\n  count: 2",
            ),
            "count",
            "replicas[0]",
        ),
        count(
            "a count below zero",
            (
                "replicas:\n- name: web\n  count: -1",
                "replicas:\n- name: web\n  count: 0",
            ),
            "count",
            "replicas[0].count",
        ),
        count(
            "a count that is a text",
            (
                "replicas:\n- name: web\n  count: '1'",
                "replicas:\n- name: web\n  count: 1",
            ),
            "count",
            "replicas[0].count",
        ),
        part(
            "render-failed",
            "a count for nothing that is there",
            (
                "replicas:\n- name: gone\n  count: 2",
                "replicas:\n- name: web\n  count: 2",
            ),
            "gone",
            "replicas",
        ),
    ]
}

/// Documents in and beside the build.
fn documents() -> Vec<Row> {
    let other = OTHER.replace("  name: other", "  name: other # again\n  namespace: demo");
    vec![
        Row::folder(
            IssueKind::DuplicateIdentity,
            "an object of the build in a document beside it",
        )
        .given(move |bed| {
            root("")(bed);
            bed.put("apps/unlisted.yaml", &other);
        })
        .at("apps/unlisted.yaml")
        .line("# again")
        .field("metadata.name")
        .mended(|bed| bed.remove("apps/unlisted.yaml")),
        Row::folder(
            IssueKind::DuplicateIdentity,
            "an object that two builds make of two documents",
        )
        .given(|bed| {
            for folder in ["a", "b"] {
                let root = format!("apps/{folder}/kustomization.yaml");
                bed.put(&root, "namespace: demo\nresources: [conf.yaml]\n");
                let conf = CONF
                    .replace("two", "one")
                    .replace("  namespace: demo\n", "");
                bed.put(&format!("apps/{folder}/conf.yaml"), &conf);
            }
        })
        .at("apps/b/conf.yaml")
        .line("name: conf")
        .field("metadata.name")
        .mended(|bed| {
            bed.put(
                "apps/b/kustomization.yaml",
                "namespace: shop\nresources: [conf.yaml]\n",
            );
        }),
        Row::folder(
            IssueKind::MixedManagedAllowlisted,
            "an object in a kustomization",
        )
        .given(root(&format!("---\n{CONF}")))
        .at(ROOT)
        .line("apiVersion: v1")
        .mended(root("")),
        Row::folder(
            IssueKind::ForeignSymlink,
            "a kustomization that is a symbolic link",
        )
        .given(|bed| bed.put_entry(ROOT, FileEntry::Symlink))
        .at(ROOT)
        .mended(root("")),
    ]
}
