//! Where documents go, and what else lies in the folder.

use manifests::{Decision, Intent, Mode, Placement};
use model::{IssueKind, RefusalCode, Sensitivity};

use crate::support::{Bed, decision, id};

fn config_map(name: &str, namespace: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {namespace}\ndata:\n  a: {value}\n"
    )
}

fn cluster_role(name: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: '{name}'\nrules:\n- apiGroups: ['']\n  resources: [pods]\n  verbs: [get]\n"
    )
}

#[test]
fn b068_files_that_are_no_manifests_are_left_alone() {
    let strays = [
        ("apps/README.md", "# Apps\n"),
        ("apps/LICENSE", "Do what you like.\n"),
        ("apps/.gitignore", "*.bak\n"),
        ("apps/OWNERS", "approvers:\n- alice\n"),
        ("apps/renovate.json", "{\"extends\": [\"config\"]}\n"),
        ("apps/scripts/build.sh", "#!/bin/sh\nkind: [\n"),
        ("apps/logo.png", "\u{1}\u{2}"),
    ];
    let mut bed = Bed::new();
    for (path, text) in strays {
        bed.put(path, text);
    }
    let outcome = bed.plan(&[], Mode::Inspect);
    assert!(outcome.folder.is_accepted(), "{:?}", outcome.folder);
    bed.mirror(&config_map("conf", "demo", "x"));
    assert_eq!(bed.paths().len(), strays.len() + 1);
    for (path, text) in strays {
        assert_eq!(bed.text(path), text);
    }
}

#[test]
fn b068_yaml_that_is_no_manifest_is_refused_with_the_line_that_hides_it() {
    let values = "replicas: 2\n";
    let mut bed = Bed::new().with("apps/charts/values.yaml", values);
    let outcome = bed.plan(&[], Mode::Inspect);
    let [issue] = outcome.folder.issues() else {
        panic!("{:?}", outcome.folder);
    };
    assert_eq!(issue.issue, Some(IssueKind::NonKrmYaml));
    assert_eq!(
        issue.at.as_ref().unwrap().path.as_str(),
        "apps/charts/values.yaml"
    );
    let line = "/charts/values.yaml";
    assert!(
        issue
            .remedy
            .contains(&format!("{line} to apps/.gittargetignore")),
        "{issue}"
    );
    bed.put("apps/.gittargetignore", &format!("{line}\n"));
    bed.mirror(&config_map("conf", "demo", "x"));
    assert_eq!(bed.text("apps/charts/values.yaml"), values);
}

#[test]
fn b072_every_checkout_can_hold_the_names_of_new_files() {
    let names = [
        "system:demo:reader",
        "kubeadm:get-nodes",
        "con",
        "aux.v1",
        "nul",
        "com1.x",
        "a:b",
        "a",
        "kustomization",
    ];
    let mut bed = Bed::new();
    for name in names {
        bed.mirror(&cluster_role(name));
    }
    let paths = bed.paths();
    assert_eq!(paths.len(), names.len(), "{paths:?}");
    let device = |stem: &str| {
        let stem = stem.to_ascii_lowercase();
        ["con", "prn", "aux", "nul", "com1", "lpt1"].contains(&stem.as_str())
    };
    for path in &paths {
        for part in path.split('/') {
            assert!(
                !part.contains(['<', '>', ':', '"', '\\', '|', '?', '*']),
                "{path}"
            );
            assert!(!part.ends_with(['.', ' ']), "{path}");
            assert!(!device(part.split('.').next().unwrap()), "{path}");
        }
    }
    // Each file gives its object's own name back, so it can be applied elsewhere.
    for name in names {
        let role = id_of_role(name);
        let outcome = bed.plan(&[bed.upsert(&cluster_role(name))], Mode::Apply);
        assert_eq!(outcome.decisions[0].id, role);
        assert_eq!(outcome.decisions[0].decision, Decision::NoChange, "{name}");
    }
}

fn id_of_role(name: &str) -> model::ResourceId {
    let mut role = id("rbac.authorization.k8s.io", "clusterroles", name);
    role.namespace = None;
    role
}

#[test]
fn b072_a_dot_at_the_end_of_a_folder_is_escaped_and_existing_files_keep_their_names() {
    let label = "{label:team}/{name}.yaml";
    let mut bed = Bed::new().placed([("v1/configmaps", label)]);
    let live =
        config_map("conf", "demo", "x").replace("  name:", "  labels: {team: 'x.'}\n  name:");
    bed.mirror(&live);
    assert_eq!(bed.paths(), ["apps/x%2E/conf.yaml"]);

    let odd = "apps/system:demo.yaml";
    let mut bed = Bed::new().with(odd, &cluster_role("system:demo"));
    let live = cluster_role("system:demo").replace("[get]", "[get, list]");
    assert_eq!(bed.mirror(&live).len(), 2);
    assert_eq!(bed.paths(), [odd]);
}

#[test]
fn b074_an_object_is_followed_to_the_file_that_it_was_moved_to() {
    let text = config_map("a", "demo", "one");
    let mut bed = Bed::new().with("apps/a.yaml", &text);
    bed.mirror(&config_map("a", "demo", "two"));
    let decided = {
        let mut bed = bed.clone();
        let intent = bed.upsert(&config_map("a", "demo", "three"));
        bed.plan(&[intent], Mode::Apply).decided
    };
    // A peer moves the file in one commit, while our write waits to be published.
    let moved = bed.text("apps/a.yaml").to_owned();
    bed.remove("apps/a.yaml");
    bed.put("apps/sub/a.yaml", &moved);
    let outcome = bed.apply(&[Intent::Replay(decided)]);
    assert!(matches!(decision(&outcome), Decision::Edited { .. }));
    assert_eq!(bed.paths(), ["apps/sub/a.yaml"]);
    assert_eq!(
        bed.text("apps/sub/a.yaml"),
        config_map("a", "demo", "three")
    );
    // The snapshot that follows sweeps nothing: the object has its document.
    bed.policy.prune = manifests::PruneMode::Always;
    let live = config_map("a", "demo", "three");
    let sweep = bed.sweep(model::TypeId::new("", "configmaps"), &[&live], Vec::new());
    assert!(bed.apply(&[sweep]).is_empty());
}

