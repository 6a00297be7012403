//! What refuses one object of a folder that is built with kustomize.

use manifests::{Intent, Placement};
use model::{IssueKind, RefusalCode, Sensitivity};

use crate::row::{CONF, Row};
use crate::support::{Bed, id};

const ROOT: &str = "apps/kustomization.yaml";
const DOCUMENT: &str = "apps/conf.yaml";

/// What a Deployment says that is live.
const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: web
        image: nginx:1.2
";

pub(crate) fn rows() -> Vec<Row> {
    let parts = [
        supplied(),
        shared(),
        generated(),
        removed(),
        texts(),
        places(),
    ];
    parts.into_iter().flatten().collect()
}

fn refused(issue: IssueKind, reason: &'static str) -> Row {
    Row::object(RefusalCode::WriteBoundaryRefused, issue, reason)
}

fn overridden(reason: &'static str) -> Row {
    refused(IssueKind::KustomizeRenderRefused, reason)
}

/// The usual object as its document says it, which the build gives its namespace.
fn document() -> String {
    let text = CONF.replace("two", "one");
    text.replace("  namespace: demo\n", "")
}

/// The folder with the usual object, whose kustomization says more than that.
fn conf(more: &str) -> impl Fn(&mut Bed) + use<> {
    let text = format!("namespace: demo\nresources:\n- conf.yaml\n{more}\n");
    move |bed| {
        bed.put(ROOT, &text);
        bed.put(DOCUMENT, &document());
    }
}

/// The folder with a Deployment, whose kustomization says more than that.
fn web(more: &str) -> impl Fn(&mut Bed) + use<> {
    let text = format!("namespace: demo\nresources:\n- web.yaml\n{more}\n");
    move |bed| {
        bed.put(ROOT, &text);
        bed.put(
            "apps/web.yaml",
            &WEB.replace('3', "1").replace("1.2", "1.0"),
        );
    }
}

/// The folder with a generated object.
fn generator(inputs: &str) -> impl Fn(&mut Bed) + use<> {
    let text = format!(
        "namespace: demo\ngeneratorOptions: {{disableNameSuffixHash: true}}\nconfigMapGenerator:\n- name: conf\n{inputs}\n"
    );
    move |bed| {
        bed.put(ROOT, &text);
        bed.put("apps/a.env", "# first\na=one\n");
        bed.put("apps/b.env", "b=x\n");
        bed.put("apps/a", "one");
    }
}

/// Values that something else than a document supplies.
fn supplied() -> Vec<Row> {
    let labelled = CONF
        .replace("two", "one")
        .replace("  name:", "  labels: {team: blue}\n  name:");
    let annotated = labelled.replace("labels", "annotations");
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata:\n";
    let patched = move |data: &'static str| {
        move |bed: &mut Bed| {
            conf("patches:\n- path: patch.yaml")(bed);
            bed.put("apps/patch.yaml", &format!("{patch}{data}"));
        }
    };
    vec![
        overridden("a value that a patch supplies")
            .given(patched("  a: zero\n"))
            .at("apps/patch.yaml")
            .line("a: zero")
            .field("data.a")
            .mended(patched("  b: zero\n"))
            .live([&format!("{CONF}  b: zero\n")]),
        overridden("a label that a kustomization supplies")
            .live([&labelled])
            .given(conf("commonLabels:\n  team: red"))
            .at(ROOT)
            .line("team: red")
            .field("metadata.labels.team")
            .mended(conf("")),
        overridden("an annotation that a kustomization supplies")
            .live([&annotated])
            .given(conf("commonAnnotations:\n  team: red"))
            .at(ROOT)
            .line("team: red")
            .field("metadata.annotations.team")
            .mended(conf("")),
        overridden("a tag that goes although an entry supplies it")
            .live([&WEB.replace(":1.2", "").replace('3', "1")])
            .given(web("images:\n- name: nginx\n  newTag: '1.1'"))
            .at(ROOT)
            .line("newTag")
            .field("spec.template.spec.containers[0].image")
            .mended(web("")),
        overridden("a count that goes although an entry supplies it")
            .live([&WEB.replace("  replicas: 3\n", "").replace("1.2", "1.0")])
            .given(web("replicas:\n- name: web\n  count: 2"))
            .at(ROOT)
            .line("count")
            .field("spec.replicas")
            .mended(web("")),
        overridden("a new object that an entry would override")
            .live([WEB])
            .given(conf("images:\n- name: nginx\n  newTag: '1.1'"))
            .at(ROOT)
            .line("newTag")
            .field("spec.template.spec.containers[0].image")
            .mended(conf("")),
        overridden("a new object that would get another namespace")
            .given(|bed| {
                web("")(bed);
                bed.put(ROOT, "namespace: shop\nresources: [web.yaml]\n");
            })
            .at(ROOT)
            .mended(web("")),
        refused(IssueKind::WriteEscapesScope, "a value of a base elsewhere")
            .given(|bed| {
                bed.put(ROOT, "namespace: demo\nresources: [../base]\n");
                bed.put("base/kustomization.yaml", "resources: [conf.yaml]\n");
                bed.put("base/conf.yaml", &document());
            })
            .at("base/conf.yaml")
            .line("a: one")
            .field("data.a")
            .mended(conf("")),
        Row::object(
            RefusalCode::RenderDoesNotMatchLive,
            IssueKind::RenderDoesNotMatchLive,
            "a token in an entry that an applier fills in",
        )
        .live([WEB])
        .given(web("images:\n- name: nginx\n  newTag: ${TAG}"))
        .at(ROOT)
        .line("${TAG}")
        .field("spec.template.spec.containers[0].image")
        .mended(web("images:\n- name: nginx\n  newTag: '1.1'")),
    ]
}

