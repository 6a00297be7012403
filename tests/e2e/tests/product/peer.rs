//! A peer pushes to the branch while edits go on.

use std::collections::BTreeMap;

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::{GitClone, wait};

const ROUNDS: u32 = 20;
/// A document that a person wrote and that both sides edit.
const SHARED: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: shared
  namespace: team-a
data:
  # The peer says: nothing yet.
  ours: round-none
  theirs: stays
";

#[test]
fn b003_twenty_pushes_of_a_peer_lose_nothing_and_force_nothing() {
    let path = format!("{FOLDER}/shared.yaml");
    let mut stage = Stage::start(Setting {
        seed: vec![(path.clone(), SHARED.to_owned())],
        ..Setting::default()
    })
    .unwrap();
    stage.admin.apply(SHARED).unwrap();
    stage.wait_current("demo").unwrap();
    let peer = stage.git.clone("platform").unwrap();
    for round in 0..ROUNDS {
        edit(&stage, round);
        push(&peer, &path, round);
        // In every fourth round the peer sees our commit before going on, otherwise both sides meet as it comes.
        if round % 4 == 3 {
            let value = format!("ours: round-{round}\n");
            stage
                .wait_file("shared.yaml", |text| text.contains(&value))
                .unwrap();
        }
    }
    let last = ROUNDS - 1;
    let ours = format!("round-{last}");
    stage
        .wait_file("shared.yaml", |text| text.contains(&ours))
        .unwrap();
    stage.wait_current("demo").unwrap();
    // The peer's comments stand, our value stands, and not a byte differs besides.
    let expected = SHARED
        .replace("nothing yet.", &format!("round {last}."))
        .replace("round-none", &ours)
        .replace("theirs: stays", &format!("theirs: stays # as of {last}"));
    assert_eq!(stage.repository.file("main", &path).unwrap(), expected);
    check_files(&stage);
    check_history(&stage);
    stage.stop_operator().unwrap();
}

/// Writes an object of its own and a value of the shared one.
fn edit(stage: &Stage, round: u32) {
    let own = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("edit-{round}"), "namespace": TEAM},
        "data": data(round),
    });
    stage.admin.apply(&own.to_string()).unwrap();
    let patch = json!({"data": {"ours": format!("round-{round}")}}).to_string();
    let patched = ["patch", "configmap", "shared", "-n", TEAM];
    stage
        .admin
        .run(&[patched.as_slice(), &["--type=merge", "-p", &patch]].concat())
        .unwrap();
}

fn data(round: u32) -> Value {
    json!({"round": round.to_string(), "text": format!("first {round}\nsecond {round}\n")})
}

/// Pushes a file of the peer's own, and comments in the document that we edit, changing none of its values.
fn push(peer: &GitClone, path: &str, round: u32) {
    wait::until_ok("the peer's push", wait::GENEROUS, || {
        // From the tip, as somebody does whose rebase would conflict on neighbouring lines.
        peer.git(&["fetch", "origin", "main"])?;
        peer.git(&["reset", "--hard", "FETCH_HEAD"])?;
        let commented: String = peer
            .read(path)?
            .lines()
            .map(|line| comment(line, round) + "\n")
            .collect();
        peer.write(path, &commented)?;
        peer.write(&format!("peer/{round}.txt"), &format!("peer {round}\n"))?;
        peer.commit(&format!("peer {round}"))?;
        peer.push()
    })
    .unwrap();
}

fn comment(line: &str, round: u32) -> String {
    if line.trim_start().starts_with("# The peer says:") {
        format!("  # The peer says: round {round}.")
    } else if line.trim_start().starts_with("theirs:") {
        format!("  theirs: stays # as of {round}")
    } else {
        line.to_owned()
    }
}

/// Every value of every edit and every file of the peer is there, and nothing else.
fn check_files(stage: &Stage) {
    let mut files: BTreeMap<String, String> = stage
        .repository
        .files("main")
        .unwrap()
        .into_iter()
        .map(|file| {
            let text = stage.repository.file("main", &file).unwrap();
            (file, text)
        })
        .collect();
    for round in 0..ROUNDS {
        let path = format!("{FOLDER}/team-a/configmaps/edit-{round}.yaml");
        let text = files
            .remove(&path)
            .unwrap_or_else(|| panic!("{path} is lost"));
        let document: Value = serde_yaml::from_str(&text).unwrap();
        let wanted = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("edit-{round}"), "namespace": TEAM},
            "data": data(round),
        });
        assert_eq!(document, wanted, "{path}");
        let theirs = files.remove(&format!("peer/{round}.txt"));
        assert_eq!(theirs, Some(format!("peer {round}\n")));
    }
    let rest: Vec<&String> = files.keys().collect();
    assert_eq!(rest, [&format!("{FOLDER}/shared.yaml")]);
}

fn check_history(stage: &Stage) {
    let clone = stage.git.clone("platform").unwrap();
    let merges = clone
        .git(&["rev-list", "--merges", "--count", "HEAD"])
        .unwrap();
    assert_eq!(merges.trim(), "0", "the history is linear");
    let subjects = clone.log("%s").unwrap();
    for round in 0..ROUNDS {
        let wanted = format!("peer {round}");
        let count = subjects
            .iter()
            .filter(|subject| **subject == wanted)
            .count();
        assert_eq!(count, 1, "{wanted}");
    }
    clone.fsck().unwrap();
    let updates = stage.repository.updates().unwrap();
    assert!(updates.iter().all(|update| update.accepted), "{updates:?}");
    let theirs = updates
        .iter()
        .filter(|update| update.reference == "refs/heads/main")
        .count();
    assert!(theirs > ROUNDS as usize, "{theirs} updates of both sides");
}
