//! Connections that break at any byte of a large push, while somebody else pushes. `HOSTS_ROUNDS` is how many break in
//! each place, `HOSTS_SEED` where.

use std::time::{SystemTime, UNIX_EPOCH};

use e2e::stage::Stage;
use serde_json::json;
use testkit::wait;
use testkit::wire::{Break, Way, Wire};

use super::{Place, cases, stage, together};
use crate::dice::{Dice, from_environment};

const ROUNDS: u64 = 2;
/// What each edit brings.
const BYTES: usize = 200_000;

#[test]
fn case_3_7_8_35_a_connection_that_breaks_at_any_byte_loses_no_edit_and_doubles_none() {
    let mut stage = stage(&["--git-call-timeout=5s"]);
    together(
        &stage,
        cases![
            case_8_the_pack_is_cut,
            case_8_the_pack_stalls,
            case_3_the_answer_is_cut,
            case_7_the_answer_stalls,
        ],
    );
    stage.stop_operator().unwrap();
}

fn case_8_the_pack_is_cut(stage: &Stage, case: &str) {
    breaks(stage, case, Way::ToServer, Break::Cut);
}

fn case_8_the_pack_stalls(stage: &Stage, case: &str) {
    breaks(stage, case, Way::ToServer, Break::Stall);
}

fn case_3_the_answer_is_cut(stage: &Stage, case: &str) {
    breaks(stage, case, Way::ToClient, Break::Cut);
}

fn case_7_the_answer_stalls(stage: &Stage, case: &str) {
    breaks(stage, case, Way::ToClient, Break::Stall);
}

fn breaks(stage: &Stage, case: &str, way: Way, how: Break) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = from_environment("HOSTS_SEED", now.as_secs());
    let rounds = from_environment("HOSTS_ROUNDS", ROUNDS);
    let of_case = case.bytes().fold(seed, |mixed, byte| {
        mixed.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let mut dice = Dice(of_case);
    let wire = Wire::whole(stage.git.address()).unwrap();
    let place = Place::seeded(stage, case);
    let mut mirror = place.mirror();
    mirror.url = format!("http://127.0.0.1:{}/{}.git", wire.port(), place.name);
    place.start(&mirror);
    // A push that nothing happens to says how much the others carry.
    let before = wire.carried(way);
    place.edit_with("settings", "whole", &json!({"bulk": bulk(&mut dice)}));
    place.wait("settings", "whole");
    place.wait_ready();
    let whole = u64::try_from(wire.carried(way) - before).unwrap();
    let mut kept = vec![place.tip("main")];
    let mut values = vec!["whole".to_owned()];
    for round in 0..rounds {
        let at = usize::try_from(dice.below(whole)).unwrap();
        eprintln!(
            "{case}: HOSTS_SEED={seed}, round {round}: {way:?} {how:?} after {at} of {whole}"
        );
        let value = format!("round-{round}");
        wire.break_after(way, at, how);
        place.edit_with("settings", &value, &json!({"bulk": bulk(&mut dice)}));
        wait::until("the connection to break", wait::GENEROUS, || {
            let path = place.path("settings");
            let text = place.repository.file("main", &path).unwrap_or_default();
            let is_there = text.contains(&format!("is: {value}\n"));
            (is_there || !wire.is_armed()).then_some(())
        })
        .unwrap_or_else(|error| panic!("{error}: {}", place.explain()));
        // Before the operator can have found out what became of its push.
        kept.push(place.push_of_a_person(&format!("{round}.txt")));
        place.wait("settings", &value);
        place.wait_ready();
        values.push(value);
    }
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let judge = place.judge("main", &kept);
    place.check_edits(&judge, "settings", &values);
    // The seed, the whole push, and two commits in each round.
    let commits = judge.commits().unwrap().len();
    assert_eq!(u64::try_from(commits).unwrap(), 2 + 2 * rounds);
}

/// Text that is packed to less than half and not to nothing.
fn bulk(dice: &mut Dice) -> String {
    let mut text = String::with_capacity(BYTES);
    while text.len() < BYTES {
        let (high, low) = (dice.below(1 << 31), dice.below(1 << 31));
        text.push_str(&format!("{high:08x}{low:08x}\n"));
    }
    text
}