/// Inputs that several objects or builds share.
fn shared() -> Vec<Row> {
    const TWO: &str = "      - name: side\n        image: nginx:1.3\n";
    let two = |given: &'static str, mended: &'static str| {
        let text = |more: &'static str| {
            move |bed: &mut Bed| {
                web(more)(bed);
                let text = format!("{WEB}{TWO}")
                    .replace("1.2", "1.0")
                    .replace("1.3", "1.0");
                bed.put("apps/web.yaml", &text);
            }
        };
        (text(given), text(mended))
    };
    let (given, mended) = two("images:\n- name: nginx\n  newTag: '1.1'", "");
    let builds = |second: &'static str| {
        move |bed: &mut Bed| {
            bed.put("apps/base/kustomization.yaml", "resources: [conf.yaml]\n");
            bed.put("apps/base/conf.yaml", &document());
            bed.put(
                "apps/a/kustomization.yaml",
                "namespace: demo\nresources: [../base]\n",
            );
            bed.put("apps/b/kustomization.yaml", second);
        }
    };
    let elsewhere = |second: &'static str| {
        move |bed: &mut Bed| {
            conf("")(bed);
            bed.put("one/kustomization.yaml", "resources: [../apps]\n");
            bed.put("two/kustomization.yaml", second);
        }
    };
    vec![
        refused(
            IssueKind::WriteFanIn,
            "two containers that want two values of one entry",
        )
        .live([&format!("{WEB}{TWO}")])
        .given(given)
        .at(ROOT)
        .line("newTag")
        .mended(mended),
        refused(IssueKind::WriteFanIn, "a document of two builds")
            .given(builds("namespace: shop\nresources: [../base]\n"))
            .at("apps/b/kustomization.yaml")
            .mended(builds("namespace: shop\nresources: []\n")),
        refused(
            IssueKind::WriteFanIn,
            "a folder that two builds elsewhere read",
        )
        .given(elsewhere("resources: [../apps]\n"))
        .at("two/kustomization.yaml")
        .mended(elsewhere("resources: []\n")),
    ]
}

/// Values of generated objects.
fn generated() -> Vec<Row> {
    let new_key = format!("{CONF}  new: x\n");
    let only_key = CONF.replace("a: two", "new: x");
    let several = CONF.replace("a: two", "a: |\n    two\n    lines");
    let labelled = CONF
        .replace("two", "one")
        .replace("  name:", "  labels: {a: b}\n  name:");
    let binary = format!("{}binaryData: {{x: aGk=}}\n", CONF.replace("two", "one"));
    vec![
        refused(
            IssueKind::UnplaceableEdit,
            "a new key and several files of lines",
        )
        .live([&format!("{new_key}  b: x\n")])
        .given(generator("  envs: [a.env, b.env]"))
        .at(ROOT)
        .line("name: conf")
        .field("data.new")
        .mended(generator("  envs: [a.env]\n  literals: [b=x]")),
        refused(IssueKind::UnplaceableEdit, "a new key and files only")
            .live([&new_key])
            .given(generator("  files: [a]"))
            .at(ROOT)
            .line("name: conf")
            .field("data.new")
            .mended(generator("  files: [a]\n  literals: [new=y]")),
        overridden("a key that goes although a file supplies it")
            .live([&only_key])
            .given(generator("  files: [a]\n  literals: [new=x]"))
            .at("apps/a")
            .line("one")
            .field("data.a")
            .mended(generator("  literals: [a=one, new=x]")),
        overridden("a value of several lines for a line")
            .live([&several])
            .given(generator("  envs: [a.env]"))
            .at("apps/a.env")
            .line("a=one")
            .field("data.a")
            .mended(generator("  files: [a]")),
        overridden("a control character for a literal")
            .live([&CONF.replace("two", "\"\\x7f\"")])
            .given(generator("  literals:\n  - a=one"))
            .at(ROOT)
            .line("a=one")
            .field("data.a")
            .mended(generator("  files: [a]")),
        overridden("a new value of several lines for a file of lines")
            .live([&CONF.replace("a: two", "a: one\n  new: |\n    two\n    lines")])
            .given(generator("  envs: [a.env]"))
            .at(ROOT)
            .line("name: conf")
            .field("data.new")
            .mended(generator("  literals: [a=one]")),
        overridden("a label of a generated object")
            .live([&labelled])
            .given(generator("  literals: [a=one]"))
            .at(ROOT)
            .line("name: conf")
            .field("metadata.labels")
            .mended(conf("")),
        overridden("bytes of a generated object")
            .live([&binary])
            .given(generator("  literals: [a=one]"))
            .at(ROOT)
            .line("name: conf")
            .field("binaryData")
            .mended(conf("")),
        refused(
            IssueKind::WriteEscapesScope,
            "an input of a generator elsewhere",
        )
        .given(|bed| {
            generator("  envs: [../shared/a.env]")(bed);
            bed.put("shared/a.env", "# all\na=one\n");
        })
        .at("shared/a.env")
        .line("a=one")
        .field("data.a")
        .mended(generator("  envs: [a.env]")),
    ]
}

