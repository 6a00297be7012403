//! What the API server saw us ask for, and that only real changes become commits.

use e2e::stage::{Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::wait;

const OBJECTS: usize = 1_000;
const NOISE: usize = 200;
const CHANGES: usize = 12;
const DISCONNECTS: usize = 3;

#[test]
fn one_streaming_watch_each_session_no_list_and_one_commit_for_each_change() {
    let setting = Setting {
        idle_timeout: "0s".to_owned(),
        ..Setting::default()
    };
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    stage.apply_mirror(&setting).unwrap();
    let items: Vec<Value> = (0..OBJECTS)
        .map(|number| {
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("object-{number}"), "namespace": TEAM, "labels": {"noise": if number < NOISE { "yes" } else { "no" }}},
                "data": {"number": number.to_string()}})
        })
        .collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    stage
        .admin
        .run_with_input(&["create", "-f", "-"], &list)
        .unwrap();
    stage.start_operator().unwrap();
    stage.wait_ready("demo").unwrap();
    let start = stage.repository.commits("main").unwrap().len();
    for round in 0..DISCONNECTS {
        let noise = format!("deployment.kubernetes.io/revision={round}");
        stage
            .admin
            .run(&[
                "annotate",
                "configmaps",
                "-n",
                TEAM,
                "-l",
                "noise=yes",
                "--overwrite",
                &noise,
            ])
            .unwrap();
        for number in 0..CHANGES / DISCONNECTS {
            change(&stage, round * CHANGES + number);
        }
        stage.control_plane.stop_api_server();
        stage.control_plane.restart_api_server().unwrap();
    }
    change(&stage, 999);
    let wanted = start + CHANGES + 1;
    wait::until("every change as its own commit", wait::GENEROUS, || {
        let commits = stage.repository.commits("main").ok()?;
        (commits.len() >= wanted).then_some(())
    })
    .unwrap();
    stage.stop_operator().unwrap();
    let commits = stage.repository.commits("main").unwrap();
    assert_eq!(
        commits.len(),
        wanted,
        "one commit for each real change, none for noise"
    );
    let (watches, lists) = requests(&stage);
    eprintln!("{watches} watches and {lists} lists of the mirrored collection");
    assert_eq!(lists, 0, "a mirrored collection is never listed");
    assert!(
        (1..=DISCONNECTS * 2 + 2).contains(&watches),
        "{watches} watches for {DISCONNECTS} disconnects"
    );
}

fn change(stage: &Stage, number: usize) {
    let name = format!("object-{number}");
    let patch = json!({"data": {"changed": "yes"}}).to_string();
    wait::until_ok("the change to be taken", wait::GENEROUS, || {
        stage.admin.run(&[
            "patch",
            "configmap",
            &name,
            "-n",
            TEAM,
            "--type=merge",
            "-p",
            &patch,
        ])
    })
    .unwrap();
}

/// Counts the operator's watches and lists of the mirrored collection that the API server served.
fn requests(stage: &Stage) -> (usize, usize) {
    let operator = "system:serviceaccount:gitops-reverser:";
    let events = stage.control_plane.audit_events().unwrap();
    let of_ours = events.iter().filter(|event| {
        event["user"]["username"]
            .as_str()
            .is_some_and(|name| name.starts_with(operator))
            && event["objectRef"]["resource"] == "configmaps"
            && event["objectRef"]["namespace"] == TEAM
            && event["stage"] == "ResponseStarted"
            || event["stage"] == "ResponseComplete"
                && event["verb"] == "list"
                && event["user"]["username"]
                    .as_str()
                    .is_some_and(|name| name.starts_with(operator))
                && event["objectRef"]["resource"] == "configmaps"
                && event["objectRef"]["namespace"] == TEAM
    });
    of_ours.fold((0, 0), |(watches, lists), event| {
        match event["verb"].as_str() {
            Some("watch") => (watches + 1, lists),
            Some("list") => (watches, lists + 1),
            _ => (watches, lists),
        }
    })
}
