//! Whole trees of manifests: nothing changes where nothing is wanted, and every edit is right or refused.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test reports a failure by panicking, and prints what it counted"
)]

use proof::corpus::{Effort, Report, Text, judge, module_texts, trees};
use proof::dice::Dice;
use proof::fuzz::noise::Noise;
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
    let refused = |reason: &str| report.refused.get(reason).map_or(0, Vec::len);
    let rare = refused("no edit of the text reads back as the wanted object");
    let other = refused("a key is written with '?'");
    assert_eq!(rare + other, report.refusals(), "{report}");
    assert!(rare * 200 < report.edits, "{report}");
}

#[test]
fn ed_2_edits_of_the_files_of_the_pinned_tools_are_right_or_refused() {
    let (mut texts, _) = module_texts().unwrap();
    let mut dice = Dice::new(SEED);
    texts.retain(|text| text.bytes.len() < 100_000 && dice.once_in(3));
    report("modules, a third", &texts, Effort::Some(4));
}

#[test]
#[ignore = "takes minutes"]
fn ed_2_edits_of_every_file_of_the_pinned_tools_are_right_or_refused() {
    let (texts, not_text) = module_texts().unwrap();
    println!("{not_text} files are no UTF-8");
    report("modules", &texts, Effort::Every);
}

#[test]
fn noise_is_read_as_kubernetes_reads_it_or_not_at_all() {
    let mut noise = Noise::new(SEED);
    let texts: Vec<Text> = (0..6000)
        .filter_map(|index| {
            let bytes = String::from_utf8(noise.next_text()).ok()?;
            let name = format!("noise {index}");
            Some(Text { name, bytes })
        })
        .collect();
    let report = report("noise", &texts, Effort::Some(1));
    assert!(
        report.unreadable * 4 < texts.len() * 3,
        "most of it must say something: {report}"
    );
}

#[test]
fn plain_scalars_mean_what_they_mean_to_kubernetes() {
    let mut dice = Dice::new(SEED);
    let texts: Vec<Text> = (0..20_000)
        .map(|index| {
            let scalar = plain_scalar(&mut dice);
            let bytes = match index % 2 {
                0 => format!("value: {scalar}\n"),
                _ => format!("{scalar}: key\n"),
            };
            Text {
                name: bytes.clone(),
                bytes,
            }
        })
        .collect();
    report("scalars", &texts, Effort::Some(0));
}

/// Makes a scalar of the characters that numbers, dates and truth values are made of.
fn plain_scalar(dice: &mut Dice) -> String {
    const WORDS: [&str; 24] = [
        "0", "1", "7", "9", "00", "12", "400", "e", "E+", "e-", ".", "-", "+", "_", ":", "0x",
        "0o", "0b", "f", "inf", "nan", "on", "y", "~",
    ];
    let length = 1 + dice.below(5);
    let mut scalar = String::new();
    for _ in 0..length {
        scalar.push_str(dice.one(&WORDS));
    }
    match dice.below(12) {
        0 => scalar.to_uppercase(),
        1 => format!("{scalar}8446744073709551615"),
        2 => format!("2024-{scalar}"),
        _ => scalar,
    }
}