/// Objects that go while something is only for them.
fn removed() -> Vec<Row> {
    let two = |more: &str| {
        let text = format!("namespace: demo\nresources: [conf.yaml, web.yaml]\n{more}");
        move |bed: &mut Bed| {
            bed.put(ROOT, &text);
            bed.put(DOCUMENT, &document());
            bed.put("apps/web.yaml", WEB);
        }
    };
    let web_goes = || Intent::Remove {
        id: id("apps", "deployments", "web"),
    };
    let given = two("patches: [{path: patch.yaml}]\n");
    let patched = move |bed: &mut Bed| {
        given(bed);
        let patch = WEB.replace("replicas: 3", "paused: true");
        bed.put("apps/patch.yaml", patch.split("  template").next().unwrap());
    };
    let given = two("");
    let unpatched = move |bed: &mut Bed| {
        given(bed);
        bed.remove("apps/patch.yaml");
    };
    vec![
        refused(
            IssueKind::OrphansBuildEntry,
            "an object that goes while a patch is only for it",
        )
        .also(web_goes)
        .given(patched)
        .at(ROOT)
        .line("patch.yaml")
        .field("patches")
        .mended(unpatched),
    ]
}

/// Texts that cannot be edited.
fn texts() -> Vec<Row> {
    let sealed = "sops:\n  mac: ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]\n";
    vec![
        refused(
            IssueKind::NonEditableDocument,
            "a kustomization with an empty document behind it",
        )
        .given(web("---"))
        .at(ROOT)
        .field("resources")
        .mended(web("")),
        refused(
            IssueKind::NonEditableDocument,
            "an object of a build in another version than it was read in",
        )
        .live([WEB])
        .given(|bed| {
            web("")(bed);
            let text = WEB.replace("apps/v1", "apps/v1beta1").replace(": 3", ": 1");
            bed.put("apps/web.yaml", &text);
        })
        .at("apps/web.yaml")
        .line("apiVersion")
        .field("apiVersion")
        .mended(web("")),
        refused(
            IssueKind::PlaintextSensitive,
            "an encrypted document of a kind that is not sensitive in a build",
        )
        .given(move |bed| {
            conf("")(bed);
            bed.put(DOCUMENT, &format!("{}{sealed}", document()));
        })
        .at(DOCUMENT)
        .line("apiVersion")
        .mended(conf("")),
    ]
}

/// New objects without a place.
fn places() -> Vec<Row> {
    let roots = |bed: &mut Bed| {
        for folder in ["a", "b"] {
            let path = format!("apps/{folder}/kustomization.yaml");
            bed.put(&path, "resources: []\n");
        }
    };
    let templates = |template: &'static str| {
        move |bed: &mut Bed| {
            let by_type = [("v1/configmaps", template)];
            let read = Placement::read(by_type, None, Some(true), &Sensitivity::default());
            bed.policy.placement = read.unwrap();
            bed.put("apps/sub/kustomization.yaml", "resources: []\n");
        }
    };
    vec![
        Row::placement(RefusalCode::AmbiguousLayout, "a new object and two builds")
            .given(roots)
            .mended(|bed| bed.remove("apps/b/kustomization.yaml")),
        Row::placement(
            RefusalCode::UnrenderedPlacement,
            "a template that leads out of the folder that is built",
        )
        .given(templates("{name}.yaml"))
        .at("apps/conf.yaml")
        .mended(templates("sub/{name}.yaml")),
        Row::object(
            RefusalCode::IgnoreShadowsManagedPath,
            IssueKind::IgnoreShadowsManaged,
            "a listed file that the ignore rules hide",
        )
        .given(|bed| {
            conf("")(bed);
            bed.put("apps/.gittargetignore", "# ours\nconf.yaml\n");
        })
        .at(DOCUMENT)
        .mended(|bed| bed.remove("apps/.gittargetignore")),
    ]
}
