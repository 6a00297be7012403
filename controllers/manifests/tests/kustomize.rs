//! What a plan makes of kustomize folders: live objects go to the inputs that supply them, and come and go with the
//! lists that name them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test reports a failure by panicking"
)]

mod support;

use manifests::{Decision, Intent, Placement, PruneMode};
use model::{FolderPath, IssueKind, RefusalCode, ResourceId, Sensitivity};
use support::{Bed, changed_lines, decision, id};

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web # the shop\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - name: web\n        image: nginx:1.0\n";

/// The live Deployment.
fn web(replicas: u32, image: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: demo\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers:\n      - name: web\n        image: {image}\n"
    )
}

fn config(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: demo\ndata:\n  key: {value}\n"
    )
}

/// A folder that is one kustomization with one Deployment.
fn root(more: &str) -> Bed {
    let kustomization = format!("# of the shop\nnamespace: demo\nresources:\n- web.yaml\n{more}");
    Bed::new()
        .with("apps/kustomization.yaml", &kustomization)
        .with("apps/web.yaml", WEB)
}

/// An overlay over a base that is outside of the folder.
fn overlay(more: &str) -> Bed {
    let kustomization = format!("namespace: demo\nresources:\n- ../base\n{more}");
    Bed::new()
        .with("apps/kustomization.yaml", &kustomization)
        .with("base/kustomization.yaml", "resources: [web.yaml]\n")
        .with("base/web.yaml", WEB)
}

fn removal(id: ResourceId) -> Intent {
    Intent::Remove { id }
}

fn deployment() -> ResourceId {
    id("apps", "deployments", "web")
}

fn with_kustomize(mut bed: Bed) -> Bed {
    let none: [(&str, &str); 0] = [];
    let read = Placement::read(none, None, Some(true), &Sensitivity::default());
    bed.policy.placement = read.unwrap();
    bed
}

#[test]
fn ix_7_a_document_is_the_object_that_it_is_built_to() {
    let mut bed = root("");
    assert_eq!(bed.mirror(&web(1, "nginx:1.0")), Vec::<String>::new());
    assert_eq!(
        bed.mirror(&web(3, "nginx:1.0")),
        ["-  replicas: 1", "+  replicas: 3"]
    );
}

#[test]
fn ov_2_a_value_goes_to_the_entry_that_supplies_it() {
    let mut bed = root(
        "images:\n- name: nginx # pinned\n  newTag: '1.1'\nreplicas:\n- name: web\n  count: 2\n",
    );
    assert_eq!(bed.mirror(&web(2, "nginx:1.1")), Vec::<String>::new());
    assert_eq!(
        bed.mirror(&web(5, "nginx:1.2")),
        [
            "-  newTag: '1.1'",
            "+  newTag: '1.2'",
            "-  count: 2",
            "+  count: 5"
        ]
    );
}

#[test]
fn ro_2_a_field_of_a_base_is_refused_with_its_line_and_an_image_is_overridden() {
    let mut bed = overlay("");
    let changed = web(1, "nginx:1.0").replace(
        "name: web\n        image",
        "name: web\n        command: [sleep]\n        image",
    );
    let refusal = bed.refused(&changed);
    assert_eq!(refusal.issue, Some(IssueKind::WriteEscapesScope));
    assert_eq!(refusal.object, Some(deployment()));
    let at = refusal.at.unwrap();
    assert_eq!((at.path.as_str(), at.line), ("base/web.yaml", Some(12)));
    let lines = bed.mirror(&web(4, "nginx:2.0"));
    assert!(lines.iter().all(|line| line.starts_with('+')), "{lines:?}");
    let text = bed.text("apps/kustomization.yaml");
    assert!(
        text.contains("newTag") && text.contains("count: 4"),
        "{text}"
    );
    assert_eq!(bed.text("base/web.yaml"), WEB);
}

