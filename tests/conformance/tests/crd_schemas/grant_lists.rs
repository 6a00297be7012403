//! A grant list that was left out and an empty one stay different, all the way through the API server.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cluster::Cluster;

#[test]
fn an_omitted_and_an_empty_grant_list_stay_different() -> Result<()> {
    let same = json!({"from": "Same"});
    let lists = [
        (
            "GitProvider",
            "allowedGitBranches",
            json!({"url": "https://git.example.org/a"}),
            Value::Null,
        ),
        (
            "GitBranch",
            "allowedGitTargets",
            json!({"gitProviderRef": {"name": "a"}, "branch": "main"}),
            json!([{"consumerNamespaces": same}]),
        ),
        (
            "KubeProvider",
            "allowedGitTargets",
            json!({"inCluster": {}}),
            json!([{"consumerNamespaces": same, "sourceNamespaces": ["{consumer.namespace}"]}]),
        ),
        (
            "KubeProvider",
            "allowedApplierClaims",
            json!({"inCluster": {}}),
            json!([{"consumerNamespaces": same, "applierNamespaces": ["{consumer.namespace}"]}]),
        ),
        (
            "GitTarget",
            "allowedCommitRequests",
            json!({"gitBranchRef": {"name": "a"}, "kubeProviderRef": {"name": "a"}, "path": "a"}),
            json!([{"consumerNamespaces": same}]),
        ),
    ];
    let cluster = Cluster::shared()?;
    cluster.namespace("grants")?;
    for (kind, list, spec, default) in lists {
        let omitted = stored(&cluster, kind, &spec)?;
        assert_eq!(omitted["spec"][list], default, "{kind} {list} omitted");

        let mut spec_with_null = spec.clone();
        spec_with_null[list] = Value::Null;
        let null = stored(&cluster, kind, &spec_with_null)?;
        assert_eq!(null["spec"][list], default, "{kind} {list} null");

        let mut spec_with_empty = spec.clone();
        spec_with_empty[list] = json!([]);
        let empty = stored(&cluster, kind, &spec_with_empty)?;
        assert_eq!(empty["spec"][list], json!([]), "{kind} {list} empty");

        // What our types write back opens nothing that was closed.
        let written = through_the_types(kind, &empty)?;
        assert_eq!(
            written["spec"][list],
            json!([]),
            "{kind} {list} written back"
        );
    }
    Ok(())
}

/// Returns the object as the API server would store it.
fn stored(cluster: &Cluster, kind: &str, spec: &Value) -> Result<Value> {
    let object = json!({
        "apiVersion": "configbutler.ai/v1alpha3",
        "kind": kind,
        "metadata": {"name": "grants", "namespace": "grants"},
        "spec": spec,
    });
    let printed = cluster.kubectl.run_with_input(
        &[
            "create",
            "--dry-run=server",
            "--validate=strict",
            "-o",
            "json",
            "-f",
            "-",
        ],
        &object.to_string(),
    )?;
    Ok(serde_json::from_str(&printed)?)
}

fn through_the_types(kind: &str, object: &Value) -> Result<Value> {
    let object = object.clone();
    Ok(match kind {
        "GitProvider" => {
            serde_json::to_value(serde_json::from_value::<crds::GitProvider>(object)?)?
        }
        "GitBranch" => serde_json::to_value(serde_json::from_value::<crds::GitBranch>(object)?)?,
        "KubeProvider" => {
            serde_json::to_value(serde_json::from_value::<crds::KubeProvider>(object)?)?
        }
        _ => serde_json::to_value(serde_json::from_value::<crds::GitTarget>(object)?)?,
    })
}
