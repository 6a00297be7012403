//! A clone in which another person works with the real git program.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::program::Git;

/// A clone with a working tree, on the branch `main` unless told otherwise.
#[derive(Clone, Debug)]
pub struct GitClone {
    git: Git,
}

impl GitClone {
    /// Clones `url` to `path` as the person `name`.
    pub(super) fn create(
        git: &Git,
        url: &str,
        path: &Path,
        configuration: &[String],
        name: &str,
    ) -> Result<Self> {
        let mut arguments = vec!["clone".to_owned(), "--quiet".to_owned()];
        for entry in configuration {
            arguments.extend(["--config".to_owned(), entry.clone()]);
        }
        arguments.extend([url.to_owned(), path.to_string_lossy().into_owned()]);
        git.run(&arguments)?;
        let git = git.in_folder(path);
        git.run(&["config", "user.name", name])?;
        let address = format!("{}@example.com", name.to_lowercase().replace(' ', "."));
        git.run(&["config", "user.email", &address])?;
        // A clone of ten thousand files is tidied in the background otherwise, while it is removed already.
        git.run(&["config", "maintenance.auto", "false"])?;
        git.run(&["config", "gc.auto", "0"])?;
        Ok(Self { git })
    }

    /// Returns the folder of the working tree.
    pub fn path(&self) -> &Path {
        self.git.folder()
    }

    /// Runs git and returns its standard output.
    pub fn git(&self, arguments: &[&str]) -> Result<String> {
        self.git.run(arguments)
    }

    /// Runs git, expects it to fail, and returns what it complained about.
    pub fn refused(&self, arguments: &[&str]) -> Result<String> {
        self.git.refused(arguments)
    }

    /// Writes a file of the working tree, with its folders.
    pub fn write(&self, path: &str, content: &str) -> Result<()> {
        let path = self.path().join(path);
        let failed = || format!("cannot write {}", path.display());
        fs::create_dir_all(path.parent().with_context(failed)?).with_context(failed)?;
        fs::write(&path, content).with_context(failed)
    }

    /// Reads a file of the working tree.
    pub fn read(&self, path: &str) -> Result<String> {
        let path = self.path().join(path);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Removes a file of the working tree.
    pub fn remove(&self, path: &str) -> Result<()> {
        let path = self.path().join(path);
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
    }

    /// Commits whatever differs from the last commit, also nothing, and returns the commit.
    pub fn commit(&self, message: &str) -> Result<String> {
        self.git.run(&["add", "--all"])?;
        self.git
            .run(&["commit", "--quiet", "--allow-empty", "--message", message])?;
        self.head()
    }

    /// Pushes the current branch to the branch of that name.
    pub fn push(&self) -> Result<String> {
        self.git.run(&["push", "--quiet", "origin", "HEAD"])
    }

    /// Fetches, and puts the own commits on top of what came.
    pub fn pull(&self) -> Result<String> {
        self.git.run(&["pull", "--quiet", "--rebase", "origin"])
    }

    /// Pushes; when somebody was faster, pulls and pushes again, as a person would.
    pub fn pull_and_push(&self) -> Result<()> {
        const ATTEMPTS: usize = 20;
        let mut outcome = self.push();
        for _ in 0..ATTEMPTS {
            if outcome.is_ok() {
                break;
            }
            self.pull()?;
            outcome = self.push();
        }
        outcome.map(drop)
    }

    /// Returns the current commit.
    pub fn head(&self) -> Result<String> {
        self.git.run(&["rev-parse", "HEAD"])
    }

    /// Returns the history of the current branch in a format of `git log`, the newest first.
    pub fn log(&self, format: &str) -> Result<Vec<String>> {
        let text = self.git.run(&["log", &format!("--format={format}")])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Returns a commit with its diff.
    pub fn show(&self, revision: &str) -> Result<String> {
        self.git.run(&["show", revision])
    }

    /// Fails when an object is missing or broken.
    pub fn fsck(&self) -> Result<String> {
        self.git.run(&["fsck", "--full", "--strict"])
    }
}
