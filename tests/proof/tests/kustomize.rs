//! Our renderer says what kustomize's own library says.
#![allow(
    clippy::print_stdout,
    reason = "a test prints what it counted, and the seed"
)]

use anyhow::{Result, anyhow, bail};
use manifests::kustomize::generator::edit::{env_with_value, literal_with_value};
use manifests::kustomize::generator::{GeneratorOptions, generate};
use manifests::kustomize::node::{Content, Node, Supplier};
use proof::kustomize::archive::{self, Files};
use proof::kustomize::cases::{Case, Mark, cases};
use proof::kustomize::effort::Effort;
use proof::kustomize::folders::{ROOT, repository};
use proof::kustomize::generated::{Generated, generated, value};
use proof::kustomize::live::Live;
use proof::kustomize::mutation::{Mutation, changed, mutations};
use proof::kustomize::oracle::{Answer, Oracle, Version};
use proof::kustomize::patched::patched;
use proof::kustomize::removed::{Outcome, Removal, removals};
use proof::kustomize::tally::{Accepted, Tally, are_equal};
use proof::kustomize::{matrix, ours};
use serde_json::Value;

/// Patches that kustomize merges into something that nobody means.
const PATCHES_REFUSED: [&str; 3] = [
    "kustomize does not follow the directive",
    "has no `",
    "a patch follows one that takes an object away",
];
/// Inputs of generators that kustomize reads into what no API server takes, or that it may lose.
const GENERATORS_REFUSED: [&str; 3] = [
    "cannot be a key of a ConfigMap",
    "begins with a tab",
    "holds a control character",
];

