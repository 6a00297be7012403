//! The judge of what a host holds in the end: a fresh clone by the real git, and nothing of ours.

use anyhow::{Context, Result, ensure};
use testkit::GitClone;

/// A branch as somebody sees it who comes anew.
#[derive(Debug)]
pub struct Judge {
    clone: GitClone,
    tip: String,
}

impl Judge {
    /// Looks at a branch in a fresh clone. Fails when an object is missing or broken, or when the history is not one line.
    pub fn of(clone: GitClone, branch: &str) -> Result<Self> {
        clone.fsck()?;
        let tip = format!("refs/remotes/origin/{branch}");
        let judge = Self { clone, tip };
        let merges = judge.list(&["rev-list", "--merges", &judge.tip])?;
        ensure!(merges.is_empty(), "merges on {branch}: {merges:?}");
        Ok(judge)
    }

    /// Returns the commits, the oldest first.
    pub fn commits(&self) -> Result<Vec<String>> {
        self.list(&["rev-list", "--reverse", &self.tip])
    }

    /// Returns the first lines of their messages, the oldest first.
    pub fn subjects(&self) -> Result<Vec<String>> {
        self.list(&["log", "--reverse", "--format=%s", &self.tip])
    }

    /// Fails unless what was there before is still there: each of these commits is below the tip.
    pub fn check_kept<'a>(&self, commits: impl IntoIterator<Item = &'a str>) -> Result<()> {
        for commit in commits {
            let arguments = ["merge-base", "--is-ancestor", commit, &self.tip];
            let kept = self.clone.git(&arguments);
            kept.with_context(|| format!("{commit} is no longer on {}", self.tip))?;
        }
        Ok(())
    }

    /// Returns what history wrote for a key of a file, in its order: each edit of it stands there once.
    pub fn values(&self, path: &str, key: &str) -> Result<Vec<String>> {
        let [reverse, format] = ["--reverse", "--format="];
        let patches = self.clone.git(&[
            "log",
            reverse,
            format,
            "--patch",
            "--unified=0",
            &self.tip,
            "--",
            path,
        ])?;
        let value = |line: &str| {
            let (found, value) = line.strip_prefix('+')?.split_once(':')?;
            (found.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
        };
        Ok(patches.lines().filter_map(value).collect())
    }

    /// Returns the paths of all files.
    pub fn files(&self) -> Result<Vec<String>> {
        self.list(&["ls-tree", "-r", "--name-only", &self.tip])
    }

    fn list(&self, arguments: &[&str]) -> Result<Vec<String>> {
        let text = self.clone.git(arguments)?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}
