//! What the newest commit changed, to the line.

use e2e::stage::Stage;
use testkit::wait;

/// Returns what the newest commit changed, without context.
pub(crate) fn last_change(stage: &Stage) -> Vec<String> {
    let shown = stage
        .repository
        .git(&["show", "--unified=0", "--format=", "main"])
        .unwrap();
    shown
        .lines()
        .filter(|line| {
            line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
        })
        .map(str::to_owned)
        .collect()
}

/// Waits for a further commit, proves that it is the only one, and returns what it changed.
pub(crate) fn next_change(stage: &Stage, commits: usize) -> Vec<String> {
    wait::until("a commit", wait::GENEROUS, || {
        (stage.repository.commits("main").ok()?.len() > commits).then_some(())
    })
    .unwrap_or_else(|error| panic!("{error}: {}", stage.explain("demo")));
    let changed = last_change(stage);
    let now = stage.repository.commits("main").unwrap().len();
    assert_eq!(now, commits + 1, "the last one: {changed:#?}");
    changed
}
