//! The bare repositories that the servers serve, with hooks that tests install.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::clone::GitClone;
use super::program::Git;
use crate::workbench::{Workbench, replace_file};

/// Records each update, and refuses what is not a creation or a fast-forward.
const FAST_FORWARD_HOOK: &str = r#"#!/bin/sh
reference=$1 old=$2 new=$3
is_zero() {
    case $1 in
    *[!0]*) return 1 ;;
    esac
}
verdict=refused
if is_zero "$old"; then
    verdict=created
elif is_zero "$new"; then
    verdict=refused
elif git merge-base --is-ancestor "$old" "$new"; then
    verdict=forwarded
fi
echo "$reference $old $new $verdict" >> "$GIT_DIR/updates"
if [ "$verdict" = refused ]; then
    echo "only fast-forwards are allowed" >&2
    exit 1
fi
"#;

/// The hash of a repository's objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectFormat {
    /// What nearly every repository has.
    #[default]
    Sha1,
    /// What newer repositories may have.
    Sha256,
}

/// One update of a reference, as the hook of [`Repository::require_fast_forwards`] saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The full name of the reference.
    pub reference: String,
    /// The commit before, all zeros for a new reference.
    pub old: String,
    /// The commit after, all zeros for a deletion.
    pub new: String,
    /// Whether the hook let it pass.
    pub accepted: bool,
}

/// The folder that holds all repositories of a server.
#[derive(Debug)]
pub(super) struct Repositories {
    workbench: Workbench,
    root: PathBuf,
}