#[test]
fn d29_folders_written_by_hand_build_to_what_they_say() -> Result<()> {
    let cases = cases()?;
    let folders = || cases.iter().map(|case| (&case.files, case.folder.as_str()));
    let followed = Oracle::start(Version::Followed)?.build(folders())?;
    let older = Oracle::start(Version::Older)?.build(folders())?;
    let mut wrong = Vec::new();
    for ((case, theirs), older) in cases.iter().zip(followed).zip(older) {
        let is_skewed = theirs.as_ref().ok() != older.as_ref().ok();
        let ours = ours::objects(&case.files, &case.folder);
        let found = match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) if are_equal(ours, theirs) => Some(Mark::Equal),
            (Err(_), Err(_)) => Some(Mark::Fails),
            (Err(_), Ok(_)) => Some(Mark::Refused),
            (Ok(_), _) => None,
        };
        if found != Some(case.mark) || is_skewed != case.is_skewed {
            wrong.push(format!(
                "{}: {:?}, skew {is_skewed}\n  ours: {ours:?}\n  theirs: {theirs:?}",
                case.title, found
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
    Ok(())
}

#[test]
fn sc_18_it_is_known_what_builds_only_without_restrictions() -> Result<()> {
    let cases: Vec<Case> = cases()?
        .into_iter()
        .filter(|case| case.mark == Mark::Equal)
        .collect();
    let folders = cases.iter().map(|case| (&case.files, case.folder.as_str()));
    let answers = Oracle::start(Version::Followed)?.build_restricted(folders)?;
    let mut refused = 0;
    for (case, theirs) in cases.iter().zip(answers) {
        let ours = ours::is_restricted(&case.files, &case.folder);
        assert_eq!(ours, Ok(theirs.is_ok()), "{}: {theirs:?}", case.title);
        refused += usize::from(theirs.is_err());
    }
    assert!(refused >= 3, "few folders read files outside of them");
    Ok(())
}

#[test]
fn d29_every_combination_builds_to_the_same() -> Result<()> {
    for (what, folders, refused) in [
        ("namespaces", matrix::namespaces(), [].as_slice()),
        ("images", matrix::images(), &["has no name"]),
        ("labels", matrix::labels(), &[]),
        ("scalars", matrix::scalars(), &["the key \"<<\" is no text"]),
        ("remote references", matrix::remote(), &[]),
        ("merged lists", matrix::merged_lists()?, &[]),
    ] {
        let effort = Effort::from_environment()?;
        compare(what, &folders, ".", effort, Accepted::Exactly(refused))?;
    }
    Ok(())
}

#[test]
fn d29_made_up_repositories_build_to_the_same() -> Result<()> {
    let effort = Effort::from_environment()?;
    let mut dice = effort.dice();
    let repositories: Vec<Files> = (0..effort.cases).map(|_| repository(&mut dice)).collect();
    let accepted = Accepted::Among(&PATCHES_REFUSED);
    let answers = compare("repositories", &repositories, ROOT, effort, accepted)?;
    let roots = repositories.iter().map(|files| (files, ROOT));
    let older = Oracle::start(Version::Older)?.build(roots)?;
    for ((files, ours), older) in repositories.iter().zip(answers).zip(older) {
        // What we build, the older kustomize builds to the same.
        let is_same = match (&ours, &older) {
            (Ok(ours), Ok(older)) => are_equal(ours, older),
            (Ok(_), Err(_)) => false,
            (Err(_), _) => true,
        };
        assert!(is_same, "{}\nolder: {older:?}", archive::text(files));
    }
    Ok(())
}

#[test]
fn e2_another_input_changes_exactly_what_it_supplies() -> Result<()> {
    let effort = Effort::from_environment()?;
    let mut dice = effort.dice();
    let mut changes = Vec::new();
    for _ in 0..effort.cases {
        let files = repository(&mut dice);
        let Ok(render) = ours::render(&files, ROOT) else {
            continue;
        };
        let mutations = mutations(&files, &render);
        for _ in 0..2 {
            let mutation = dice.pick(&mutations).cloned();
            changes.extend(mutation.map(|mutation| Change {
                folder: ROOT.to_owned(),
                before: files.clone(),
                mutation,
            }));
        }
    }
    assert!(changes.len() > effort.cases / 2, "few inputs were changed");
    println!("seed {}", effort.seed);
    assert_exact(&changes)
}

#[test]
fn e2_every_input_of_a_folder_written_by_hand_changes_exactly_what_it_supplies() -> Result<()> {
    let mut changes = Vec::new();
    for case in cases()? {
        // Another label may be selected by another patch.
        let selects = archive::text(&case.files).contains("Selector: \"");
        if case.mark != Mark::Equal || selects {
            continue;
        }
        let Ok(render) = ours::render(&case.files, &case.folder) else {
            bail!("{} is not rendered", case.title);
        };
        let mutations = mutations(&case.files, &render);
        changes.extend(mutations.into_iter().map(|mutation| Change {
            folder: case.folder.clone(),
            before: case.files.clone(),
            mutation,
        }));
    }
    assert_exact(&changes)
}

#[test]
fn e8_a_folder_builds_to_what_its_objects_became_or_stays() -> Result<()> {
    let effort = Effort::from_environment()?;
    let mut dice = effort.dice();
    let mut lives = Vec::new();
    let mut outcomes = Vec::new();
    for _ in 0..effort.cases {
        let files = repository(&mut dice);
        let Ok(render) = ours::render(&files, ROOT) else {
            continue;
        };
        for _ in 0..4 {
            let Some(live) = Live::new(&files, &render, &mut dice, ROOT) else {
                continue;
            };
            match live.follow(ROOT) {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => bail!("{error}\n{}", archive::text(&live.files)),
            }
            lives.push(live);
        }
    }
    let folders = outcomes.iter().map(|it| (&it.files, ROOT));
    let answers = Oracle::start(Version::Followed)?.build(folders)?;
    let mut wrong = Vec::new();
    for ((live, outcome), built) in lives.iter().zip(&outcomes).zip(answers) {
        let is_right = matches!(&built, Ok(built) if are_equal(&outcome.expected, built));
        let is_idle = outcome.landed > 0 || outcome.files == live.files;
        if !is_right || !is_idle {
            wrong.push(format!(
                "{}\nbecame\n{}\nwishes: {:?}\nrefused: {:?}\nbuilt: {built:?}",
                archive::text(&live.files),
                archive::text(&outcome.files),
                live.wishes,
                outcome.refused
            ));
        }
    }
    wrong.sort_by_key(String::len);
    assert!(
        wrong.is_empty(),
        "{} of {}, seed {}; the shortest:\n{}",
        wrong.len(),
        lives.len(),
        effort.seed,
        wrong[0]
    );
    let landed: usize = outcomes.iter().map(|outcome| outcome.landed).sum();
    let refused: usize = outcomes.iter().map(|outcome| outcome.refused.len()).sum();
    println!(
        "seed {}: {landed} objects landed, {refused} refused",
        effort.seed
    );
    assert!(landed * 4 > refused, "few changes land");
    Ok(())
}

#[test]
fn dp_5_an_object_leaves_a_folder_and_comes_back_and_nothing_else_moves() -> Result<()> {
    let mut played = Vec::new();
    for removal in removals()? {
        match removal.play() {
            Ok(Ok(outcome)) => played.push((removal, outcome)),
            Ok(Err(refusal)) => bail!("{}: {refusal}", removal.title),
            Err(error) => bail!("{}: {error:#}", removal.title),
        }
    }
    assert_removed(Version::Followed, &played)?;
    assert_removed(Version::Older, &played)
}

#[test]
fn dp_5_an_object_of_a_made_up_folder_leaves_it_and_comes_back() -> Result<()> {
    let effort = Effort::from_environment()?;
    let mut dice = effort.dice();
    let mut played = Vec::new();
    let (mut moved, mut refused) = (0, 0);
    for _ in 0..effort.cases {
        let files = repository(&mut dice);
        let Ok(render) = ours::render(&files, ROOT) else {
            continue;
        };
        let Some(removal) = Removal::pick(&files, ROOT, &render, &mut dice) else {
            continue;
        };
        let outcome = match removal.play() {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => {
                refused += 1;
                continue;
            }
            Err(error) => bail!("{}: {error:#}\n{}", removal.title, archive::text(&files)),
        };
        let mut others = render.objects;
        others.remove(outcome.at);
        let others: Vec<Value> = others.iter().map(|it| it.node.to_value()).collect();
        match ours::objects(&outcome.without, ROOT) {
            Ok(without) if are_equal(&others, &without) => played.push((removal, outcome)),
            // What refers to the object is written otherwise without it.
            Ok(_) => moved += 1,
            Err(error) => bail!("{error}\n{}", archive::text(&outcome.without)),
        }
    }
    assert_removed(Version::Followed, &played)?;
    let landed = played.len();
    println!(
        "seed {}: {landed} objects left, {refused} stayed, {moved} would move others",
        effort.seed
    );
    assert!(landed > 4 * (refused + moved), "few objects leave");
    Ok(())
}

/// Lets kustomize's library build folders before, without an object and with it again.
fn assert_removed(version: Version, played: &[(Removal, Outcome)]) -> Result<()> {
    let mut oracle = Oracle::start(version)?;
    let mut build = |files: &dyn Fn(&(Removal, Outcome)) -> Files| -> Result<Vec<Vec<Value>>> {
        let folders: Vec<Files> = played.iter().map(files).collect();
        let roots = played.iter().map(|(removal, _)| removal.folder.as_str());
        let answers = oracle.build(folders.iter().zip(roots))?.into_iter();
        let answers = answers.zip(&folders);
        answers
            .map(|(answer, files)| {
                answer.map_err(|error| anyhow!("{error}\n{}", archive::text(files)))
            })
            .collect()
    };
    let before = build(&|(removal, _)| removal.files.clone())?;
    let without = build(&|(_, outcome)| outcome.without.clone())?;
    let back = build(&|(removal, outcome)| {
        let back = outcome.back.as_ref();
        back.unwrap_or(&removal.files).clone()
    })?;
    for (at, (removal, outcome)) in played.iter().enumerate() {
        let mut others = before[at].clone();
        others.remove(outcome.at);
        let text = archive::text(&outcome.without);
        assert!(
            are_equal(&others, &without[at]),
            "{}\n{text}",
            removal.title
        );
        assert_eq!(back[at].len(), before[at].len(), "{}", removal.title);
        if let (Some(back), false) = (&outcome.back, outcome.has_orphans) {
            let (was, is) = (archive::text(&removal.files), archive::text(back));
            assert_eq!(is, was, "{}: it is not as before", removal.title);
        }
    }
    Ok(())
}

/// A change of one input of a folder.
struct Change {
    folder: String,
    before: Files,
    mutation: Mutation,
}

/// Lets kustomize's library build before and after each change, and compares what differs with what is supplied.
fn assert_exact(changes: &[Change]) -> Result<()> {
    let mut oracle = Oracle::start(Version::Followed)?;
    let before = oracle.build(changes.iter().map(|it| (&it.before, it.folder.as_str())))?;
    let after = oracle.build(
        changes
            .iter()
            .map(|it| (&it.mutation.files, it.folder.as_str())),
    )?;
    let mut wrong = Vec::new();
    for (change, (before, after)) in changes.iter().zip(before.into_iter().zip(after)) {
        let mutation = &change.mutation;
        let found = match (before, after) {
            (Ok(before), Ok(after)) => Ok(changed(&before, &after)),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        if found.as_ref() != Ok(&mutation.supplied) {
            wrong.push(format!(
                "{}\n{}\nsupplied: {:?}\nchanged: {found:?}",
                mutation.title,
                archive::text(&mutation.files),
                mutation.supplied
            ));
        }
    }
    wrong.sort_by_key(String::len);
    println!("{} inputs changed", changes.len());
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    Ok(())
}

#[test]
fn d29_a_patch_is_merged_as_kustomize_merges_it() -> Result<()> {
    let effort = Effort::from_environment()?;
    let mut dice = effort.dice();
    let made = (0..effort.cases).map(|_| patched(&mut dice).folder());
    let folders: Vec<Files> = made.collect();
    let accepted = Accepted::Among(&PATCHES_REFUSED);
    compare("merges", &folders, ".", effort, accepted).map(|_| ())
}

#[test]
fn d29_a_generator_generates_what_kustomize_generates() -> Result<()> {
    let effort = Effort::from_environment()?;
    let mut dice = effort.dice();
    let made = (0..effort.cases).map(|_| generated(&mut dice).folder());
    let folders: Vec<Files> = made.collect();
    let accepted = Accepted::Among(&GENERATORS_REFUSED);
    compare("generators", &folders, ".", effort, accepted).map(|_| ())
}

#[test]
fn cg_13_a_value_that_is_written_into_an_input_is_what_kustomize_reads() -> Result<()> {
    let effort = Effort::from_environment()?;
    let mut dice = effort.dice();
    let mut folders = Vec::new();
    let mut wanted = Vec::new();
    let mut declined = 0;
    for _ in 0..effort.cases {
        let mut case = generated(&mut dice);
        case.files.clear();
        let Ok(node) = generate(&case.entry(), &GeneratorOptions::default()) else {
            continue;
        };
        let mut expected = node.to_value();
        let data = node.get("data").and_then(|data| match &data.content {
            Content::Mapping(fields) => Some(fields),
            Content::Scalar(_) | Content::Sequence(_) => None,
        });
        let leaves: Vec<(&String, &Node)> = data.into_iter().flatten().collect();
        let Some((key, leaf)) = dice.pick(&leaves) else {
            continue;
        };
        let value = value(&mut dice);
        expected["data"][key.as_str()] = value.as_str().into();
        if rewrite(&mut case, &leaf.supplier, &value)? {
            folders.push(case.folder());
            wanted.push(expected);
        } else {
            declined += 1;
        }
    }
    let mut tally = Tally::default();
    let roots = folders.iter().map(|files| (files, "."));
    let answers = Oracle::start(Version::Followed)?.build(roots)?;
    for (index, theirs) in answers.into_iter().enumerate() {
        tally.compare(&folders[index], Ok(vec![wanted[index].clone()]), theirs);
    }
    println!("{declined} values were declined");
    tally.assert_equal("inverses", effort, Accepted::Among(&[]));
    Ok(())
}

/// Writes a value into the input that supplied another one, where it can say it.
fn rewrite(case: &mut Generated, supplier: &Supplier, value: &str) -> Result<bool> {
    match supplier {
        Supplier::Literal(site) => {
            let literal = &mut case.literals[usize::try_from(site.at)?];
            let written = literal_with_value(literal, value);
            Ok(written.map(|written| *literal = written).is_some())
        }
        Supplier::EnvLine(site) => {
            let content = &mut case.envs[usize::try_from(site.file.0)? - 1];
            let written = env_with_value(content, site.at, value);
            Ok(written.map(|written| *content = written).is_some())
        }
        other => bail!("a literal or a line was asked for, not {other:?}"),
    }
}

/// Holds what we make of folders against what the library makes of them, and returns ours.
fn compare(
    what: &str,
    folders: &[Files],
    root: &str,
    effort: Effort,
    accepted: Accepted,
) -> Result<Vec<Answer>> {
    let mut oracle = Oracle::start(Version::Followed)?;
    let theirs = oracle.build(folders.iter().map(|files| (files, root)))?;
    let ours: Vec<Answer> = folders
        .iter()
        .map(|files| ours::objects(files, root))
        .collect();
    let mut tally = Tally::default();
    for (index, theirs) in theirs.into_iter().enumerate() {
        tally.compare(&folders[index], ours[index].clone(), theirs);
    }
    tally.shrink(|files| {
        let theirs = oracle.build([(files, root)])?.remove(0);
        Ok((ours::objects(files, root), theirs))
    })?;
    tally.assert_equal(what, effort, accepted);
    Ok(ours)
}
