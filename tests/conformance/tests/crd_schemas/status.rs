//! The status of a real object: its bounds, and the words that it may hold.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cluster::Cluster;

const NAME: &str = "status";

#[test]
fn conditions_keep_to_the_bounds_of_kubernetes() -> Result<()> {
    let cluster = Cluster::shared()?;
    cluster.namespace(NAME)?;
    let object = json!({
        "apiVersion": "configbutler.ai/v1alpha3",
        "kind": "GitBranch",
        "metadata": {"name": NAME, "namespace": NAME},
        "spec": {"gitProviderRef": {"name": "a"}, "branch": "main"},
    });
    cluster
        .kubectl
        .run_with_input(&["create", "-f", "-"], &object.to_string())?;

    let condition = |changes: &[(&str, Value)]| {
        let mut condition = json!({
            "type": "Ready", "status": "True", "reason": "Succeeded", "message": "",
            "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 1,
        });
        for (field, value) in changes {
            condition[*field] = value.clone();
        }
        condition
    };
    let accepted = json!({
        "conditions": [condition(&[]), condition(&[("type", json!("Stalled"))])],
        "remote": {"commit": "", "verifiedBy": "Fetch", "parent": {"state": "Missing"}},
        "gitTargetCount": 0,
    });
    patch(&cluster, &accepted)?;

    let refused = [
        (
            json!({"conditions": [condition(&[("status", json!("Yes"))])]}),
            "Unsupported value: \"Yes\"",
        ),
        (
            json!({"conditions": [condition(&[("reason", json!("not one word"))])]}),
            "should match",
        ),
        (
            json!({"conditions": [condition(&[("reason", json!(""))])]}),
            "should be at least 1 chars",
        ),
        (
            json!({"conditions": [condition(&[("type", json!("a b"))])]}),
            "should match",
        ),
        (
            json!({"conditions": [condition(&[("lastTransitionTime", json!("today"))])]}),
            "date-time",
        ),
        (
            json!({"conditions": [condition(&[("observedGeneration", json!(-1))])]}),
            "greater than or equal to 0",
        ),
        (
            json!({"conditions": [condition(&[]), condition(&[])]}),
            "Duplicate value",
        ),
        (
            json!({"remote": {"commit": "", "verifiedBy": "Guess"}}),
            "Unsupported value: \"Guess\"",
        ),
        (
            json!({"remote": {"commit": "", "parent": {"state": "Lost"}}}),
            "Unsupported value: \"Lost\"",
        ),
        (json!({"gitTargetCount": -1}), "greater than or equal to 0"),
    ];
    for (status, words) in refused {
        let error = patch(&cluster, &status)
            .expect_err("the status breaks a bound")
            .to_string();
        assert!(error.contains(words), "{status} says {error}");
    }
    Ok(())
}

fn patch(cluster: &Cluster, status: &Value) -> Result<String> {
    let patch = json!({"status": status}).to_string();
    cluster.kubectl.run(&[
        "patch",
        "gitbranch",
        NAME,
        "-n",
        NAME,
        "--subresource=status",
        "--type=merge",
        "-p",
        &patch,
    ])
}