#[test]
fn rg_2_a_new_object_goes_beside_the_root_and_is_listed() {
    let mut bed = root("");
    let lines = bed.mirror(&config("settings", "a"));
    assert_eq!(
        lines,
        [
            "+- settings.yaml",
            "+apiVersion: v1",
            "+kind: ConfigMap",
            "+metadata:",
            "+  name: settings",
            "+data:",
            "+  key: a",
        ]
    );
    let outcome = bed.apply(&[removal(id("", "configmaps", "settings"))]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
    assert_eq!(bed.find("apps/settings.yaml"), None);
    assert_eq!(
        bed.text("apps/kustomization.yaml"),
        "# of the shop\nnamespace: demo\nresources:\n- web.yaml\n"
    );
}

#[test]
fn ov_9_a_new_object_that_an_entry_would_override_is_refused_and_its_neighbour_is_not() {
    let mut bed = root("images:\n- name: busybox\n  newTag: '1'\n");
    let job = "apiVersion: v1\nkind: Pod\nmetadata: {name: once, namespace: demo}\nspec:\n  containers:\n  - name: a\n    image: busybox:2\n";
    let before = bed.clone();
    let intents = [bed.upsert(job), bed.upsert(&config("settings", "a"))];
    let outcome = bed.apply(&intents);
    let refusals: Vec<_> = outcome.refusals().collect();
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].issue, Some(IssueKind::KustomizeRenderRefused));
    assert_eq!(refusals[0].object, Some(id("", "pods", "once")));
    assert_eq!(changed_lines(&before, &bed)[0], "+- settings.yaml");
    assert_eq!(bed.find("apps/once.yaml"), None);
}

#[test]
fn ns_1_a_namespace_is_written_where_the_kustomization_gives_another_or_none() {
    let mut bed = root("");
    bed.put("apps/kustomization.yaml", "resources:\n- web.yaml\n");
    bed.mirror(&config("settings", "a"));
    assert!(bed.text("apps/settings.yaml").contains("namespace: demo"));
    bed.put(
        "apps/kustomization.yaml",
        "namespace: other\nresources:\n- web.yaml\n- settings.yaml\n",
    );
    let refusal = bed.refused(&config("more", "a"));
    assert_eq!(refusal.issue, Some(IssueKind::KustomizeRenderRefused));
}

#[test]
fn pl_6_a_folder_with_several_roots_takes_edits_and_no_new_objects() {
    let mut bed = Bed::new();
    for (name, namespace) in [("dev", "dev"), ("prod", "demo")] {
        bed.put(
            &format!("apps/{name}/kustomization.yaml"),
            &format!("namespace: {namespace}\nresources: [web.yaml]\n"),
        );
        bed.put(&format!("apps/{name}/web.yaml"), WEB);
    }
    assert_eq!(
        bed.mirror(&web(3, "nginx:1.0")),
        ["-  replicas: 1", "+  replicas: 3"]
    );
    assert!(bed.text("apps/dev/web.yaml").contains("replicas: 1"));
    let refusal = bed.refused(&config("settings", "a"));
    assert_eq!(refusal.code, RefusalCode::AmbiguousLayout);
}

#[test]
fn a4_3_a_document_of_two_builds_is_refused_and_an_overlays_own_entry_is_not() {
    let mut bed = Bed::new()
        .with("apps/base/kustomization.yaml", "resources: [web.yaml]\n")
        .with("apps/base/web.yaml", WEB);
    for (name, namespace) in [("dev", "dev"), ("prod", "demo")] {
        bed.put(
            &format!("apps/{name}/kustomization.yaml"),
            &format!(
                "namespace: {namespace}\nresources: [../base]\nimages: [{{name: nginx, newTag: '1'}}]\n"
            ),
        );
    }
    let refusal = bed.refused(&web(3, "nginx:1"));
    assert_eq!(refusal.issue, Some(IssueKind::WriteFanIn));
    assert_eq!(bed.mirror(&web(1, "nginx:2")).len(), 2);
    assert!(
        bed.text("apps/prod/kustomization.yaml")
            .contains("newTag: '2'")
    );
}

#[test]
fn a4_3_a_build_elsewhere_that_would_change_too_refuses_and_one_alone_does_not() {
    let with_reader = |names: &[&str]| {
        let mut bed = root("");
        for name in names {
            bed.put(
                &format!("clusters/{name}/kustomization.yaml"),
                "resources: [../../apps]\n",
            );
        }
        bed
    };
    assert_eq!(with_reader(&["one"]).mirror(&web(2, "nginx:1.0")).len(), 2);
    let refusal = with_reader(&["one", "two"]).refused(&web(2, "nginx:1.0"));
    assert_eq!(refusal.issue, Some(IssueKind::WriteFanIn));
}

