//! Hosts that fall silent: in every phase of a session a branch is held no longer than its limits, and says since when and by
//! what.

use std::net::{Ipv4Addr, SocketAddr};

use e2e::stage::Stage;
use testkit::relay::{Fate, Relay};
use testkit::wire::{Break, Way, Wire};
use testkit::{SshServer, wait};

use super::{Place, cases, stage, together};
use crate::plan::Plan;
use crate::ssh;

#[test]
fn case_25_a_host_that_falls_silent_in_any_phase_holds_a_branch_no_longer_than_its_limits() {
    let mut stage = stage(&["--git-call-timeout=2s"]);
    together(
        &stage,
        cases![
            case_25_nothing_is_answered,
            case_25_a_reader_is_not_let_in,
            case_25_a_reader_gets_no_answer,
            case_25_a_reader_gets_half_of_an_answer,
            case_25_a_writer_is_not_let_in,
            case_25_a_writer_gets_no_report,
            case_25_nothing_is_answered_over_ssh,
        ],
    );
    stage.stop_operator().unwrap();
}

/// The words of a branch that waits: since when, what for, and until when.
fn check_told(place: &Place<'_>) {
    let said = place.wait_branch([
        "False",
        "PushSessionFailed",
        "the server took too long: the ",
    ]);
    for words in ["nothing could be published since 20", "next attempt at 20"] {
        assert!(said.contains(words), "{said}");
    }
}

/// Lets the host be silent once, to the request of that kind, while an edit waits on top of a person's push.
fn silent_once(stage: &Stage, case: &str, words: &'static str) {
    let plan = Plan::default();
    let relay = Relay::start(stage.git.address(), {
        let plan = plan.clone();
        move |line| plan.of(line)
    });
    let place = Place::seeded(stage, case);
    let mirror = place.mirror_through(&relay);
    place.start(&mirror);
    let theirs = place.push_of_a_person("theirs.txt");
    plan.spoil(words, Fate::Silence);
    place.edit("settings", "first");
    wait::until("the host to be silent", wait::GENEROUS, || {
        plan.is_done().then_some(())
    })
    .unwrap();
    check_told(&place);
    place.wait("settings", "first");
    let judge = place.judge("main", &[&theirs]);
    place.check_edits(&judge, "settings", &["first"]);
    assert_eq!(judge.commits().unwrap().len(), 3);
}

fn case_25_a_reader_is_not_let_in(stage: &Stage, case: &str) {
    silent_once(stage, case, "service=git-upload-pack");
}

fn case_25_a_reader_gets_no_answer(stage: &Stage, case: &str) {
    silent_once(stage, case, "/git-upload-pack ");
}

fn case_25_a_writer_is_not_let_in(stage: &Stage, case: &str) {
    silent_once(stage, case, "service=git-receive-pack");
}

fn case_25_a_writer_gets_no_report(stage: &Stage, case: &str) {
    silent_once(stage, case, "/git-receive-pack ");
}

fn case_25_a_reader_gets_half_of_an_answer(stage: &Stage, case: &str) {
    let wire = Wire::whole(stage.git.address()).unwrap();
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    mirror.url = format!("http://127.0.0.1:{}/{}.git", wire.port(), place.name);
    place.start(&mirror);
    let person = place.person();
    let lines: String = (0..20_000_u64)
        .map(|line| format!("{:x}\n", line.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    person.write("large.txt", &lines).unwrap();
    let theirs = person.commit("large").unwrap();
    person.push().unwrap();
    wire.break_after(Way::ToClient, 50_000, Break::Stall);
    place.edit("settings", "first");
    wait::until("the host to be silent", wait::GENEROUS, || {
        (!wire.is_armed()).then_some(())
    })
    .unwrap();
    check_told(&place);
    place.wait("settings", "first");
    place.judge("main", &[&theirs]);
}

fn case_25_nothing_is_answered(stage: &Stage, case: &str) {
    let wire = Wire::whole(stage.git.address()).unwrap();
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    mirror.url = format!("http://127.0.0.1:{}/{}.git", wire.port(), place.name);
    place.start(&mirror);
    let before = place.tip("main");
    wire.break_after(Way::ToServer, 0, Break::Stall);
    place.edit("settings", "first");
    check_told(&place);
    place.wait("settings", "first");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first"]);
}

fn case_25_nothing_is_answered_over_ssh(stage: &Stage, case: &str) {
    let host = SshServer::serving(&stage.git).unwrap();
    let wire = Wire::whole(SocketAddr::from((Ipv4Addr::LOCALHOST, host.port()))).unwrap();
    let place = Place::seeded(stage, case);
    let through = |text: String| text.replace(&host.port().to_string(), &wire.port().to_string());
    let mut mirror = place.mirror();
    mirror.url = through(host.url(&place.name));
    stage.start_mirror(&mirror).unwrap();
    ssh::apply_key(stage, &place.name, host.client_key(), "");
    ssh::apply_host_keys(stage, &place.name, &through(host.known_hosts()));
    ssh::believe_host_keys(stage, &place.name);
    place.wait_ready();
    let before = place.tip("main");
    // Not a command is run any more.
    host.before_each_command("exec sleep 1000").unwrap();
    place.edit("settings", "first");
    check_told(&place);
    host.before_each_command("").unwrap();
    place.wait("settings", "first");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first"]);
}
