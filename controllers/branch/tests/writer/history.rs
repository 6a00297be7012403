//! What a fresh clone says about the edits.

use testkit::GitServer;

use crate::support::Edit;

/// Returns the edit of each commit, oldest first; panics at a commit that is none. The clone is checked by real git.
pub(crate) fn edits(server: &GitServer, repository: &str) -> Vec<Edit> {
    let clone = server.clone(repository).unwrap();
    clone.fsck().unwrap();
    let log = clone
        .git(&[
            "log",
            "--reverse",
            "--no-merges",
            "--unified=0",
            "--patch",
            "--format=%x01%an%x02%B%x02",
            "main",
        ])
        .unwrap();
    let commits = log.split('\u{1}').skip(1);
    commits.filter_map(edit).collect()
}

fn edit(commit: &str) -> Option<Edit> {
    let mut parts = commit.splitn(3, '\u{2}');
    let (by, message, patch) = (parts.next()?, parts.next()?, parts.next()?);
    let numbers: Vec<u64> = patch
        .lines()
        .filter_map(|line| line.strip_prefix("+  edit: e"))
        .map(|number| number.parse().unwrap())
        .collect();
    let [number] = numbers.as_slice() else {
        // The seed, or the commit that brings the files that a new folder gets.
        assert!(numbers.is_empty(), "a commit with several edits: {commit}");
        return None;
    };
    let (subject, body) = message.split_once('\n').unwrap();
    assert_eq!(subject, "chore: sync 1 resource");
    let named = body.trim().rsplit('/').next().unwrap();
    Some(Edit::new(by, named, *number))
}
