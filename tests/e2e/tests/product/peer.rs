//! A peer pushes to the branch while edits go on.

use std::collections::BTreeSet;
use std::time::Duration;

use e2e::stage::{Setting, Stage, TEAM};
use testkit::wait;

#[test]
fn twenty_pushes_of_a_peer_lose_nothing_and_force_nothing() {
    let mut stage = Stage::start(Setting::default()).unwrap();
    stage.wait_ready("demo").unwrap();
    let peer = stage.git.clone("platform").unwrap();
    for round in 0..20 {
        let name = format!("edit-{round}");
        let value = format!("--from-literal=round={round}");
        stage
            .admin
            .run(&["create", "configmap", &name, "-n", TEAM, &value])
            .unwrap();
        peer.write(&format!("peer/{round}.txt"), "from the peer\n")
            .unwrap();
        peer.commit(&format!("peer {round}")).unwrap();
        peer.pull_and_push().unwrap();
        // Lets windows close in between, so that pushes of both sides meet in every order.
        std::thread::sleep(Duration::from_millis(400));
    }
    wait::until("every edit on the branch", wait::GENEROUS, || {
        let files: BTreeSet<String> = stage.repository.files("main").ok()?.into_iter().collect();
        let all = (0..20).all(|round| {
            files.contains(&format!(
                "clusters/demo/team-a/configmaps/edit-{round}.yaml"
            )) && files.contains(&format!("peer/{round}.txt"))
        });
        all.then_some(())
    })
    .unwrap();
    let clone = stage.git.clone("platform").unwrap();
    let merges = clone
        .git(&["rev-list", "--merges", "--count", "HEAD"])
        .unwrap();
    assert_eq!(merges.trim(), "0", "the history is linear");
    let subjects = clone.log("%s").unwrap();
    for round in 0..20 {
        let wanted = format!("peer {round}");
        assert_eq!(
            subjects
                .iter()
                .filter(|subject| **subject == wanted)
                .count(),
            1,
            "{wanted}"
        );
    }
    clone.fsck().unwrap();
    let updates = stage.repository.updates().unwrap();
    assert!(updates.iter().all(|update| update.accepted), "{updates:?}");
    stage.stop_operator().unwrap();
}