#[test]
fn b074_a_decided_removal_follows_its_document_and_takes_no_other() {
    let text = config_map("a", "demo", "one");
    let mut bed = Bed::new().with("apps/a.yaml", &text);
    let removal = Intent::Remove {
        id: id("", "configmaps", "a"),
    };
    let decided = bed.plan(&[removal], Mode::Apply).decided;
    let beside = config_map("b", "demo", "one");
    bed.remove("apps/a.yaml");
    bed.put("apps/sub/both.yaml", &format!("{text}---\n{beside}"));
    bed.apply(&[Intent::Replay(decided.clone())]);
    assert_eq!(bed.text("apps/sub/both.yaml"), beside);
    // A peer was faster: there is nothing left to do.
    assert!(bed.apply(&[Intent::Replay(decided)]).is_empty());
}

#[test]
fn b074_our_own_change_of_a_home_is_one_step() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: demo\ndata:\n  p: cGxhaW4=\n";
    let key = sealing::NewIdentity::generate();
    let mut bed = Bed::new()
        .sealed_for(&key)
        .with("apps/s.yaml", secret)
        .with("apps/other.yaml", &config_map("other", "demo", "one"));
    let intent = bed.upsert(secret);
    let outcome = bed.apply(&[intent]);
    let touched: Vec<&str> = outcome
        .edits
        .iter()
        .map(|edit| edit.path.as_str())
        .collect();
    let home = "apps/demo/secrets/s.sops.yaml";
    assert_eq!(touched, [home, "apps/s.yaml"]);
    assert_eq!(bed.paths(), [home, "apps/other.yaml"]);
}

#[test]
fn b076_no_path_has_an_empty_part() {
    let templates = [
        (
            "v1/configmaps",
            "{namespace}/{group}/{resource}/{name}.yaml",
        ),
        ("v1/services", "{group}/svc-{name}.yaml"),
        ("v1/serviceaccounts", "{label:team|}/{name}.yaml"),
        (
            "v1/limitranges",
            "{groupPath}/{label:team|}/{namespace|}/{name}.yaml",
        ),
    ];
    let bed = Bed::new();
    for mut bed in [bed.clone(), bed.placed(templates)] {
        for kind in ["ConfigMap", "Service", "ServiceAccount", "LimitRange"] {
            let live =
                format!("{{apiVersion: v1, kind: {kind}, metadata: {{name: x, namespace: demo}}}}");
            bed.mirror(&live);
        }
        let paths = bed.paths();
        assert_eq!(paths.len(), 4, "{paths:?}");
        for path in paths {
            let parts = path.split('/').collect::<Vec<_>>();
            assert!(
                parts
                    .iter()
                    .all(|part| !part.is_empty() && !part.contains("..")),
                "{path}"
            );
            assert_eq!(parts[0], "apps", "{path}");
        }
    }
}

#[test]
fn b076_an_escape_is_refused_before_anything_is_written() {
    for template in [
        "../{name}.yaml",
        "/{name}.yaml",
        "a/../../{name}.yaml",
        "{label:team|..}/{name}.yaml",
        "{label:team|/etc}/{name}.yaml",
    ] {
        let read = Placement::read(
            [("v1/configmaps", template)],
            None,
            None,
            &Sensitivity::default(),
        );
        let problems = read.unwrap_err();
        assert_eq!(problems[0].field, "spec.placement.byType[v1/configmaps]");
        assert!(!problems[0].message.is_empty());
    }
    // A label may say what it wants: it stays one part.
    let mut bed = Bed::new().placed([("v1/configmaps", "{label:team}/{name}.yaml")]);
    for (index, team) in ["..", ".", "a/b", "..\\x", "%2e%2e"].iter().enumerate() {
        let live = config_map(&format!("c{index}"), "demo", "x")
            .replace("  name:", &format!("  labels: {{team: '{team}'}}\n  name:"));
        let intent = bed.upsert(&live);
        bed.apply(&[intent]);
    }
    for path in bed.paths() {
        let parts = path.split('/').collect::<Vec<_>>();
        assert!(
            parts.len() == 3 && parts[0] == "apps" && !["", ".", ".."].contains(&parts[1]),
            "{path}"
        );
    }
}

#[test]
fn b077_two_namespaces_never_share_a_document_without_one() {
    let mut bed = Bed::new();
    bed.policy.serialize_namespace = Some(false);
    let intents = [
        bed.upsert(&config_map("config", "shop", "x")),
        bed.upsert(&config_map("config", "billing", "z")),
    ];
    let outcome = bed.apply(&intents);
    assert!(bed.paths().is_empty());
    assert_eq!(outcome.refusals().count(), 2);
    for refusal in outcome.refusals() {
        assert_eq!(refusal.code, RefusalCode::MultipleSourceNamespaces);
        for namespace in ["billing", "shop"] {
            assert!(refusal.message.contains(namespace), "{refusal}");
        }
    }
    // One namespace alone is what the setting is for.
    bed.mirror(&config_map("config", "shop", "x"));
    assert!(!bed.text(&bed.paths()[0]).contains("namespace"));
}