#[test]
fn rg_4_a_file_that_a_kustomization_above_lists_is_not_taken_from_it() {
    let files = |listed: &str| {
        Bed::new()
            .with("kustomization.yaml", &format!("resources: [{listed}]\n"))
            .with("apps/a.yaml", &config("a", "x"))
            .with("apps/b.yaml", &config("b", "x"))
    };
    let mut bed = files("apps/a.yaml, apps/b.yaml");
    let before = bed.clone();
    let outcome = bed.apply(&[removal(id("", "configmaps", "a"))]);
    assert_eq!(outcome.refusals().count(), 1);
    assert_eq!(changed_lines(&before, &bed), Vec::<String>::new());
    let mut bed = files("apps/b.yaml");
    let outcome = bed.apply(&[removal(id("", "configmaps", "a"))]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
}

#[test]
fn rg_6_a_root_is_made_for_a_folder_that_is_to_have_one() {
    let mut bed = with_kustomize(Bed::new().with("apps/old/a.yaml", &config("a", "x")));
    bed.mirror(&config("b", "y"));
    assert_eq!(
        bed.text("apps/kustomization.yaml"),
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - b.yaml\n  - old/a.yaml\n"
    );
    bed.mirror(&config("c", "y"));
    assert!(bed.text("apps/kustomization.yaml").contains("- c.yaml"));
}

#[test]
fn rg_7_a_path_outside_of_the_root_is_refused_only_where_the_folder_is_to_be_built() {
    let bed = |use_kustomize| {
        let mut bed = Bed::new()
            .with("apps/sub/kustomization.yaml", "resources: [a.yaml]\n")
            .with("apps/sub/a.yaml", &config("a", "x"));
        let templates = [("v1/configmaps", "{name}.yaml")];
        let read = Placement::read(templates, None, use_kustomize, &Sensitivity::default());
        bed.policy.placement = read.unwrap();
        bed
    };
    let refusal = bed(Some(true)).refused(&config("b", "y"));
    assert_eq!(refusal.code, RefusalCode::UnrenderedPlacement);
    let mut bed = bed(None);
    bed.mirror(&config("b", "y"));
    assert!(bed.find("apps/b.yaml").is_some());
    assert_eq!(
        bed.text("apps/sub/kustomization.yaml"),
        "resources: [a.yaml]\n"
    );
}

#[test]
fn dl_6_a_sweep_takes_out_files_and_what_lists_them() {
    let mut bed = root("");
    bed.put(
        "apps/kustomization.yaml",
        "namespace: demo\nresources:\n- web.yaml\n- all.yaml\n",
    );
    let bare = |name: &str| config(name, "x").replace("  namespace: demo\n", "");
    bed.put("apps/all.yaml", &format!("{}---\n{}", bare("a"), bare("b")));
    bed.policy.prune = PruneMode::Always;
    let kept = config("b", "x");
    let sweep = bed.sweep(model::TypeId::new("", "configmaps"), &[&kept], Vec::new());
    bed.apply(&[sweep]);
    assert_eq!(bed.text("apps/all.yaml"), bare("b"));
    let sweep = bed.sweep(model::TypeId::new("", "configmaps"), &[], Vec::new());
    bed.apply(&[sweep]);
    assert_eq!(bed.find("apps/all.yaml"), None);
    assert_eq!(
        bed.text("apps/kustomization.yaml"),
        "namespace: demo\nresources:\n- web.yaml\n"
    );
}

#[test]
fn sc_12_a_patch_file_is_no_document_and_what_it_supplies_is_refused() {
    let patch =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 7}\n";
    let mut bed = root("patches: [{path: patch.yaml}]\n").with("apps/patch.yaml", patch);
    assert_eq!(bed.mirror(&web(7, "nginx:1.0")), Vec::<String>::new());
    let refusal = bed.refused(&web(8, "nginx:1.0"));
    assert_eq!(refusal.issue, Some(IssueKind::KustomizeRenderRefused));
    assert_eq!(refusal.at.unwrap().path.as_str(), "apps/patch.yaml");
    assert_eq!(bed.mirror(&web(7, "nginx:1.1")).len(), 2);
}

#[test]
fn cg_3_a_generated_config_map_is_edited_where_its_value_comes_from() {
    let mut bed = root(
        "generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: settings\n  literals:\n  - key=a # first\n",
    );
    assert_eq!(bed.mirror(&config("settings", "a")), Vec::<String>::new());
    assert_eq!(
        bed.mirror(&config("settings", "b")),
        ["-  - key=a # first", "+  - key=b # first"]
    );
}

