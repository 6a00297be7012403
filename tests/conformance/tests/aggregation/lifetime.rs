//! The registration: repaired while the server runs, gone when it is, and no burden for the cluster.

use anyhow::{Result, ensure};
use testkit::{ControlPlane, Controllers, Kubectl, wait};

use crate::extension::{APISERVICE, Extension, WIDGETS, registration};

#[test]
fn the_registration_lives_and_ends_with_the_server() -> Result<()> {
    let control_plane = ControlPlane::builder()
        .controllers(Controllers::Cluster)
        .start()?;
    let mut extension = Extension::start(&control_plane)?;
    let admin = extension.admin.clone();
    registration_is_complete(&extension)?;
    registration_is_repaired(&extension)?;

    delete_a_namespace(&admin, "while-it-runs")?;
    extension.deregister()?;
    assert!(
        admin
            .refused(&["get", "apiservice", APISERVICE])?
            .contains("NotFound")
    );
    delete_a_namespace(&admin, "after-it-left")?;
    extension.stop()?;

    // The Secret outlives the process: the next one serves with the same authority.
    let extension = Extension::start(&control_plane)?;
    let bundle = registration(&admin)?["spec"]["caBundle"].clone();
    assert!(bundle.is_string());
    extension.kill();
    // Killed, it leaves the registration; whoever removes its role removes that too.
    registration(&admin)?;
    admin.run(&["delete", "clusterrole", "widget-server"])?;
    wait::until_ok(
        "the registration to go with its owner",
        wait::GENEROUS,
        || admin.refused(&["get", "apiservice", APISERVICE]),
    )?;
    delete_a_namespace(&admin, "after-the-kill")?;
    a_registration_of_somebody_else(&control_plane, &admin)
}

fn a_registration_of_somebody_else(control_plane: &ControlPlane, admin: &Kubectl) -> Result<()> {
    let mut extension = Extension::start_under_a_chart(control_plane)?;
    admin.get_raw(WIDGETS)?;
    let spec = registration(admin)?["spec"].clone();
    assert!(
        spec["caBundle"].is_string() && spec["groupPriorityMinimum"] == 200,
        "{spec}"
    );
    extension.deregister()?;
    registration(admin)?;
    extension.stop()?;
    admin.run(&["delete", "apiservice", APISERVICE])?;
    Ok(())
}

fn registration_is_complete(extension: &Extension) -> Result<()> {
    let object = registration(&extension.admin)?;
    let spec = &object["spec"];
    assert_eq!(
        (
            spec["groupPriorityMinimum"].as_i64(),
            spec["versionPriority"].as_i64()
        ),
        (Some(100), Some(100))
    );
    assert_eq!(spec["service"]["port"], extension.port);
    assert!(spec["insecureSkipTLSVerify"].is_null() || spec["insecureSkipTLSVerify"] == false);
    assert_eq!(
        object["metadata"]["ownerReferences"][0]["kind"],
        "ClusterRole"
    );
    Ok(())
}

fn registration_is_repaired(extension: &Extension) -> Result<()> {
    let admin = &extension.admin;
    let right = registration(admin)?["spec"]["caBundle"].clone();
    let wrong = r#"{"spec":{"caBundle":null,"versionPriority":7}}"#;
    admin.run(&[
        "patch",
        "apiservice",
        APISERVICE,
        "--type=merge",
        "-p",
        wrong,
    ])?;
    let repaired = |what: &str| {
        wait::until_ok(what, wait::GENEROUS, || {
            let spec = registration(admin)?["spec"].clone();
            ensure!(
                spec["caBundle"] == right && spec["versionPriority"] == 100,
                "{spec}"
            );
            admin.get_raw(WIDGETS)
        })
    };
    repaired("the registration to be repaired")?;
    let insecure = r#"{"spec":{"caBundle":null,"insecureSkipTLSVerify":true}}"#;
    admin.run(&[
        "patch",
        "apiservice",
        APISERVICE,
        "--type=merge",
        "-p",
        insecure,
    ])?;
    repaired("verification to be switched on again")?;
    admin.run(&["delete", "apiservice", APISERVICE])?;
    repaired("the registration to be made again")?;
    Ok(())
}

/// Namespaces are deleted only when the discovery of every group works.
fn delete_a_namespace(admin: &Kubectl, name: &str) -> Result<()> {
    admin.run(&["create", "namespace", name])?;
    admin.run(&["create", "configmap", "something", "-n", name])?;
    admin.run(&["delete", "namespace", name, "--timeout=120s"])?;
    Ok(())
}
