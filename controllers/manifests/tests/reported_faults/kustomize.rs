//! Folders that are built with kustomize.

use manifests::plan::ObjectDecision;
use manifests::{Decision, Intent, Mode, Placement};
use model::{IssueKind, Refusal, RefusalCode, Sensitivity};

use crate::support::{Bed, changed_lines, id, line_of};

const ROOT: &str = "apps/kustomization.yaml";

/// A Deployment as people write one, without a namespace and without defaults.
const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: reg.test/web:1.10 # ours
        args:
            - --fast
";

/// The Deployment as it is live.
fn live() -> String {
    WEB.replace("  name: web\nspec", "  name: web\n  namespace: demo\nspec")
}

fn config_map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: demo\ndata:\n  a: {value}\n"
    )
}

/// A document that gets its namespace from the kustomization.
fn bare(name: &str) -> String {
    config_map(name, "x").replace("  namespace: demo\n", "")
}

fn built(more: &str) -> Bed {
    Bed::new()
        .with(
            ROOT,
            &format!("namespace: demo\nresources:\n- web.yaml\n{more}"),
        )
        .with("apps/web.yaml", WEB)
}

/// Puts every new object at one template; Secrets need one of their own.
fn templates(bed: &mut Bed, template: &str) {
    let secrets = [("v1/secrets", "{namespace}/{name}.sops.yaml")];
    let read = Placement::read(secrets, Some(template), None, &Sensitivity::default());
    bed.policy.placement = read.unwrap();
}

/// Returns the one issue for which the folder is refused.
fn issue(bed: &mut Bed) -> Refusal {
    let outcome = bed.plan(&[], Mode::Inspect);
    let [issue] = outcome.folder.issues() else {
        panic!("{:#?}", outcome.folder);
    };
    issue.clone()
}

#[test]
fn b040_an_edit_through_a_build_leaves_the_indentation_of_every_list_alone() {
    let mut bed = built("");
    let fast = live().replace("- --fast\n", "- --fast\n            - --safe\n");
    assert_eq!(bed.mirror(&fast), ["+            - --safe"]);
}

#[test]
fn b045_a_tag_that_looks_like_a_number_keeps_its_quotes_in_an_entry() {
    let mut bed = built("images:\n- name: reg.test/web\n  newTag: \"1.10\"\n");
    for tag in ["1.20", "007", "1e3", "0x1F"] {
        let lines = bed.mirror(&live().replace("1.10", tag));
        assert_eq!(lines[1], format!("+  newTag: \"{tag}\""));
    }
    // What was plain is quoted where it has to be.
    let mut bed = built("images:\n- name: reg.test/web\n  newTag: v1\n");
    let lines = bed.mirror(&live().replace("1.10", "1.20"));
    assert_eq!(lines, ["-  newTag: v1", "+  newTag: \"1.20\""]);
}

#[test]
fn b048_a_file_mode_of_a_build_is_compared_by_its_value() {
    let volume = |mode: &str| {
        format!(
            "      volumes:\n      - name: v\n        secret: {{secretName: s, defaultMode: {mode}}}\n"
        )
    };
    let mut bed = built("");
    bed.put("apps/web.yaml", &format!("{WEB}{}", volume("0644")));
    let live = |mode| format!("{}{}", live(), volume(mode));
    assert_eq!(bed.mirror(&live("420")), Vec::<String>::new());
    assert_eq!(bed.mirror(&live("384")).len(), 2);
    assert!(bed.text("apps/web.yaml").contains("defaultMode: 0600"));
}

#[test]
fn b049_an_edit_through_a_build_leaves_the_other_places_of_an_anchor() {
    let mut bed = built("");
    let text = WEB
        .replace("matchLabels: {app: web}", "matchLabels: &l {app: web}")
        .replace("labels: {app: web}\n", "labels: *l\n");
    bed.put("apps/web.yaml", &text);
    assert_eq!(bed.mirror(&live()), Vec::<String>::new());
    let tiered = live().replace(
        "      labels: {app: web}",
        "      labels: {app: web, tier: x}",
    );
    bed.mirror(&tiered);
    let text = bed.text("apps/web.yaml");
    assert!(text.contains("matchLabels: &l {app: web}\n"), "{text}");
    assert_eq!(bed.mirror(&tiered), Vec::<String>::new());
}

