//! Which rung decides, and what it answers.

use std::collections::BTreeSet;

use model::{FolderPath, RefusalCode, RepoPath};
use serde_json::json;

use super::*;
use crate::plan::PlacementSource;

fn paths(paths: &[&str]) -> BTreeSet<RepoPath> {
    paths
        .iter()
        .map(|path| RepoPath::new(*path).unwrap())
        .collect()
}

/// Places an object beside the kustomization of the folder `live/app`.
fn beside(object: &Object, taken: &[&str]) -> Result<Placed, Unplaced> {
    let (folder, root) = (
        FolderPath::new("live").unwrap(),
        FolderPath::new("live/app").unwrap(),
    );
    let taken = paths(taken);
    let root = RenderRoot {
        folder: &root,
        taken: &|path| taken.contains(path),
    };
    let site = Site {
        folder: &folder,
        root: Some(root),
    };
    Placement::default().place(object.subject(), site)
}

#[test]
fn pl_1_the_first_rung_decides() {
    let both = placement(
        &[
            ("v1/configmaps", "a/{name}.yaml"),
            ("v1/secrets", "{namespace}/{name}.yaml"),
        ],
        Some("b/{name}.yaml"),
    );
    let placed = place(&both, &config_map("app")).unwrap();
    assert_eq!(placed.path.as_str(), "live/a/app.yaml");
    assert_eq!(placed.source, PlacementSource::ByType);
    assert_eq!(placed.template.unwrap().as_str(), "a/{name}.yaml");
    let placed = place(&both, &deployment()).unwrap();
    assert_eq!(placed.path.as_str(), "live/b/api.yaml");
    assert_eq!(placed.source, PlacementSource::Default);
    let placed = beside(&config_map("app"), &[]).unwrap();
    assert_eq!(placed.path.as_str(), "live/app/app.yaml");
    assert_eq!(placed.source, PlacementSource::KustomizeRoot);
    let placed = place(&Placement::default(), &config_map("app")).unwrap();
    assert_eq!(placed.source, PlacementSource::Builtin);
    assert_eq!(placed.template, None);
}

#[test]
fn pl_4_the_built_in_path_names_the_object() {
    for (object, expected) in [
        (config_map("app"), "live/team-a/configmaps/app.yaml"),
        (deployment(), "live/team-a/apps/deployments/api.yaml"),
        (secret("db"), "live/team-a/secrets/db.sops.yaml"),
        (
            cluster_role("system:node"),
            "live/_cluster/rbac.authorization.k8s.io/clusterroles/system%3Anode.yaml",
        ),
    ] {
        assert_eq!(path_of(&Placement::default(), &object), expected);
    }
}

#[test]
fn pl_4_a_document_never_takes_a_name_that_means_something_else() {
    for (name, expected) in [
        (
            "kustomization",
            "live/team-a/configmaps/%6Bustomization.yaml",
        ),
        ("x.sops", "live/team-a/configmaps/x%2Esops.yaml"),
        ("con", "live/team-a/configmaps/%63on.yaml"),
    ] {
        let object = config_map(name);
        assert_eq!(path_of(&Placement::default(), &object), expected);
        let template = "{namespace}/{resource}/{name}.yaml";
        assert_eq!(rendered(template, &object), expected);
    }
    let path = rendered(
        "{name}.{label:x}.yml",
        &config_map("a").labeled(json!({"x": "sops"})),
    );
    assert_eq!(path, "live/a%2Esops.yml");
}

#[test]
fn pl_5_beside_the_root_the_shortest_free_name_is_taken() {
    let object = deployment();
    let taken = [
        "live/app/api.yaml",
        "live/app/deployment-api.yaml",
        "live/app/deployment-api-team-a.yaml",
        "live/app/deployment-api-team-a-apps.yaml",
    ];
    for count in 0..taken.len() {
        let placed = beside(&object, &taken[..count]).unwrap();
        assert_eq!(placed.path.as_str(), taken[count]);
        assert_eq!(placed.source, PlacementSource::KustomizeRoot);
    }
    let refused = beside(&object, &taken).unwrap_err();
    assert_eq!(refused.code(), RefusalCode::InvalidPath);
    assert_eq!(
        beside(&secret("db"), &["live/app/db.yaml"])
            .unwrap()
            .path
            .as_str(),
        "live/app/db.sops.yaml"
    );
}

#[test]
fn pl_6_without_one_root_the_built_in_path_is_left() {
    let placed = place(&Placement::default(), &deployment()).unwrap();
    assert_eq!(
        placed.path.as_str(),
        "live/team-a/apps/deployments/api.yaml"
    );
}

#[test]
fn pl_13_the_path_is_checked_again_when_it_is_rendered() {
    let long = config_map(&"x".repeat(253));
    for placement in [
        Placement::default(),
        placement(&[("v1/configmaps", "{name}.yaml")], None),
    ] {
        let refused = place(&placement, &long).unwrap_err();
        assert_eq!(refused.code(), RefusalCode::InvalidPath);
        assert!(refused.to_string().contains("258 bytes"), "{refused}");
    }
    let git = placement(
        &[("rbac.authorization.k8s.io/v1/clusterroles", "{name}/x.yaml")],
        None,
    );
    let refused = place(&git, &cluster_role(".git")).unwrap_err();
    let refusal = refused.refusal(&cluster_role(".git").id);
    assert_eq!(refusal.code, RefusalCode::InvalidPath);
    assert!(
        refusal.remedy.contains("spec.placement.byType[rbac"),
        "{refusal}"
    );
}

#[test]
fn pl_18_each_rung_has_the_label_that_placements_are_counted_by() {
    let labels = [
        (PlacementSource::ByType, "by_type"),
        (PlacementSource::Default, "default"),
        (PlacementSource::KustomizeRoot, "kustomize_root"),
        (PlacementSource::Builtin, "builtin"),
    ];
    for (source, label) in labels {
        assert_eq!(source.as_str(), label);
    }
}

#[test]
fn pl_19_a_template_without_a_legal_path_never_falls_to_the_next_rung() {
    let declared = placement(
        &[
            ("v1/configmaps", "{name}.yaml"),
            ("v1/secrets", "{namespace}/{name}.yaml"),
        ],
        Some("all.yaml"),
    );
    let refused = place(&declared, &config_map(&"x".repeat(253))).unwrap_err();
    assert_eq!(refused.code(), RefusalCode::InvalidPath);
}