impl Repositories {
    pub(super) fn new() -> Result<Self> {
        let workbench = Workbench::new("git")?;
        let root = workbench.path("repositories");
        for folder in [&root, &workbench.path("home"), &workbench.path("clones")] {
            fs::create_dir(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        Ok(Self { workbench, root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    pub(super) fn home(&self) -> PathBuf {
        self.workbench.path("home")
    }

    /// Returns a git that clones the repository with the right object format.
    ///
    /// Before version 2.41 git does not learn the format of an empty repository from the server.
    pub(super) fn git_for_clone(&self, name: &str) -> Git {
        let git = Git::new(&self.root, self.home());
        match self
            .open(name)
            .and_then(|repository| repository.object_format())
        {
            Ok(format) => git.variable("GIT_DEFAULT_HASH", format),
            // There is no such repository, which is for the server to say.
            Err(_) => git,
        }
    }

    /// Returns a path at which nothing is yet, for a clone.
    pub(super) fn new_clone_path(&self, name: &str) -> PathBuf {
        let clones = self.workbench.path("clones");
        clones.join(format!("{name}-{:08x}", rand::random::<u32>()))
    }

    pub(super) fn create(&self, name: &str, format: ObjectFormat) -> Result<Repository> {
        let format = match format {
            ObjectFormat::Sha1 => "sha1",
            ObjectFormat::Sha256 => "sha256",
        };
        let path = self.root.join(format!("{name}.git"));
        if path.exists() {
            bail!("there is a repository {name} already");
        }
        let path_text = path.to_string_lossy().into_owned();
        Git::new(&self.root, self.home()).run(&[
            "init",
            "--quiet",
            "--bare",
            "--initial-branch=main",
            &format!("--object-format={format}"),
            &path_text,
        ])?;
        let repository = self.open(name)?;
        repository
            .git
            .run(&["config", "http.receivepack", "true"])?;
        Ok(repository)
    }

    pub(super) fn open(&self, name: &str) -> Result<Repository> {
        let path = self.root.join(format!("{name}.git"));
        if !path.exists() {
            bail!("there is no repository {name}");
        }
        Ok(Repository::at(
            Git::new(path, self.home()),
            self.new_clone_path("seed"),
        ))
    }
}

/// A bare repository, seen from the server's side.
#[derive(Clone, Debug)]
pub struct Repository {
    git: Git,
    seed_path: PathBuf,
}

impl Repository {
    /// Returns the repository in the folder of that git; `seed_path` is where nothing is yet.
    pub(super) fn at(git: Git, seed_path: PathBuf) -> Self {
        Self { git, seed_path }
    }

    /// Returns the folder of the repository.
    pub fn path(&self) -> &Path {
        self.git.folder()
    }

    /// Runs git in the repository and returns its standard output.
    pub fn git(&self, arguments: &[&str]) -> Result<String> {
        self.git.run(arguments)
    }

    fn object_format(&self) -> Result<String> {
        self.git.run(&["rev-parse", "--show-object-format"])
    }

    /// Returns the commit of a branch, or nothing when there is no such branch.
    pub fn branch(&self, name: &str) -> Option<String> {
        let reference = format!("refs/heads/{name}");
        self.git
            .run(&["rev-parse", "--verify", "--quiet", &reference])
            .ok()
    }

    /// Returns the commits that are reachable from a branch, the newest first.
    pub fn commits(&self, branch: &str) -> Result<Vec<String>> {
        let reference = format!("refs/heads/{branch}");
        Ok(self
            .git
            .run(&["rev-list", &reference])?
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Returns the content of a file on a branch.
    pub fn file(&self, branch: &str, path: &str) -> Result<String> {
        // Not `run`, which takes the last line break away.
        let output = self
            .git
            .output(&["show", &format!("refs/heads/{branch}:{path}")])?;
        if !output.status.success() {
            bail!(
                "no {path} on {branch}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        String::from_utf8(output.stdout).context("the file is not text")
    }

    /// Returns the paths of all files on a branch.
    pub fn files(&self, branch: &str) -> Result<Vec<String>> {
        let reference = format!("refs/heads/{branch}");
        let names = self
            .git
            .run(&["ls-tree", "-r", "--name-only", "-z", &reference])?;
        Ok(names.split_terminator('\0').map(str::to_owned).collect())
    }

    /// Commits files to the branch `main` without a server in between, and returns the commit.
    pub fn seed(&self, files: &[(&str, &str)]) -> Result<String> {
        let git = self
            .git
            .clone()
            .variable("GIT_DEFAULT_HASH", self.object_format()?);
        let clone = GitClone::create(
            &git,
            &self.path().to_string_lossy(),
            &self.seed_path,
            &[],
            "Seed",
        )?;
        for (path, content) in files {
            clone.write(path, content)?;
        }
        let commit = clone.commit("Seed the repository")?;
        clone.push()?;
        fs::remove_dir_all(&self.seed_path).context("cannot remove the seeding clone")?;
        Ok(commit)
    }

    /// Installs a hook, such as `pre-receive`, given as a whole script.
    pub fn install_hook(&self, name: &str, script: &str) -> Result<()> {
        let path = self.path().join("hooks").join(name);
        replace_file(&path, script.as_bytes())?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make {} executable", path.display()))
    }

    /// Removes a hook.
    pub fn remove_hook(&self, name: &str) -> Result<()> {
        let path = self.path().join("hooks").join(name);
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
    }

    /// Refuses and records, from now on, every update that is not a fast-forward.
    pub fn require_fast_forwards(&self) -> Result<()> {
        self.install_hook("update", FAST_FORWARD_HOOK)
    }

    /// Returns what [`require_fast_forwards`](Self::require_fast_forwards) recorded, the oldest
    /// first.
    pub fn updates(&self) -> Result<Vec<Update>> {
        let path = self.path().join("updates");
        if !path.exists() {
            return Ok(Vec::new());
        }
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        text.lines().map(parse_update).collect()
    }
}

fn parse_update(line: &str) -> Result<Update> {
    let words: Vec<&str> = line.split(' ').collect();
    let [reference, old, new, verdict] = words[..] else {
        bail!("not a record of an update: {line}");
    };
    Ok(Update {
        reference: reference.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
        accepted: verdict != "refused",
    })
}