#[test]
fn b051_a_key_that_stands_twice_in_a_build_is_refused_where_it_stands() {
    let mut bed = built("");
    let text = WEB.replace("  replicas: 1\n", "  replicas: 1\n  replicas: 2\n");
    bed.put("apps/web.yaml", &text);
    let issue = issue(&mut bed);
    let at = issue.at.unwrap();
    assert_eq!(at.path.as_str(), "apps/web.yaml");
    assert_eq!(at.line, Some(line_of(&text, "replicas: 2")));
    bed.put("apps/web.yaml", WEB);
    assert_eq!(bed.mirror(&live()), Vec::<String>::new());
}

#[test]
fn b052_a_listed_file_with_a_list_of_objects_is_refused_and_one_of_a_base_is_read() {
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}",
        bare("a").replace('\n', "\n  ")
    );
    let mut bed = Bed::new()
        .with(ROOT, "namespace: demo\nresources: [all.yaml]\n")
        .with("apps/all.yaml", &list);
    let issue = issue(&mut bed);
    assert_eq!(issue.at.unwrap().path.as_str(), "apps/all.yaml");
    assert!(issue.remedy.contains("each object"), "{}", issue.remedy);
    let mut bed = Bed::new()
        .with(ROOT, "namespace: demo\nresources: [../base]\n")
        .with("base/kustomization.yaml", "resources: [all.yaml]\n")
        .with("base/all.yaml", &list);
    assert_eq!(bed.mirror(&config_map("a", "x")), Vec::<String>::new());
    assert_eq!(bed.paths().len(), 3);
}

