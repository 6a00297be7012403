//! What a lost race costs, and that nothing is kept that a plan would do otherwise.

use branch::cycle::{CycleOutcome, DraftResult};
use model::{Change, CommitId};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{Scene, document, draft, remove, request, target, upsert};

const FOLDER: &str = "apps/team-a/configmaps";
/// Objects with a file each, and two that share one.
const ALONE: [&str; 3] = ["a", "b", "c"];
const SHARED: [&str; 2] = ["p", "q"];

fn file(name: &str) -> String {
    match SHARED.contains(&name) {
        true => format!("{FOLDER}/shared.yaml"),
        false => format!("{FOLDER}/{name}.yaml"),
    }
}

fn content(name: &str, value: &str) -> String {
    match SHARED.contains(&name) {
        true => SHARED
            .map(|one| document(one, if one == name { value } else { "0" }, "# shared"))
            .join("---\n"),
        false => document(name, value, "# alone"),
    }
}

/// A scene whose branch holds all of them.
fn scene() -> Scene {
    let scene = Scene::new(None);
    scene.server(|server| {
        for name in ALONE {
            server.commit(&file(name), &content(name, "0"));
        }
        server.commit(&file("p"), &content("p", "0"));
    });
    scene
}

/// What somebody else does to the branch meanwhile.
#[derive(Debug, Clone)]
enum Foreign {
    /// Another value and comment in the document of an object.
    Edits(&'static str),
    /// Nothing that belongs to the folder.
    Elsewhere,
    /// A document of an object that nobody has.
    Adds,
    /// The file of an object goes.
    Removes(&'static str),
    /// The document of an object stands in another file.
    Moves(&'static str),
    /// A second document of an object, so that the folder is refused.
    Doubles(&'static str),
    /// The file of an object is hidden.
    Ignores(&'static str),
    /// A kustomization builds the folder.
    Builds,
    /// A kustomization elsewhere reads a file of the folder.
    Reads(&'static str),
}

impl Foreign {
    fn happens(&self, scene: &Scene) {
        let of = |name: &str| file(name);
        scene.server(|server| match self {
            Self::Edits(name) => {
                let content = content(name, "peer").replace("# ", "# peer: ");
                drop(server.commit(&of(name), &content));
            }
            Self::Elsewhere => drop(server.commit("notes.txt", "mine\n")),
            Self::Adds => {
                let path = format!("{FOLDER}/new.yaml");
                drop(server.commit(&path, &document("new", "1", "# peer")));
            }
            Self::Removes(name) => server.remove(&of(name)),
            Self::Moves(name) => {
                server.remove(&of(name));
                server.commit(&format!("{FOLDER}/moved-{name}.yaml"), &content(name, "0"));
            }
            Self::Doubles(name) => {
                let path = format!("{FOLDER}/double-{name}.yaml");
                drop(server.commit(&path, &document(name, "2", "# double")));
            }
            Self::Ignores(name) => {
                let rule = format!("{}\n", of(name).trim_start_matches("apps/"));
                drop(server.commit("apps/.gittargetignore", &rule));
            }
            Self::Builds => {
                let resources = "resources: [team-a/configmaps/a.yaml]\n";
                drop(server.commit("apps/kustomization.yaml", resources));
            }
            Self::Reads(name) => {
                let base = "resources: [../apps-base]\n";
                server.commit("other/kustomization.yaml", base);
                let resources = format!("resources: [../{}]\n", of(name));
                drop(server.commit("apps-base/kustomization.yaml", &resources));
            }
        });
    }
}

fn foreign() -> impl Strategy<Value = Foreign> {
    let name = prop::sample::select(["a", "b", "c", "p", "q"].as_slice());
    prop_oneof![
        name.clone().prop_map(Foreign::Edits),
        Just(Foreign::Elsewhere),
        Just(Foreign::Adds),
        name.clone().prop_map(Foreign::Removes),
        name.clone().prop_map(Foreign::Moves),
        name.clone().prop_map(Foreign::Doubles),
        name.clone().prop_map(Foreign::Ignores),
        Just(Foreign::Builds),
        name.prop_map(Foreign::Reads),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let name = prop::sample::select(["a", "b", "c", "p", "q", "made"].as_slice());
    (name, 0..8_u8).prop_map(|(name, value)| match value {
        0 => remove(name),
        value => upsert(name, &value.to_string()),
    })
}

/// Decides changes one by one, lets somebody else act, and publishes. `forgets` starts with a new job in between,
/// which has to plan everything. Returns what came of it and how many plans it took.
fn race(changes: &[Change], foreign: &[Foreign], forgets: bool) -> (CycleOutcome, usize) {
    let mut scene = scene();
    let apps = target("apps");
    let drafts = (1..).zip(changes);
    let drafts = drafts.map(|(id, change)| draft(id, &apps, change.clone()));
    let mut decide = request(&[&apps], drafts.collect());
    decide.publish = false;
    let decided = scene.run(decide);
    assert_eq!(decided.fault, None);
    for draft in &decided.drafts {
        assert!(matches!(draft.result, DraftResult::Judged(_)), "{draft:?}");
    }
    for one in foreign {
        one.happens(&scene);
    }
    if forgets {
        scene.begin_anew();
    }
    let mut publish = request(&[&apps], Vec::new());
    publish.pending = writes(&decided);
    let before = scene.keyring.plans();
    let published = scene.run(publish);
    (published, scene.keyring.plans() - before)
}

fn writes(outcome: &CycleOutcome) -> Vec<std::sync::Arc<branch::state::PendingWrite>> {
    let write = |result: &DraftResult| match result {
        DraftResult::Judged(verdict) => verdict.write.clone().map(std::sync::Arc::new),
        DraftResult::FolderRefused(_) | DraftResult::Suspended => None,
    };
    let results = outcome.drafts.iter().map(|draft| &draft.result);
    results.filter_map(write).collect()
}

/// Asserts that both came to the same commits.
fn assert_same(one: &CycleOutcome, other: &CycleOutcome) {
    assert_eq!(tip(one), tip(other));
    assert_eq!(one.replayed, other.replayed);
}

fn tip(outcome: &CycleOutcome) -> Option<&CommitId> {
    outcome.published.as_ref().map(|published| &published.tip)
}

#[test]
fn a_lost_race_plans_only_what_shares_a_file_with_the_foreign_commit() {
    let changes = ["a", "b", "c", "p"].map(|name| upsert(name, "1"));
    let (kept, plans) = race(&changes, &[Foreign::Elsewhere], false);
    assert_eq!(plans, 0, "nothing was planned again");
    let (planned, plans) = race(&changes, &[Foreign::Elsewhere], true);
    assert_eq!(plans, 4);
    assert_same(&kept, &planned);

    let (kept, plans) = race(&changes, &[Foreign::Edits("b")], false);
    assert_eq!(plans, 1, "the one whose file was changed");
    let (planned, _) = race(&changes, &[Foreign::Edits("b")], true);
    assert_same(&kept, &planned);

    let (kept, plans) = race(&changes, &[Foreign::Edits("q")], false);
    assert_eq!(plans, 1, "the one that shares the file");
    let (planned, _) = race(&changes, &[Foreign::Edits("q")], true);
    assert_same(&kept, &planned);
}

#[test]
fn a_write_on_top_of_one_that_is_planned_again_is_planned_again_too() {
    let changes = [upsert("a", "1"), upsert("b", "1"), upsert("a", "2")];
    let (kept, plans) = race(&changes, &[Foreign::Edits("a")], false);
    assert_eq!(plans, 2);
    let (planned, _) = race(&changes, &[Foreign::Edits("a")], true);
    assert_same(&kept, &planned);
}

#[test]
fn what_a_kustomization_builds_or_reads_is_planned_again() {
    let changes = [upsert("a", "1"), upsert("b", "1")];
    for foreign in [Foreign::Builds, Foreign::Reads("a")] {
        let (_, plans) = race(&changes, std::slice::from_ref(&foreign), false);
        assert_eq!(plans, 2, "{foreign:?}");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_kept_commit_is_the_one_that_a_plan_makes(
        changes in prop::collection::vec(change(), 1..7),
        foreign in prop::collection::vec(foreign(), 1..4),
    ) {
        let (kept, some) = race(&changes, &foreign, false);
        let (planned, all) = race(&changes, &foreign, true);
        prop_assert_eq!(tip(&kept), tip(&planned));
        prop_assert_eq!(&kept.replayed, &planned.replayed);
        prop_assert_eq!(&kept.fault, &planned.fault);
        prop_assert!(some <= all);
    }
}

/// The same few cases in every run; `PROPTEST_CASES` asks for more and others.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let more = asked.cases > 400;
    ProptestConfig {
        cases: if more { asked.cases } else { 60 },
        rng_seed: if more {
            asked.rng_seed
        } else {
            RngSeed::Fixed(1)
        },
        failure_persistence: None,
        ..asked
    }
}
