//! Hosts that refuse a push, cannot take it yet, or take their time over it.

use std::fs;

use e2e::stage::{GIT_PASSWORD, Stage};
use testkit::wait;

use super::{Place, cases, stage, together};

/// No token of anybody, and it looks like one.
const TOKEN: &str = "ghp_9kD2wQe7RtYuIoPaSdFgHjKlZxCvBnM1q2W3";

#[test]
fn case_18_19_25_a_refusal_is_told_in_the_hosts_words_and_what_waited_lands_by_itself() {
    let mut stage = stage(&[]);
    together(
        &stage,
        cases![
            b002_an_update_hook_refuses,
            b013_b014_a_pre_receive_hook_refuses,
            case_19_a_hidden_branch,
            case_18_a_lock_is_held,
            case_18_names_that_git_cannot_keep_together,
            case_25_a_hook_that_takes_35_seconds,
        ],
    );
    stage.stop_operator().unwrap();
}

fn b002_an_update_hook_refuses(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    place.publish("settings", "before");
    place.wait_ready();
    let before = place.tip("main");
    let pushes = place.pushes();
    let script = format!(
        "#!/bin/sh
printf '\\033]0;owned\\007frozen until Monday\\r\\n\\tsee https://bot:hunter2@rules.test/x\\000 {TOKEN} {GIT_PASSWORD}\\n' >&2
exit 1
"
    );
    place.repository.install_hook("update", &script).unwrap();
    place.edit("settings", "first");
    let said = place.wait_branch(["False", "PushRefused", "frozen until Monday"]);
    assert!(
        said.contains("since 20") && said.contains("next attempt at 20"),
        "{said}"
    );
    assert!(said.contains("rules.test"), "{said}");
    for secret in [TOKEN, "hunter2", GIT_PASSWORD] {
        assert!(!said.contains(secret), "{said}");
        assert!(!stage.operator().unwrap().log().contains(secret));
    }
    assert!(!said.chars().any(char::is_control), "{said:?}");
    let conditions = stage.conditions(&place.name, "gitbranch/main");
    let reconciling = conditions.get("Reconciling").unwrap().unwrap();
    assert_eq!(reconciling.status, "True");
    // A further edit waits as well and hurries nothing.
    place.edit("settings", "second");
    let object = ["get", "gitbranch/main", "-n", &place.name];
    let object = stage.admin.json(&object).unwrap();
    let shown = object["status"]["remote"]["commit"].as_str().unwrap();
    let real = place.repository.commits("main").unwrap();
    assert!(
        real.iter().any(|commit| commit == shown),
        "{shown} was refused"
    );
    let view = ["get", "branchstatus", "main", "-n", &place.name];
    wait::until("both edits to wait", wait::GENEROUS, || {
        let view = stage.admin.json(&view).ok()?;
        (view["status"]["pendingObjects"] == 2).then_some(())
    })
    .unwrap();
    assert_eq!(place.tip("main"), before);
    place.repository.require_fast_forwards().unwrap();
    place.wait("settings", "second");
    let judge = place.judge("main", &[&before]);
    // The host notes a push when it has answered it. One was refused and one landed; on a slow machine another attempt
    // fits in between.
    let attempts = place.pushes() - pushes;
    assert!((2..=4).contains(&attempts), "{attempts} attempts");
    place.check_edits(&judge, "settings", &["before", "first", "second"]);
    assert_eq!(judge.commits().unwrap().len(), 4);
}

fn b013_b014_a_pre_receive_hook_refuses(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    let before = place.tip("main");
    // A rule about authors, as hosts have it.
    let script = "#!/bin/sh
while read -r old new reference; do
    if git log --format=%ae \"$old..$new\" | grep -qv '@corp.test$'; then
        echo 'GL-HOOK-ERR: author domain not allowed' >&2
        echo 'ask the platform team' >&2
        exit 1
    fi
done
";
    place
        .repository
        .install_hook("pre-receive", script)
        .unwrap();
    place.edit("settings", "first");
    let said = place.wait_branch(["False", "PushRefused", "author domain not allowed"]);
    assert!(said.contains("ask the platform team"), "{said}");
    // The commit and whose it is.
    assert!(
        said.contains("refused the push of commit ") && said.contains(" by GitOps Reverser <"),
        "{said}"
    );
    // Until the second attempt, which the first wait holds back.
    wait::until("the next attempt", wait::GENEROUS, || {
        (place.pushes() >= 2).then_some(())
    })
    .unwrap();
    assert_eq!(place.tip("main"), before);
    place.repository.remove_hook("pre-receive").unwrap();
    place.wait("settings", "first");
    let judge = place.judge("main", &[&before]);
    assert_eq!(place.pushes(), 3, "two were refused and one landed");
    place.check_edits(&judge, "settings", &["first"]);
    assert_eq!(judge.commits().unwrap().len(), 2);
}

fn case_19_a_hidden_branch(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    let before = place.tip("main");
    let hide = ["config", "receive.hideRefs", "refs/heads/main"];
    place.repository.git(&hide).unwrap();
    place.edit("settings", "first");
    place.wait_branch([
        "False",
        "PushRefused",
        "shows branch main to readers and hides it",
    ]);
    assert_eq!(place.tip("main"), before);
    let show = ["config", "--unset", "receive.hideRefs"];
    place.repository.git(&show).unwrap();
    place.wait("settings", "first");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first"]);
}

fn case_18_a_lock_is_held(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    let before = place.tip("main");
    let lock = place.repository.path().join("refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    place.edit("settings", "first");
    // A lock is waited out as a lost race is; nobody refused anything.
    place.wait_branch(["False", "Progressing", "could not update the branch"]);
    assert_eq!(place.tip("main"), before);
    fs::remove_file(&lock).unwrap();
    place.wait("settings", "first");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first"]);
}

fn case_18_names_that_git_cannot_keep_together(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let before = place.tip("main");
    let branch = ["branch", "topic/old", "main"];
    place.repository.git(&branch).unwrap();
    let mut mirror = place.mirror();
    "topic".clone_into(&mut mirror.branch);
    place.start(&mirror);
    place.edit("settings", "first");
    let said = place.wait_branch(["False", "PushRefused", "topic/old"]);
    assert!(said.contains("topic cannot exist beside"), "{said}");
    assert_eq!(place.pushes(), 0, "nothing was sent");
    let away = ["branch", "-D", "topic/old"];
    place.repository.git(&away).unwrap();
    place.wait_on("topic", "settings", "first");
    let judge = place.judge("topic", &[&before]);
    place.check_edits(&judge, "settings", &["first"]);
}

fn case_25_a_hook_that_takes_35_seconds(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    let before = place.tip("main");
    let script = "#!/bin/sh\nexec sleep 35\n";
    place
        .repository
        .install_hook("pre-receive", script)
        .unwrap();
    place.publish("settings", "first");
    let judge = place.judge("main", &[&before]);
    assert_eq!(place.pushes(), 1, "it was waited for");
    place.check_edits(&judge, "settings", &["first"]);
}
