//! Every sample is accepted by a real API server under strict validation.

use std::path::Path;

use anyhow::{Context, Result};

use crate::cluster::Cluster;

#[test]
fn every_sample_is_accepted() -> Result<()> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crds/samples");
    let cluster = Cluster::shared()?;
    cluster.namespace("orchard")?;
    for folder in [samples.clone(), samples.join("complete")] {
        let folder_name = folder.to_str().context("the path is UTF-8")?;
        let printed = cluster.kubectl.run(&[
            "apply",
            "--dry-run=server",
            "--validate=strict",
            "-f",
            folder_name,
        ])?;
        let accepted = printed
            .lines()
            .filter(|line| line.contains(".configbutler.ai/"))
            .count();
        println!("{accepted} samples of {folder_name} accepted");
        assert!(accepted >= 10, "{printed}");
    }
    // Not a dry run: the small set has to work together, and prints the columns that people ask for.
    cluster.kubectl.run(&[
        "apply",
        "-f",
        samples.to_str().context("the path is UTF-8")?,
    ])?;
    let columns = cluster
        .kubectl
        .run(&["get", "gittargets", "-n", "orchard"])?;
    let header: Vec<&str> = columns
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    assert_eq!(
        header,
        [
            "NAME", "READY", "REASON", "BRANCH", "PATH", "COMMIT", "PENDING", "AGE"
        ]
    );
    let wide = cluster
        .kubectl
        .run(&["get", "gittargets", "-n", "orchard", "-o", "wide"])?;
    assert!(
        wide.lines().next().unwrap_or_default().contains("MESSAGE"),
        "{wide}"
    );
    Ok(())
}

#[test]
fn commit_request_stands_alone() -> Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crds/yaml/commitrequest-crd.yaml");
    let control_plane = testkit::ControlPlane::start()?;
    let kubectl = control_plane.as_admin()?;
    kubectl.run(&[
        "apply",
        "--server-side",
        "-f",
        file.to_str().context("the path is UTF-8")?,
    ])?;
    kubectl.run(&[
        "wait",
        "crd",
        "--all",
        "--for=condition=Established",
        "--timeout=120s",
    ])?;
    let served = kubectl.run(&["api-resources", "--api-group=configbutler.ai", "-o", "name"])?;
    assert_eq!(served.trim(), "commitrequests.configbutler.ai");
    Ok(())
}
