//! What has to be true of the repository after the story.

use anyhow::{Result, ensure};
use e2e::cluster::Cluster;
use e2e::stage::{FOLDER, Stage};

use super::story::{ALICES_EDIT, BOBS_FILE, Told, WRITTEN, WRITTEN_FILE};
use super::terminal::{heading, say};

/// The author and committer that a target has until it configures another one.
pub(super) const AUTHOR: &str = "GitOps Reverser <noreply@configbutler.ai>";

/// Fails with the first thing that is not as it should be, and says what is.
pub(super) fn check<C: Cluster>(stage: &Stage<C>, told: &Told) -> Result<()> {
    heading("Checked");
    one_line_and_its_comment(stage, told)?;
    say("alice's commit changes exactly one line, and the comments are where they were");
    bobs_object(stage, told)?;
    say("bob's object was placed, edited in one line, and removed with its file");
    history(stage, told)?;
    say("the history is linear: one commit for each edit, every push a fast-forward");
    say(&format!("each of them by {AUTHOR}"));
    Ok(())
}

fn one_line_and_its_comment<C: Cluster>(stage: &Stage<C>, told: &Told) -> Result<()> {
    let changed = changes(stage, &told.edited_by_alice)?;
    let wanted = format!("1\t1\t{FOLDER}/{WRITTEN_FILE}");
    ensure!(
        changed == wanted,
        "alice's commit should change one line of one file and changes: {changed}"
    );
    let [from, to] = ALICES_EDIT;
    let file = stage
        .repository
        .file("main", &format!("{FOLDER}/{WRITTEN_FILE}"))?;
    ensure!(
        file == WRITTEN.replace(from, to),
        "more than alice's line differs in the file, or a comment is gone:\n{file}"
    );
    Ok(())
}

fn bobs_object<C: Cluster>(stage: &Stage<C>, told: &Told) -> Result<()> {
    let path = format!("{FOLDER}/{BOBS_FILE}");
    let steps = [
        (&told.created_by_bob, "7\t0"),
        (&told.edited_by_bob, "1\t1"),
        (&told.deleted_by_bob, "0\t7"),
    ];
    for (commit, lines) in steps {
        let changed = changes(stage, commit)?;
        let wanted = format!("{lines}\t{path}");
        ensure!(
            changed == wanted,
            "commit {commit} of bob's object should change {wanted} and changes: {changed}"
        );
    }
    Ok(())
}

fn history<C: Cluster>(stage: &Stage<C>, told: &Told) -> Result<()> {
    let range = format!("{}..main", told.seed);
    let git = |arguments: &[&str]| stage.repository.git(arguments);
    let commits = git(&["rev-list", "--reverse", &range])?;
    let wanted = [
        &told.edited_by_alice,
        &told.created_by_bob,
        &told.edited_by_bob,
        &told.deleted_by_bob,
    ];
    ensure!(
        commits.lines().eq(wanted),
        "the branch should have one commit for each of the four edits and has: {commits}"
    );
    let merges = git(&["rev-list", "--min-parents=2", "main"])?;
    ensure!(merges.is_empty(), "the history has merges: {merges}");
    for update in stage.repository.updates()? {
        ensure!(
            update.accepted,
            "a push was no fast-forward: {} to {}",
            update.old,
            update.new
        );
    }
    let authors = git(&["log", "--format=%an <%ae>", &range])?;
    ensure!(
        authors.lines().all(|author| author == AUTHOR),
        "a commit is by somebody else: {authors}"
    );
    Ok(())
}

/// Returns the added and removed lines of each file of a commit.
fn changes<C: Cluster>(stage: &Stage<C>, commit: &str) -> Result<String> {
    stage
        .repository
        .git(&["show", "--numstat", "--format=", commit])
        .map(|text| text.trim().to_owned())
}
