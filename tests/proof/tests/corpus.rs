//! Whole trees of manifests: nothing changes where nothing is wanted, and every edit is right or refused.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use proof::corpus::{Effort, Report, Text, judge, module_texts, trees};
use proof::dice::Dice;
use proof::oracle::Oracle;

const SEED: u64 = 1;

fn report(name: &str, texts: &[Text], effort: Effort) -> Report {
    let mut report = Report::new(name);
    judge(
        texts,
        effort,
        SEED,
        &mut Oracle::start().unwrap(),
        &mut report,
    )
    .unwrap();
    print!("{report}");
    report.assert_nothing_wrong();
    report
}

#[test]
fn ed_2_every_edit_of_an_application_repository_is_right() {
    let report = report("applications", &trees::apps(20, SEED), Effort::Every);
    assert_eq!(report.refusals(), 0, "{report}");
}

#[test]
fn ed_2_every_edit_of_rendered_manifests_is_right() {
    let report = report("rendered", &trees::rendered(30, SEED), Effort::Every);
    assert_eq!(report.refusals(), 0, "{report}");
}

#[test]
fn st_7_every_edit_of_an_odd_repository_is_right_or_refused() {
    let report = report("platform", &trees::platform(30, SEED), Effort::Every);
    // What is not expressible is rare, and of the rest only a key behind `?` is refused.
    let refused: Vec<&String> = report.refused.keys().collect();
    assert!(report.refusals() * 10 < report.edits, "{refused:?}");
}

#[test]
fn ed_2_edits_of_the_files_of_the_pinned_tools_are_right_or_refused() {
    let (mut texts, _) = module_texts().unwrap();
    let mut dice = Dice::new(SEED);
    texts.retain(|text| text.bytes.len() < 50_000 && dice.once_in(8));
    report("modules, some", &texts, Effort::Some(3));
}

#[test]
#[ignore = "takes minutes"]
fn ed_2_edits_of_every_file_of_the_pinned_tools_are_right_or_refused() {
    let (texts, not_text) = module_texts().unwrap();
    println!("{not_text} files are no UTF-8");
    report("modules", &texts, Effort::Every);
}
