//! What a template may say, and what it renders to.

use serde_json::json;

use super::*;

fn faults(template: &str) -> Vec<String> {
    let errors = Template::parse(template).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn pl_7_every_variable_of_the_guide_renders_as_documented() {
    for (variable, namespaced, core, cluster) in [
        ("{name}", "api", "app", "admin"),
        ("{namespace}", "team-a", "team-a", "_cluster"),
        ("{resource}", "deployments", "configmaps", "clusterroles"),
        ("{group}", "apps", "", "rbac.authorization.k8s.io"),
        ("{groupPath}", "apps", "", "rbac.authorization.k8s.io"),
        ("{version}", "v1", "v1", "v1"),
        (
            "{apiVersion}",
            "apps/v1",
            "v1",
            "rbac.authorization.k8s.io/v1",
        ),
        ("{kind}", "Deployment", "ConfigMap", "ClusterRole"),
        ("{kindLower}", "deployment", "configmap", "clusterrole"),
        ("{scope}", "namespaced", "namespaced", "cluster"),
        ("{label:team}", "payments", "_unlabeled", "_unlabeled"),
        (
            "{label:app.kubernetes.io/instance}",
            "_unlabeled",
            "voter",
            "_unlabeled",
        ),
    ] {
        let template = format!("x{variable}/f.yaml");
        let labels = json!({"app.kubernetes.io/instance": "voter"});
        for (object, value) in [
            (
                deployment().labeled(json!({"team": "payments"})),
                namespaced,
            ),
            (config_map("app").labeled(labels), core),
            (cluster_role("admin"), cluster),
        ] {
            assert_eq!(
                rendered(&template, &object),
                format!("live/x{value}/f.yaml")
            );
        }
    }
    let suffix = "{namespace}/{name}{sensitiveSuffix}";
    assert_eq!(rendered(suffix, &secret("db")), "live/team-a/db.sops.yaml");
    assert_eq!(rendered(suffix, &config_map("a")), "live/team-a/a.yaml");
}

#[test]
fn pl_7_nothing_else_is_a_variable() {
    for (template, part) in [
        ("{uid}.yaml", "{uid} is not a variable"),
        ("{Name}.yaml", "write {name}"),
        ("{ name }.yaml", "write {name}"),
        ("{}.yaml", "is not a variable"),
        ("{annotation:a}.yaml", "use a label"),
        ("{namespaceOrCluster}/{name}.yaml", "write {namespace}"),
        ("{label:}.yaml", "is not the key of a label"),
        ("{label}.yaml", "is not a variable"),
        ("{label:a b}.yaml", "is not the key of a label"),
        ("{name.yaml", "no partner"),
        ("name}.yaml", "no partner"),
        ("{a{name}}.yaml", "no partner"),
    ] {
        let faults = faults(template);
        assert!(faults[0].contains(part), "{template}: {faults:?}");
    }
}

#[test]
fn pl_8_only_namespace_and_label_take_a_fallback() {
    let long = "a".repeat(63);
    for fallback in ["_global", "A.b-c_d", "", "...", long.as_str()] {
        for variable in ["namespace", "label:team"] {
            let template = format!("{{{variable}|{fallback}}}/{{name}}.yaml");
            assert!(Template::parse(&template).is_ok(), "{template}");
        }
    }
    let longer = "a".repeat(64);
    for fallback in [".", "..", "a/b", "a b", "é", "a|b", longer.as_str()] {
        for variable in ["namespace", "label:team"] {
            let faults = faults(&format!("{{{variable}|{fallback}}}/{{name}}.yaml"));
            assert!(faults[0].contains("fallback"), "{fallback}: {faults:?}");
        }
    }
    for variable in [
        "name",
        "group",
        "groupPath",
        "kind",
        "scope",
        "sensitiveSuffix",
    ] {
        let faults = faults(&format!("{{{variable}|x}}/{{name}}.yaml"));
        assert!(faults[0].contains("takes no fallback"), "{faults:?}");
    }
}

#[test]
fn pl_9_what_is_absent_has_a_bucket() {
    let none = config_map("a");
    let empty = config_map("a").labeled(json!({"team": ""}));
    let set = config_map("a").labeled(json!({"team": "payments"}));
    for (template, absent, present) in [
        (
            "{label:team}/{name}.yaml",
            "_unlabeled/a.yaml",
            "payments/a.yaml",
        ),
        (
            "{label:team|unassigned}/{name}.yaml",
            "unassigned/a.yaml",
            "payments/a.yaml",
        ),
        ("{label:team|}/{name}.yaml", "a.yaml", "payments/a.yaml"),
    ] {
        assert_eq!(rendered(template, &none), format!("live/{absent}"));
        assert_eq!(rendered(template, &empty), format!("live/{absent}"));
        assert_eq!(rendered(template, &set), format!("live/{present}"));
    }
    let role = cluster_role("admin");
    for (template, expected) in [
        ("{namespace}/{name}.yaml", "_cluster/admin.yaml"),
        ("{namespace|_global}/{name}.yaml", "_global/admin.yaml"),
        ("{namespace|}/{name}.yaml", "admin.yaml"),
        ("{namespace|team-a}/{name}.yaml", "team-a/admin.yaml"),
    ] {
        assert_eq!(rendered(template, &role), format!("live/{expected}"));
    }
    assert_eq!(
        rendered("{namespace|_global}/{name}.yaml", &none),
        "live/team-a/a.yaml"
    );
}

#[test]
fn pl_10_a_value_stays_within_its_segment() {
    let role = cluster_role("a\\b:c");
    assert_eq!(rendered("x/{name}.yaml", &role), "live/x/a%5Cb%3Ac.yaml");
    let odd = config_map("a").labeled(json!({"team": "../b%"}));
    assert_eq!(
        rendered("{label:team}/{name}.yaml", &odd),
        "live/..%2Fb%25/a.yaml"
    );
    let dots = config_map("a").labeled(json!({"team": ".."}));
    assert_eq!(
        rendered("{label:team}/{name}.yaml", &dots),
        "live/.%2E/a.yaml"
    );
    assert_eq!(
        rendered("a:b/{name}.yaml", &config_map("a")),
        "live/a%3Ab/a.yaml"
    );
}

#[test]
fn pl_11_b076_an_empty_segment_disappears_and_an_empty_value_does_not() {
    let object = config_map("app");
    for (template, expected) in [
        ("{group}/{resource}/{name}.yaml", "configmaps/app.yaml"),
        (
            "{namespace}/{group}/{groupPath}/{name}.yaml",
            "team-a/app.yaml",
        ),
        ("{group}{label:x|}/{name}.yaml", "app.yaml"),
        ("{label:team|}-{name}.yaml", "-app.yaml"),
        ("{apiVersion}/{name}.yaml", "v1/app.yaml"),
    ] {
        assert_eq!(rendered(template, &object), format!("live/{expected}"));
    }
}

#[test]
fn pl_12_a_label_that_is_taken_out_is_rejected() {
    for key in [
        "kustomize.toolkit.fluxcd.io/name",
        "kro.run/owned",
        "applyset.kubernetes.io/part-of",
    ] {
        let faults = faults(&format!("{{label:{key}}}/{{name}}.yaml"));
        assert!(
            faults[0].contains(key) && faults[0].contains("bookkeeping"),
            "{faults:?}"
        );
    }
    assert!(Template::parse("{label:app.kubernetes.io/instance}/{name}.yaml").is_ok());
}

#[test]
fn pl_13_a_template_is_the_relative_path_of_a_yaml_file() {
    for good in [
        "all.yaml",
        "{name}.yml",
        "a..b/{name}.yaml",
        "..{name}/x.yaml",
        "{kindLower}-{name}{sensitiveSuffix}",
    ] {
        assert!(Template::parse(good).is_ok(), "{good}");
    }
    for (bad, part) in [
        ("", "is empty"),
        (" ", "is empty"),
        ("/{name}.yaml", "begins with a slash"),
        ("../{name}.yaml", "would leave"),
        ("a/../{name}.yaml", "would leave"),
        ("./{name}.yaml", "would leave"),
        ("a//{name}.yaml", "two slashes"),
        ("a\\{name}.yaml", "backslashes"),
        ("a\n{name}.yaml", "control characters"),
        (".git/{name}.yaml", ".git"),
        ("{name}", "does not end in .yaml"),
        ("{name}.json", "does not end in .yaml"),
        ("{name}.yaml/", "does not end in .yaml"),
        ("a.yaml{name}", "does not end in .yaml"),
        ("{label:x|a.yaml}", "does not end in .yaml"),
        ("{namespace}/kustomization.yaml", "a meaning of its own"),
        ("{namespace}/.sops.yaml", "a meaning of its own"),
        ("{name}/{sensitiveSuffix}", "a meaning of its own"),
    ] {
        let faults = faults(bad);
        assert!(
            faults.iter().any(|fault| fault.contains(part)),
            "{bad}: {faults:?}"
        );
    }
    assert_eq!(faults("/../{uid}|{kind|x}/{name").len(), 6);
}
