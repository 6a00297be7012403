//! What a target may declare.

use model::{RefusalCode, Sensitivity};
use serde_json::json;

use super::*;
use crate::plan::PlacementSource;

#[test]
fn pl_3_a_key_names_one_type_in_one_version() {
    for key in [
        "v1/configmaps",
        "apps/v1/deployments",
        "rbac.authorization.k8s.io/v1/clusterroles",
        "example.com/v1alpha1/widgets",
    ] {
        assert_eq!(TypeKey::parse(key).unwrap().to_string(), key);
    }
    for (key, part) in [
        ("configmaps", "[group/]version/resource"),
        ("", "[group/]version/resource"),
        ("/v1/configmaps", "[group/]version/resource"),
        ("apps/v1/deployments/scale", "[group/]version/resource"),
        ("v1/ConfigMap", "plural resource name"),
        ("v1/*", "plural resource name"),
        (" v1/configmaps", "plural resource name"),
        ("a..b/v1/x", "plural resource name"),
        ("apps/deployments", "write apps/VERSION/deployments"),
        ("core/v1/secrets", "write v1/secrets"),
    ] {
        let error = TypeKey::parse(key).unwrap_err().to_string();
        assert!(error.contains(part), "{key}: {error}");
    }
    // Another version of the type is another key.
    let mut older = deployment();
    older.served.version = "v1beta1".to_owned();
    let declared = placement(&[("apps/v1/deployments", "d/{name}.yaml")], None);
    assert_eq!(path_of(&declared, &deployment()), "live/d/api.yaml");
    assert_eq!(
        place(&declared, &older).unwrap().source,
        PlacementSource::Builtin
    );
}

#[test]
fn pl_14_b078_a_route_of_a_sensitive_type_names_one_object() {
    for good in [
        "{namespace}/secrets/{name}.yaml",
        "{name}-{namespace|_x}{sensitiveSuffix}",
        "{label:team}/{namespace}/{name}.sops.yaml",
    ] {
        assert!(read(&[("v1/secrets", good)], None).is_ok(), "{good}");
    }
    for bad in [
        "secrets.sops.yaml",
        "{name}.yaml",
        "{namespace}/secrets.yaml",
        "{scope}/{name}.yaml",
        "{label:team}/{name}.yaml",
    ] {
        let problems = read(&[("v1/secrets", bad)], None).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].field, "spec.placement.byType[v1/secrets]");
        assert!(problems[0].message.contains("sensitive"), "{}", problems[0]);
        assert!(problems[0].message.contains(bad), "{}", problems[0]);
    }
}

#[test]
fn pl_14_a_bundling_default_needs_a_route_for_each_sensitive_type() {
    let secrets = ("v1/secrets", "{namespace}/{name}.yaml");
    for good in [
        "{namespace}/{group}/{resource}/{name}.yaml",
        "{namespace|_global}/{groupPath}/{resource}/{name}{sensitiveSuffix}",
        "{namespace}/{apiVersion}/{kind}/{name}.yaml",
    ] {
        assert!(read(&[], Some(good)).is_ok(), "{good}");
    }
    for bundling in [
        "all.yaml",
        "{kindLower}-{name}{sensitiveSuffix}",
        "{namespace}/{kindLower}-{name}{sensitiveSuffix}",
        "{namespace}/{label:team}/{name}.yaml",
    ] {
        let problems = read(&[], Some(bundling)).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].field, "spec.placement.default");
        assert!(
            problems[0].message.contains("byType[v1/secrets]"),
            "{}",
            problems[0]
        );
        assert!(read(&[secrets], Some(bundling)).is_ok(), "{bundling}");
    }
    let sensitivity = Sensitivity::parse(["core.cozystack.io/tenantsecrets"]).unwrap();
    let with = |routes: &[(&'static str, &'static str)]| {
        Placement::read(routes.iter().copied(), Some("all.yaml"), None, &sensitivity)
    };
    let problems = with(&[secrets]).unwrap_err();
    assert!(
        problems[0]
            .message
            .contains("tenantsecrets.core.cozystack.io"),
        "{}",
        problems[0]
    );
    let tenant = "core.cozystack.io/v1alpha1/tenantsecrets";
    assert!(with(&[secrets, (tenant, "{namespace}/{name}.yaml")]).is_ok());
}

#[test]
fn pl_14_a_sensitive_object_that_still_reaches_a_shared_path_is_refused() {
    let bundle = placement(
        &[("v1/secrets", "{namespace}/{name}.yaml")],
        Some("{namespace}/all.yaml"),
    );
    let mut other = config_map("a");
    other.served.sensitive = true;
    let refused = place(&bundle, &other).unwrap_err();
    assert_eq!(refused.code(), RefusalCode::SensitiveAppend);
    assert!(
        refused.to_string().contains("spec.placement.default"),
        "{refused}"
    );
}

#[test]
fn pl_14_every_fault_is_reported_at_once_with_its_field() {
    let by_type = [
        ("apps/deployments", "{nmae}.yaml"),
        ("apps/v1/deployments", "/{name}"),
        ("v1/secrets", "all.yaml"),
    ];
    let problems = read(&by_type, Some("../x.yaml")).unwrap_err();
    let fields: Vec<&str> = problems
        .iter()
        .map(|problem| problem.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "spec.placement.byType[apps/deployments]",
            "spec.placement.byType[apps/deployments]",
            "spec.placement.byType[apps/v1/deployments]",
            "spec.placement.byType[apps/v1/deployments]",
            "spec.placement.byType[v1/secrets]",
            "spec.placement.default",
        ]
    );
    let problem = problems[3].to_string();
    assert!(
        problem.starts_with("spec.placement.byType[apps/v1/deployments]: template \"/{name}\": "),
        "{problem}"
    );
}

#[test]
fn a_placement_survives_being_written_down() {
    let declared = placement(
        &[("apps/v1/deployments", "{label:team|}/{name}.yaml")],
        Some("{namespace}/{group}/{resource}/{name}.yaml"),
    );
    let text = serde_json::to_string(&declared).unwrap();
    assert_eq!(serde_json::from_str::<Placement>(&text).unwrap(), declared);
    assert!(serde_json::from_value::<Template>(json!("../x.yaml")).is_err());
}
