use std::fs;

use testkit::ControlPlane;

use super::{PATH, record};
use crate::repository;

#[test]
fn d27_the_record_is_what_the_api_server_answers() {
    let control_plane = ControlPlane::start().unwrap();
    let recorded = record(&control_plane).unwrap();
    let committed = fs::read_to_string(repository::root().join(PATH)).unwrap();
    let differs = recorded
        .lines()
        .filter(|line| !committed.lines().any(|other| other == *line))
        .take(10)
        .collect::<Vec<_>>();
    assert!(
        recorded == committed,
        "run `cargo xtask generate` and look at what it changes: {differs:#?}"
    );
}
