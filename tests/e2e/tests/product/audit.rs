//! What the API server saw us ask for, and that only real changes become commits.

use e2e::current::Scrape;
use e2e::stage::{Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::{Forwarder, Kubeconfig, wait};

const OBJECTS: usize = 1_000;
const NOISE: usize = 200;
/// Real changes in each round.
const CHANGES: usize = 4;
const DISCONNECTS: usize = 3;

#[test]
fn one_streaming_watch_each_session_no_list_and_one_commit_for_each_change() {
    let setting = Setting {
        idle_timeout: "0s".to_owned(),
        ..Setting::default()
    };
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    let wire = Forwarder::to(&stage.control_plane.url()).unwrap();
    lead_operator_through(&mut stage, &wire);
    stage.apply_mirror(&setting).unwrap();
    create_objects(&stage);
    stage.start_operator().unwrap();
    stage.wait_current("demo").unwrap();
    let mut wanted = stage.repository.commits("main").unwrap().len();
    assert_eq!(sessions(&stage), [Opening::Anew]);
    for round in 0..DISCONNECTS {
        make_noise(&stage, round);
        let first = round * (CHANGES + 1);
        (first..first + CHANGES).for_each(|number| change(&stage, number));
        wanted += CHANGES;
        wait_commits(&stage, wanted);
        assert!(wire.cut() > 0, "the operator uses the wire");
        change(&stage, first + CHANGES);
        wanted += 1;
        wire.mend();
        wait::until("the next session", wait::GENEROUS, || {
            (sessions(&stage).len() == round + 2).then_some(())
        })
        .unwrap();
        wait_commits(&stage, wanted);
    }
    check_sessions(&stage);
    let noise = Scrape::of(stage.metrics_port)
        .unwrap()
        .sum("watch_events_total", &["resource=\"configmaps\""]);
    let least = NOISE * DISCONNECTS + (CHANGES + 1) * DISCONNECTS;
    assert!(
        noise >= least as f64,
        "the noise was seen: {noise} of {least}"
    );
    restart_of_the_api_server(&stage, wanted);
    stage.stop_operator().unwrap();
    assert_eq!(stage.repository.commits("main").unwrap().len(), wanted + 1);
}

/// Not counted exactly, because a restarted server need not know the version that we go on from, and then the
/// collection is read anew; by a watch, without a list, and without a commit for what is in Git already.
fn restart_of_the_api_server(stage: &Stage, before: usize) {
    let sessions_before = sessions(stage).len();
    stage.control_plane.stop_api_server();
    stage.control_plane.restart_api_server().unwrap();
    change(stage, OBJECTS - 1);
    wait_commits(stage, before + 1);
    assert_eq!(lists(stage), Vec::<String>::new());
    let later = &sessions(stage)[sessions_before..];
    let anew = later
        .iter()
        .filter(|opening| **opening == Opening::Anew)
        .count();
    assert!(!later.is_empty() && anew <= 1, "{later:?}");
}

fn check_sessions(stage: &Stage) {
    let sessions = sessions(stage);
    eprintln!("sessions: {sessions:?}");
    assert_eq!(sessions.len(), 1 + DISCONNECTS);
    assert_eq!(sessions[0], Opening::Anew);
    for session in &sessions[1..] {
        let Opening::From(version) = session else {
            panic!("{session:?} after a cut");
        };
        assert!(version.parse::<u64>().unwrap() > 0, "{version}");
    }
    assert_eq!(lists(stage), Vec::<String>::new(), "nothing is listed");
}

fn lead_operator_through(stage: &mut Stage, wire: &Forwarder) {
    let text = stage.operator_kubeconfig().text().unwrap();
    let server = stage.control_plane.url();
    assert!(text.contains(&server), "the kubeconfig names the server");
    let path = stage.control_plane.folder().join("operator-on-a-wire");
    std::fs::write(&path, text.replace(&server, &wire.url())).unwrap();
    stage.set_operator_kubeconfig(Kubeconfig::existing(path));
}

fn create_objects(stage: &Stage) {
    let items: Vec<Value> = (0..OBJECTS)
        .map(|number| {
            let noise = if number < NOISE { "yes" } else { "no" };
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {
                    "name": format!("object-{number}"),
                    "namespace": TEAM,
                    "labels": {"noise": noise},
                },
                "data": {"number": number.to_string()},
            })
        })
        .collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    stage
        .admin
        .run_with_input(&["create", "-f", "-"], &list)
        .unwrap();
}