#[test]
fn b053_a_new_entry_is_one_line_and_the_groups_of_a_list_stay() {
    let root = "\
# The shop.
namespace: demo
resources:
    # front
    - web.yaml

    # data
    - db.yaml   # the big one
    - cache.yaml
    # rules
    - a.yaml
images: []
";
    let mut bed = Bed::new().with(ROOT, root).with("apps/web.yaml", WEB);
    for name in ["db", "cache", "a"] {
        bed.put(&format!("apps/{name}.yaml"), &bare(name));
    }
    let lines = bed.mirror(&config_map("conf", "x"));
    assert!(lines.contains(&"+    - conf.yaml".to_owned()), "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with('+')), "{lines:?}");
    assert_eq!(bed.text(ROOT).lines().count(), root.lines().count() + 1);
    let removal = Intent::Remove {
        id: id("", "configmaps", "conf"),
    };
    bed.apply(&[removal]);
    assert_eq!(bed.text(ROOT), root);
}

#[test]
fn b059_replicas_that_an_autoscaler_sets_leave_the_entry_of_a_kustomization_alone() {
    let mut bed = built("replicas:\n- name: web\n  count: 2\n");
    let scaled = |manager: &str, replicas: u32| {
        let fields = format!(
            "  namespace: demo\n  managedFields: [{{manager: {manager}, operation: Update, subresource: scale, fieldsV1: {{'f:spec': {{'f:replicas': {{}}}}}}}}]\n"
        );
        let text = live().replace("  namespace: demo\n", &fields);
        text.replace("replicas: 1", &format!("replicas: {replicas}"))
    };
    for replicas in [2, 9, 5] {
        let lines = bed.mirror(&scaled("kube-controller-manager", replicas));
        assert_eq!(lines, Vec::<String>::new());
    }
    assert_eq!(
        bed.mirror(&scaled("kubectl", 4)),
        ["-  count: 2", "+  count: 4"]
    );
}

#[test]
fn b060_what_a_build_and_the_defaults_imply_makes_no_commit() {
    let mut bed = built(
        "patches:\n- path: patch.yaml\nimages:\n- name: reg.test/web\n  digest: sha256:1111111111111111111111111111111111111111111111111111111111111111\n",
    );
    bed.put(
        "apps/patch.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers:\n      - {name: side, image: side}\n",
    );
    let live = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
  uid: 1b1f6d3c-1111-4222-8333-444455556666
  annotations: {deployment.kubernetes.io/revision: '1'}
spec:
  progressDeadlineSeconds: 600
  replicas: 1
  revisionHistoryLimit: 10
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: side
        image: side
        imagePullPolicy: Always
        resources: {}
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
      - name: web
        image: reg.test/web@sha256:1111111111111111111111111111111111111111111111111111111111111111
        imagePullPolicy: IfNotPresent
        args: [--fast]
        resources: {}
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
status: {replicas: 1}
";
    assert_eq!(bed.mirror(live), Vec::<String>::new());
}

#[test]
fn b062_a_file_that_a_template_puts_below_a_root_is_listed_with_it() {
    let mut bed = built("");
    templates(&mut bed, "extra/{name}{sensitiveSuffix}");
    let lines = bed.mirror(&config_map("conf", "x"));
    assert!(
        lines.contains(&"+- extra/conf.yaml".to_owned()),
        "{lines:?}"
    );
    assert_eq!(bed.text("apps/extra/conf.yaml"), bare("conf"));
    // What cannot be listed is not written either.
    bed.put(ROOT, &format!("{}---\n", bed.text(ROOT)));
    let refusal = bed.refused(&config_map("more", "x"));
    assert_eq!(refusal.at.unwrap().path.as_str(), ROOT);
}

#[test]
fn b063_what_a_kustomization_adds_is_never_written_into_a_document() {
    for labels in [
        "commonLabels: {team: red}\ncommonAnnotations: {note: x}\n",
        "labels:\n- pairs: {team: red}\n  includeSelectors: true\ncommonAnnotations: {note: x}\n",
    ] {
        let mut bed = built(labels);
        let live = live()
            .replace(
                "  namespace",
                "  labels: {team: red}\n  annotations: {note: x}\n  namespace",
            )
            .replace("app: web}", "app: web, team: red}")
            .replace(
                "      labels: {app",
                "      annotations: {note: x}\n      labels: {app",
            );
        assert_eq!(bed.mirror(&live), Vec::<String>::new());
        let lines = bed.mirror(&live.replace("replicas: 1", "replicas: 2"));
        assert_eq!(lines, ["-  replicas: 1", "+  replicas: 2"]);
        let refusal = bed.refused(&live.replace("  labels: {team: red}", "  labels: {team: blue}"));
        let at = refusal.at.unwrap();
        assert_eq!(at.path.as_str(), ROOT);
        assert_eq!(at.line, Some(line_of(bed.text(ROOT), "team: red")));
        assert_eq!(at.field.as_deref(), Some("metadata.labels.team"));
    }
}

#[test]
fn b065_an_edit_of_an_image_changes_the_keys_that_its_entry_has() {
    let digest = |digit: char| format!("sha256:{}", digit.to_string().repeat(64));
    let entry = |keys: &str| built(&format!("images:\n- name: reg.test/web\n{keys}"));
    let image = |image: &str| live().replace("reg.test/web:1.10", image);
    let of = |digit| format!("reg.test/web@{}", digest(digit));

    let mut bed = entry(&format!("  digest: {}\n", digest('1')));
    assert_eq!(bed.mirror(&image(&of('1'))), Vec::<String>::new());
    assert_eq!(
        bed.mirror(&image(&of('2'))),
        [
            format!("-  digest: {}", digest('1')),
            format!("+  digest: {}", digest('2'))
        ]
    );
    // A tag has no key there, and what the document says does not count.
    let refusal = bed.refused(&image("reg.test/web:2"));
    let at = refusal.at.unwrap();
    assert_eq!(at.path.as_str(), ROOT);
    assert_eq!(at.line, Some(line_of(bed.text(ROOT), "digest")));
    assert_eq!(bed.text("apps/web.yaml"), WEB);

    let mut bed = entry("  newName: mirror.test/web # near\n  newTag: '3'\n");
    assert_eq!(
        bed.mirror(&image("other.test/web:4")),
        [
            "-  newName: mirror.test/web # near",
            "-  newTag: '3'",
            "+  newName: other.test/web # near",
            "+  newTag: '4'"
        ]
    );
    let issue = issue(&mut entry("  newtag: '3'\n"));
    assert!(issue.message.starts_with("images: "), "{issue}");
    assert_eq!(issue.at.unwrap().line, Some(6));
}

#[test]
fn b066_a_folder_that_kustomize_cannot_build_is_refused_with_the_place() {
    let mut missing = built("- gone.yaml\n");
    let refusal = missing.refused(&live());
    assert_eq!(refusal.scope, model::RefusalScope::Folder);
    let refused = issue(&mut missing);
    assert_eq!(refused.issue, Some(IssueKind::UnsupportedKustomize));
    assert_eq!(refused.at.as_ref().unwrap().line, Some(4));
    assert!(refused.message.contains("gone.yaml"), "{refused}");

    let mut diamond = Bed::new()
        .with(ROOT, "resources:\n- a\n- b\n")
        .with("apps/a/kustomization.yaml", "resources: [../common]\n")
        .with("apps/b/kustomization.yaml", "resources: [../common]\n")
        .with("apps/common/kustomization.yaml", "resources: [web.yaml]\n")
        .with("apps/common/web.yaml", WEB);
    let refused = issue(&mut diamond);
    assert_eq!(refused.at.as_ref().unwrap().line, Some(3));
    assert!(refused.message.contains("web"), "{refused}");

    let mut circle = built("- sub\n");
    circle.put("apps/sub/kustomization.yaml", "resources: [..]\n");
    assert_eq!(issue(&mut circle).at.unwrap().path.as_str(), ROOT);
}

#[test]
fn b067_all_three_names_are_roots_and_two_at_once_are_refused() {
    let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
    for name in names {
        let path = format!("apps/{name}");
        let mut bed = Bed::new()
            .with(&path, "namespace: demo\nresources:\n- web.yaml\n")
            .with("apps/web.yaml", WEB);
        let lines = bed.mirror(&config_map("conf", "x"));
        assert!(lines.contains(&"+- conf.yaml".to_owned()), "{lines:?}");
        assert_eq!(bed.paths().len(), 3);
        assert_eq!(
            bed.text(&path),
            "namespace: demo\nresources:\n- web.yaml\n- conf.yaml\n"
        );
        for other in names.iter().filter(|other| **other != name) {
            let mut two = bed.clone();
            two.put(&format!("apps/{other}"), "resources: []\n");
            let issue = issue(&mut two);
            assert_eq!(issue.issue, Some(IssueKind::UnsupportedKustomize));
        }
    }
}

#[test]
fn b068_what_patches_and_generators_read_is_no_stray_file() {
    let mut bed = built(
        "patches:\n- path: patch.yaml\n  target: {kind: Deployment}\ngeneratorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: conf\n  envs: [conf.env]\n  files: [values.yaml, logo.png]\n",
    );
    let inputs = [
        (
            "apps/patch.yaml",
            "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: any}\n",
        ),
        ("apps/conf.env", "a=b\n"),
        ("apps/values.yaml", "replicas: 2\n"),
        ("apps/logo.png", "\u{1}"),
    ];
    for (path, text) in inputs {
        bed.put(path, text);
    }
    assert_eq!(bed.mirror(&live()), Vec::<String>::new());
    bed.mirror(&config_map("more", "x"));
    for (path, text) in inputs {
        assert_eq!(bed.text(path), text);
    }
}

#[test]
fn b069_an_edit_lands_in_the_overlay_or_is_refused_and_the_base_never_changes() {
    let mut bed = Bed::new()
        .with("base/kustomization.yaml", "resources: [web.yaml]\n")
        .with("base/web.yaml", WEB)
        .with("dev/kustomization.yaml", "namespace: dev\nresources: [../base]\n")
        .with(
            ROOT,
            "namespace: demo\nresources: [../base]\nimages:\n- name: reg.test/web\n  newTag: '2'\nreplicas:\n- name: web\n  count: 3\n",
        );
    let prod = live()
        .replace("1.10", "2")
        .replace("replicas: 1", "replicas: 3");
    assert_eq!(bed.mirror(&prod), Vec::<String>::new());
    let before = bed.clone();
    let lines = bed.mirror(
        &prod
            .replace("web:2", "web:4")
            .replace("replicas: 3", "replicas: 5"),
    );
    assert_eq!(lines.len(), 4);
    assert_eq!(before.text("base/web.yaml"), bed.text("base/web.yaml"));
    let armed = prod.replace(
        "        args:",
        "        env: [{name: A, value: b}]\n        args:",
    );
    let refusal = bed.refused(&armed);
    assert_eq!(refusal.code, RefusalCode::WriteBoundaryRefused);
    assert_eq!(refusal.issue, Some(IssueKind::WriteEscapesScope));
    assert_eq!(refusal.at.unwrap().path.as_str(), "base/web.yaml");
}

#[test]
fn b070_a_root_that_names_another_namespace_gets_no_object_and_a_nested_one_its_own() {
    let mut bed = Bed::new().with(ROOT, "namespace: shop\nresources: []\n");
    for written in [None, Some(true), Some(false)] {
        bed.policy.serialize_namespace = written;
        let refusal = bed.refused(&config_map("conf", "x"));
        assert_eq!(refusal.issue, Some(IssueKind::KustomizeRenderRefused));
        assert_eq!(refusal.at.unwrap().path.as_str(), ROOT);
    }
    let mut bed = Bed::new()
        .with(ROOT, "resources: [demo, shop]\n")
        .with(
            "apps/demo/kustomization.yaml",
            "namespace: demo\nresources: []\n",
        )
        .with(
            "apps/shop/kustomization.yaml",
            "namespace: shop\nresources: []\n",
        );
    templates(&mut bed, "{namespace}/{name}{sensitiveSuffix}");
    let shop = config_map("conf", "x").replace("demo", "shop");
    let intents = [bed.upsert(&config_map("conf", "x")), bed.upsert(&shop)];
    let outcome = bed.apply(&intents);
    assert_eq!(outcome.refusals().count(), 0);
    for namespace in ["demo", "shop"] {
        assert_eq!(
            bed.text(&format!("apps/{namespace}/conf.yaml")),
            bare("conf")
        );
        let root = bed.text(&format!("apps/{namespace}/kustomization.yaml"));
        assert!(root.contains("conf.yaml"), "{root}");
    }
    assert_eq!(bed.text(ROOT), "resources: [demo, shop]\n");
}

#[test]
fn b074_an_object_is_followed_to_the_list_that_it_was_moved_to() {
    let mut bed = built("- a.yaml\n").with("apps/a.yaml", &bare("a"));
    let outcome = bed.plan(&[bed.upsert(&config_map("a", "z"))], Mode::Apply);
    bed.remove("apps/a.yaml");
    bed.put("apps/sub/a.yaml", &bare("a"));
    bed.put(
        ROOT,
        "namespace: demo\nresources:\n- web.yaml\n- sub/a.yaml\n",
    );
    let before = bed.clone();
    bed.apply(&[Intent::Replay(outcome.decided)]);
    assert_eq!(changed_lines(&before, &bed), ["-  a: x", "+  a: z"]);
    let removal = Intent::Remove {
        id: id("", "configmaps", "a"),
    };
    bed.apply(&[removal]);
    assert_eq!(bed.find("apps/sub/a.yaml"), None);
    assert_eq!(bed.text(ROOT), "namespace: demo\nresources:\n- web.yaml\n");
}

#[test]
fn b077_two_namespaces_never_share_a_document_of_a_build_without_one() {
    let mut bed = Bed::new().with(ROOT, "resources: []\n");
    bed.policy.serialize_namespace = Some(false);
    let shop = config_map("conf", "x").replace("demo", "shop");
    let intents = [bed.upsert(&config_map("conf", "x")), bed.upsert(&shop)];
    let outcome = bed.apply(&intents);
    for ObjectDecision { decision, .. } in &outcome.decisions {
        let Decision::Refused(refusal) = decision else {
            panic!("{decision:?}");
        };
        assert_eq!(refusal.code, RefusalCode::MultipleSourceNamespaces);
        assert!(refusal.message.contains("demo, shop"), "{refusal}");
    }
    assert_eq!(bed.paths(), [ROOT]);
    bed.mirror(&config_map("conf", "x"));
    assert_eq!(bed.text("apps/conf.yaml"), bare("conf"));
}
