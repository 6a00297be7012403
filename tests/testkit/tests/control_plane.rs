//! The control plane does what its description says: starts, authorizes, streams, records, ends.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test too")]

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{ControlPlane, Controllers, Person, wait};

/// Whether any process of a process group is left.
fn is_running(group: u32) -> bool {
    Path::new(&format!("/proc/{group}")).exists()
}

#[test]
fn alice_is_refused_by_rbac_until_a_role_allows_her() {
    let control_plane = ControlPlane::start().unwrap();
    let admin = control_plane.as_admin().unwrap();
    let alice = Person::named("alice").group("developers");
    let kubeconfig = control_plane.person(&alice).unwrap();
    let as_alice = control_plane.kubectl(&kubeconfig).unwrap();

    admin
        .run(&["create", "configmap", "settings", "--from-literal=a=1"])
        .unwrap();
    let refusal = as_alice.refused(&["get", "configmap", "settings"]).unwrap();
    assert!(
        refusal.contains("Forbidden") && refusal.contains(r#"User "alice""#),
        "{refusal}"
    );

    admin
        .run(&[
            "create",
            "role",
            "reader",
            "--verb=get",
            "--resource=configmaps",
        ])
        .unwrap();
    admin
        .run(&[
            "create",
            "rolebinding",
            "readers",
            "--role=reader",
            "--group=developers",
        ])
        .unwrap();
    let data = wait::until_ok("the role binding to be seen", wait::GENEROUS, || {
        as_alice.json(&["get", "configmap", "settings"])
    });
    assert_eq!(data.unwrap()["data"], json!({ "a": "1" }));
}

#[test]
fn people_bring_uid_groups_and_extra() {
    let control_plane = ControlPlane::start().unwrap();
    let bob = Person::named("bob")
        .group("developers")
        .group("on-call")
        .uid("bob-1")
        .extra("example.com/email", &["bob@example.com"]);
    let kubeconfigs = [
        control_plane.person(&bob).unwrap(),
        control_plane.impersonating(&bob).unwrap(),
    ];
    for kubeconfig in kubeconfigs {
        let kubectl = control_plane.kubectl(&kubeconfig).unwrap();
        let review = kubectl.json(&["auth", "whoami"]).unwrap();
        let user = &review["status"]["userInfo"];
        assert_eq!(user["username"], "bob");
        assert_eq!(user["uid"], "bob-1");
        assert_eq!(
            user["extra"]["example.com/email"],
            json!(["bob@example.com"])
        );
        let groups = user["groups"].as_array().unwrap();
        assert!(groups.contains(&json!("on-call")), "{groups:?}");
        assert!(groups.contains(&json!("developers")), "{groups:?}");
    }
    let unknown = control_plane
        .certificate_user("carol", Some("readers"))
        .unwrap();
    let review = control_plane
        .kubectl(&unknown)
        .unwrap()
        .json(&["auth", "whoami"])
        .unwrap();
    assert_eq!(review["status"]["userInfo"]["username"], "carol");
}

#[test]
fn a_service_account_gets_tokens_of_the_wanted_lifetime() {
    let control_plane = ControlPlane::start().unwrap();
    control_plane
        .as_admin()
        .unwrap()
        .run(&["create", "serviceaccount", "robot"])
        .unwrap();
    for lifetime in [None, Some(Duration::from_secs(90 * 24 * 3600))] {
        let kubeconfig = control_plane
            .service_account("default", "robot", lifetime)
            .unwrap();
        let review = control_plane
            .kubectl(&kubeconfig)
            .unwrap()
            .json(&["auth", "whoami"])
            .unwrap();
        assert_eq!(
            review["status"]["userInfo"]["username"],
            "system:serviceaccount:default:robot"
        );
    }
}

#[test]
fn a_streaming_list_ends_with_its_bookmark() {
    let control_plane = ControlPlane::start().unwrap();
    let admin = control_plane.as_admin().unwrap();
    admin.run(&["create", "configmap", "one"]).unwrap();
    let path = "/api/v1/namespaces/default/configmaps?watch=1&sendInitialEvents=true\
                &resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=2";
    let events: Vec<Value> = admin
        .get_raw(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events[0]["type"], "ADDED");
    let end = events
        .iter()
        .find(|event| event["type"] == "BOOKMARK")
        .unwrap();
    let annotations = &end["object"]["metadata"]["annotations"];
    assert_eq!(annotations["k8s.io/initial-events-end"], "true");
}

#[test]
fn the_audit_log_names_users_and_requests() {
    let control_plane = ControlPlane::builder().audit_log().start().unwrap();
    let kubeconfig = control_plane.person(&Person::named("alice")).unwrap();
    let as_alice = control_plane.kubectl(&kubeconfig).unwrap();
    as_alice
        .refused(&["get", "--raw", "/api/v1/namespaces/default/secrets"])
        .unwrap();
    let event = wait::until("alice in the audit log", wait::GENEROUS, || {
        let events = control_plane.audit_events().unwrap();
        events
            .into_iter()
            .find(|event| event["user"]["username"] == "alice")
    })
    .unwrap();
    assert_eq!(event["verb"], "list");
    assert_eq!(event["objectRef"]["resource"], "secrets");
    assert_eq!(event["responseStatus"]["code"], 403);
}

#[test]
fn two_control_planes_know_nothing_of_each_other() {
    let one = ControlPlane::start().unwrap();
    let other = ControlPlane::start().unwrap();
    one.as_admin()
        .unwrap()
        .run(&["create", "configmap", "only-here"])
        .unwrap();
    let refusal = other
        .as_admin()
        .unwrap()
        .refused(&["get", "configmap", "only-here"])
        .unwrap();
    assert!(refusal.contains("NotFound"), "{refusal}");
}

#[test]
fn controllers_finish_the_removal_of_a_namespace() {
    let control_plane = ControlPlane::builder()
        .controllers(Controllers::Cluster)
        .start()
        .unwrap();
    let admin = control_plane.as_admin().unwrap();
    admin.run(&["create", "namespace", "short-lived"]).unwrap();
    admin
        .run(&["delete", "namespace", "short-lived", "--wait=true"])
        .unwrap();
    let refusal = admin.refused(&["get", "namespace", "short-lived"]).unwrap();
    assert!(refusal.contains("NotFound"), "{refusal}");
}

#[test]
fn the_api_server_comes_back_with_its_objects() {
    let control_plane = ControlPlane::start().unwrap();
    let admin = control_plane.as_admin().unwrap();
    admin.run(&["create", "configmap", "kept"]).unwrap();
    control_plane.stop_api_server();
    let silence = admin.refused(&["get", "configmap", "kept"]).unwrap();
    assert!(silence.contains("refused"), "{silence}");
    control_plane.restart_api_server().unwrap();
    admin.run(&["get", "configmap", "kept"]).unwrap();
}

#[test]
fn a_rotation_of_the_front_proxy_reaches_the_published_authorities() {
    let control_plane = ControlPlane::start().unwrap();
    let admin = control_plane.as_admin().unwrap();
    let front_proxy = control_plane.front_proxy();
    let wait_until_published = || {
        let expected = front_proxy.bundle();
        wait::until("the authorities to be published", wait::GENEROUS, || {
            let map = admin
                .json(&[
                    "-n",
                    "kube-system",
                    "get",
                    "cm",
                    "extension-apiserver-authentication",
                ])
                .ok()?;
            let published = map["data"]["requestheader-client-ca-file"].as_str()?;
            (published.trim() == expected.trim()).then_some(())
        })
        .unwrap();
        expected.matches("BEGIN CERTIFICATE").count()
    };
    assert_eq!(wait_until_published(), 1);
    front_proxy.trust_new_authority().unwrap();
    assert_eq!(wait_until_published(), 2);
    front_proxy.switch_certificate().unwrap();
    front_proxy.drop_old_authority().unwrap();
    // The API server only ever adds to what it published before, so a person has to tidy up.
    admin
        .run(&[
            "-n",
            "kube-system",
            "delete",
            "cm",
            "extension-apiserver-authentication",
        ])
        .unwrap();
    assert_eq!(wait_until_published(), 1);
}

#[test]
fn nothing_is_left_after_a_drop() {
    let control_plane = ControlPlane::builder()
        .controllers(Controllers::Cluster)
        .start()
        .unwrap();
    let processes = control_plane.process_ids();
    let folder = control_plane.folder().to_owned();
    assert_eq!(processes.len(), 3);
    assert!(processes.iter().all(|id| is_running(*id)));
    drop(control_plane);
    assert!(!processes.iter().any(|id| is_running(*id)));
    assert!(!folder.exists());
}

#[test]
fn a_panic_stops_the_programs_and_keeps_the_logs() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let outcome = std::thread::spawn(move || {
        let control_plane = ControlPlane::start().unwrap();
        sender
            .send((
                control_plane.process_ids(),
                control_plane.folder().to_owned(),
            ))
            .unwrap();
        panic!("on purpose");
    })
    .join();
    assert!(outcome.is_err());
    let (processes, folder) = receiver.recv().unwrap();
    assert!(!processes.iter().any(|id| is_running(*id)));
    assert!(folder.join("kube-apiserver.log").exists());
    std::fs::remove_dir_all(folder).unwrap();
}