/// Updates only what is taken out before anything is compared.
fn make_noise(stage: &Stage, round: usize) {
    let revision = format!("deployment.kubernetes.io/revision={round}");
    let selected = ["-n", TEAM, "-l", "noise=yes"];
    let annotate = ["annotate", "configmaps", "--overwrite", &revision];
    stage
        .admin
        .run(&[annotate.as_slice(), &selected].concat())
        .unwrap();
}

fn change(stage: &Stage, number: usize) {
    let name = format!("object-{number}");
    let patch = json!({"data": {"changed": "yes"}}).to_string();
    let patched = ["patch", "configmap", &name, "-n", TEAM];
    let arguments = [patched.as_slice(), &["--type=merge", "-p", &patch]].concat();
    wait::until_ok("the change to be taken", wait::GENEROUS, || {
        stage.admin.run(&arguments)
    })
    .unwrap();
}

fn wait_commits(stage: &Stage, wanted: usize) {
    wait::until("every change as its own commit", wait::GENEROUS, || {
        let commits = stage.repository.commits("main").ok()?;
        (commits.len() >= wanted).then_some(())
    })
    .unwrap();
    let commits = stage.repository.commits("main").unwrap();
    assert_eq!(
        commits.len(),
        wanted,
        "one commit for each real change, none for noise"
    );
}

/// How a watch of the mirrored collection was opened.
#[derive(Debug, PartialEq, Eq)]
enum Opening {
    /// With initial events.
    Anew,
    /// From a version that was seen before.
    From(String),
}

/// Returns what the operator asked of ConfigMaps in any namespace, except of the one that names the front
/// proxy, which the extension API follows by its name.
fn requests(stage: &Stage) -> Vec<Value> {
    let events = stage.control_plane.audit_events().unwrap();
    let ours = |event: &Value| {
        event["user"]["username"]
            .as_str()
            .is_some_and(|name| name.starts_with("system:serviceaccount:gitops-reverser:"))
            && event["objectRef"]["resource"] == "configmaps"
    };
    let of_the_proxy = |event: &Value| {
        let address = event["requestURI"].as_str().unwrap_or_default();
        let by_name = address.contains("metadata.name%3Dextension-apiserver-authentication")
            || event["objectRef"]["name"] == "extension-apiserver-authentication";
        event["objectRef"]["namespace"] == "kube-system" && by_name
    };
    events
        .into_iter()
        .filter(|event| ours(event) && !of_the_proxy(event))
        .collect()
}

/// Returns the watches that the API server answered, in their order. Each is of the mirrored namespace.
fn sessions(stage: &Stage) -> Vec<Opening> {
    let watches = requests(stage).into_iter().filter(|event| {
        event["verb"] == "watch"
            && event["stage"] == "ResponseStarted"
            && event["responseStatus"]["code"] == 200
    });
    watches
        .map(|event| {
            assert_eq!(event["objectRef"]["namespace"], TEAM, "{event}");
            opening(event["requestURI"].as_str().unwrap())
        })
        .collect()
}

fn opening(address: &str) -> Opening {
    let (_, query) = address.split_once('?').unwrap();
    let value = |name: &str| {
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find_map(|(key, value)| (key == name).then(|| value.to_owned()))
    };
    match (
        value("sendInitialEvents").as_deref(),
        value("resourceVersion"),
    ) {
        (Some("true"), _) => Opening::Anew,
        (_, Some(version)) => Opening::From(version),
        _ => panic!("a watch from nowhere: {address}"),
    }
}

/// Returns the lists of any ConfigMaps that the operator asked for, answered or not.
fn lists(stage: &Stage) -> Vec<String> {
    requests(stage)
        .iter()
        .filter(|event| event["verb"] == "list")
        .map(|event| event["requestURI"].as_str().unwrap_or_default().to_owned())
        .collect()
}