#[test]
fn rt_1_a_token_in_a_build_is_never_overwritten() {
    let mut bed = root("images:\n- name: nginx\n  newTag: ${TAG}\n");
    let refusal = bed.refused(&web(1, "nginx:3"));
    assert_eq!(refusal.code, RefusalCode::RenderDoesNotMatchLive);
    let at = refusal.at.unwrap();
    assert_eq!(
        (at.path.as_str(), at.line),
        ("apps/kustomization.yaml", Some(7))
    );
}

#[test]
fn d54_a_root_that_names_another_namespace_relocates_the_object() {
    let mut bed = root("");
    bed.put(
        "apps/kustomization.yaml",
        "namespace: other\nresources: [web.yaml]\n",
    );
    // The document stands for an object of the other namespace, so this one is new, and has no place there.
    let refusal = bed.refused(&web(1, "nginx:1.0"));
    assert_eq!(refusal.issue, Some(IssueKind::KustomizeRenderRefused));
    assert_eq!(bed.policy.folder, FolderPath::new("apps").unwrap());
}

#[test]
fn cg_11_a_generated_config_map_goes_with_its_entry_and_its_inputs() {
    let generator = "generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: settings\n  envs: [own.env, shared.env]\n- name: other\n  envs: [shared.env]\n";
    let mut bed = root(generator)
        .with("apps/own.env", "key=a\n")
        .with("apps/shared.env", "b=c\n");
    let outcome = bed.apply(&[removal(id("", "configmaps", "settings"))]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
    assert_eq!(bed.find("apps/own.env"), None);
    assert!(bed.find("apps/shared.env").is_some());
    assert!(!bed.text("apps/kustomization.yaml").contains("settings"));
}

#[test]
fn dp_1_dp_3_an_inherited_object_goes_by_a_patch_and_comes_back() {
    let mut bed = overlay("");
    let before = bed.clone();
    let outcome = bed.apply(&[removal(deployment())]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
    assert_eq!(bed.text("base/web.yaml"), WEB);
    let patch = bed.text("apps/deployment-web-delete.yaml");
    assert!(
        patch.starts_with('#') && patch.contains("$patch: delete"),
        "{patch}"
    );
    // It comes back as it is live now.
    bed.mirror(&web(1, "nginx:2"));
    assert_eq!(bed.find("apps/deployment-web-delete.yaml"), None);
    assert_eq!(
        changed_lines(&before, &bed),
        ["+images:", "+- name: nginx", "+  newTag: \"2\""]
    );
}

#[test]
fn dp_4_an_edited_patch_is_not_taken_back_and_nothing_is_written() {
    let mut bed = overlay("");
    bed.apply(&[removal(deployment())]);
    let path = "apps/deployment-web-delete.yaml";
    let edited = format!("{}# mine\n", bed.text(path));
    bed.put(path, &edited);
    let refusal = bed.refused(&web(1, "nginx:1.0"));
    assert_eq!(refusal.code, RefusalCode::WriteBoundaryRefused);
    assert_eq!(refusal.at.unwrap().path.as_str(), path);
}

#[test]
fn dp_3_an_object_that_cannot_come_back_as_it_is_stays_away() {
    let mut bed = overlay("");
    bed.apply(&[removal(deployment())]);
    let refusal = bed.refused(&web(1, "nginx:1.0").replace("app: web", "app: shop"));
    assert_eq!(refusal.issue, Some(IssueKind::WriteEscapesScope));
}

#[test]
fn dl_13_a_count_goes_with_its_last_workload_and_a_patch_refuses() {
    let count = "replicas:\n- name: web\n  count: 2\n";
    let more = |entries: &str| {
        let mut bed = root(entries);
        bed.put("apps/a.yaml", &config("a", "x"));
        let text = bed
            .text("apps/kustomization.yaml")
            .replace("- web.yaml\n", "- web.yaml\n- a.yaml\n");
        bed.put("apps/kustomization.yaml", &text);
        bed
    };
    let mut bed = more(count);
    let outcome = bed.apply(&[removal(deployment())]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
    assert!(!bed.text("apps/kustomization.yaml").contains("count"));
    let patch =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {paused: true}\n";
    let mut bed = more("patches: [{path: patch.yaml}]\n").with("apps/patch.yaml", patch);
    let before = bed.clone();
    let outcome = bed.apply(&[removal(deployment()), removal(id("", "configmaps", "a"))]);
    let refusal = outcome.refusals().next().unwrap();
    assert_eq!(refusal.issue, Some(IssueKind::OrphansBuildEntry));
    assert_eq!(refusal.object, Some(deployment()));
    assert!(changed_lines(&before, &bed).contains(&"-- a.yaml".to_owned()));
}

#[test]
fn rv_6_a_new_object_that_would_be_built_otherwise_names_the_line_that_does_it() {
    let mut bed = root("labels:\n- pairs: {team: shop}\n");
    let refusal = bed.refused(&config("settings", "a"));
    let at = refusal.at.unwrap();
    assert_eq!(at.field.as_deref(), Some("metadata.labels"));
    assert!(
        refusal
            .message
            .contains("metadata.labels of configmaps demo/settings")
    );
    let labelled = config("settings", "a").replace(
        "  name: settings\n",
        "  name: settings\n  labels: {team: shop}\n",
    );
    assert!(!bed.mirror(&labelled).is_empty());
}

#[test]
fn a4_3_a_document_of_two_builds_does_not_go() {
    let mut bed = Bed::new()
        .with(
            "apps/base/kustomization.yaml",
            "resources: [web.yaml, a.yaml]\n",
        )
        .with(
            "apps/base/a.yaml",
            &config("a", "x").replace("  namespace: demo\n", ""),
        )
        .with("apps/base/web.yaml", WEB);
    let overlay = |namespace: &str| format!("namespace: {namespace}\nresources: [../base]\n");
    bed.put("apps/prod/kustomization.yaml", &overlay("demo"));
    let mut alone = bed.clone();
    bed.put("apps/dev/kustomization.yaml", &overlay("dev"));
    let outcome = bed.apply(&[removal(id("", "configmaps", "a"))]);
    let refusal = outcome.refusals().next().unwrap();
    assert_eq!(refusal.issue, Some(IssueKind::WriteFanIn));
    let outcome = alone.apply(&[removal(id("", "configmaps", "a"))]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
}

#[test]
fn dl_8_an_object_of_a_hidden_file_is_not_taken_out_unseen() {
    let mut bed = root("");
    bed.put(
        "apps/kustomization.yaml",
        "namespace: demo\nresources:\n- web.yaml\n- hidden.yaml\n",
    );
    bed.put("apps/hidden.yaml", &config("a", "x"));
    let mut shown = bed.clone();
    bed.put("apps/.gittargetignore", "/hidden.yaml\n");
    let before = bed.clone();
    let outcome = bed.apply(&[removal(id("", "configmaps", "a"))]);
    let refusal = outcome.refusals().next().unwrap();
    assert_eq!(refusal.issue, Some(IssueKind::NonEditableDocument));
    assert_eq!(
        refusal.at.as_ref().unwrap().path.as_str(),
        "apps/hidden.yaml"
    );
    assert_eq!(changed_lines(&before, &bed), Vec::<String>::new());
    let outcome = shown.apply(&[removal(id("", "configmaps", "a"))]);
    assert!(matches!(decision(&outcome), Decision::Removed { .. }));
}

#[test]
fn dl_6_a_document_of_two_builds_goes_when_both_objects_do() {
    let bare = |name: &str| config(name, "x").replace("  namespace: demo\n", "");
    let mut bed = Bed::new()
        .with(
            "apps/base/kustomization.yaml",
            "resources: [a.yaml, b.yaml]\n",
        )
        .with("apps/base/a.yaml", &bare("a"))
        .with("apps/base/b.yaml", &bare("b"));
    for namespace in ["dev", "demo"] {
        bed.put(
            &format!("apps/{namespace}/kustomization.yaml"),
            &format!("namespace: {namespace}\nresources: [../base]\n"),
        );
    }
    let demo = id("", "configmaps", "a");
    let dev = ResourceId {
        namespace: Some(model::Namespace::new("dev").unwrap()),
        ..demo.clone()
    };
    let outcome = bed.apply(&[removal(demo), removal(dev)]);
    assert_eq!(outcome.refusals().count(), 0);
    assert_eq!(bed.find("apps/base/a.yaml"), None);
    assert_eq!(
        bed.text("apps/base/kustomization.yaml"),
        "resources: [b.yaml]\n"
    );
}
