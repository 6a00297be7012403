//! Paths inside a repository that cannot leave it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A path that a repository must not hold, or that would leave the folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("path {value:?} is not valid: {rule}")]
pub struct InvalidPath {
    /// The path as it was given.
    pub value: String,
    /// The rule that it breaks.
    pub rule: &'static str,
}

/// A file's path, relative to the root of the repository: never absolute, never with `.`, `..`, an empty
/// part, a backslash, a control character or any spelling of `.git`. Copies share the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoPath(Arc<str>);

/// A folder's path: the root of the repository (`.`) or a [`RepoPath`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FolderPath(Option<RepoPath>);

impl RepoPath {
    /// Checks the path and takes it.
    ///
    /// # Errors
    /// Returns the rule that the path breaks.
    pub fn new(value: impl Into<String>) -> Result<Self, InvalidPath> {
        let value = value.into();
        match check(&value) {
            Ok(()) => Ok(Self(value.into())),
            Err(rule) => Err(InvalidPath { value, rule }),
        }
    }

    /// Takes a path whose parts were checked before.
    pub(crate) fn trusted(value: String) -> Self {
        debug_assert_eq!(check(&value), Ok(()));
        Self(value.into())
    }

    /// Returns the path with `/` between its parts.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part after the last `/`.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the folder that holds this file.
    pub fn parent(&self) -> FolderPath {
        FolderPath(
            self.0
                .rsplit_once('/')
                .map(|(parent, _)| Self(parent.into())),
        )
    }

    /// Returns the parts in order.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl FolderPath {
    /// The root of the repository.
    pub fn root() -> Self {
        Self(None)
    }

    /// Checks the path and takes it; `.` is the root.
    ///
    /// # Errors
    /// Returns the rule that the path breaks.
    pub fn new(value: &str) -> Result<Self, InvalidPath> {
        if value == "." {
            return Ok(Self::root());
        }
        RepoPath::new(value).map(|path| Self(Some(path)))
    }

    /// Returns the path as a user writes it, `.` for the root.
    pub fn as_str(&self) -> &str {
        self.0.as_ref().map_or(".", RepoPath::as_str)
    }

    /// Returns the path, or `None` for the root.
    pub fn as_repo_path(&self) -> Option<&RepoPath> {
        self.0.as_ref()
    }

    /// Joins a path below this folder.
    ///
    /// # Errors
    /// Returns the rule that `below` breaks.
    pub fn join(&self, below: &str) -> Result<RepoPath, InvalidPath> {
        let below = RepoPath::new(below)?;
        Ok(match &self.0 {
            None => below,
            Some(folder) => RepoPath(format!("{folder}/{below}").into()),
        })
    }

    /// Says whether the file lies below this folder, at any depth.
    pub fn contains(&self, file: &RepoPath) -> bool {
        self.strip(file).is_some()
    }

    /// Returns the file's path relative to this folder, or `None` when it lies elsewhere.
    pub fn strip<'a>(&self, file: &'a RepoPath) -> Option<&'a str> {
        match &self.0 {
            None => Some(&file.0),
            Some(folder) => file.0.strip_prefix(folder.as_str())?.strip_prefix('/'),
        }
    }

    /// Says whether one of the two folders is the other or lies in it.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, _) | (_, None) => true,
            (Some(a), Some(b)) => a == b || self.contains(b) || other.contains(a),
        }
    }
}

/// Characters that HFS+ ignores in a file name, so `.g\u{200c}it` would become `.git` on a Mac.
const IGNORED_BY_HFS: [char; 16] = [
    '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}',
    '\u{202e}', '\u{206a}', '\u{206b}', '\u{206c}', '\u{206d}', '\u{206e}', '\u{206f}', '\u{feff}',
];

fn check(value: &str) -> Result<(), &'static str> {
    if value.is_empty() || value.len() > 4096 {
        return Err("it must have 1 to 4096 bytes");
    }
    if value.starts_with('/') || value.ends_with('/') {
        return Err("it must be relative, without a slash at either end");
    }
    if value.contains('\\') || value.chars().any(char::is_control) {
        return Err("backslashes and control characters are not allowed");
    }
    for part in value.split('/') {
        if part.is_empty() || part == "." || part == ".." {
            return Err("it must have no empty, '.' or '..' part");
        }
        let plain: String = part
            .chars()
            .filter(|c| !IGNORED_BY_HFS.contains(c))
            .collect();
        let plain = plain.trim_end_matches(['.', ' ']).to_ascii_lowercase();
        if plain == ".git" || plain == "git~1" {
            return Err("no part may be a spelling of '.git'");
        }
    }
    Ok(())
}

impl TryFrom<String> for RepoPath {
    type Error = InvalidPath;
    fn try_from(value: String) -> Result<Self, InvalidPath> {
        Self::new(value)
    }
}

impl From<RepoPath> for String {
    fn from(value: RepoPath) -> Self {
        value.0.as_ref().to_owned()
    }
}

impl TryFrom<String> for FolderPath {
    type Error = InvalidPath;
    fn try_from(value: String) -> Result<Self, InvalidPath> {
        Self::new(&value)
    }
}

impl From<FolderPath> for String {
    fn from(value: FolderPath) -> Self {
        value.as_str().to_owned()
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Display for FolderPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for FolderPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_escape_the_repository() {
        for good in ["a.yaml", "team-a/configmaps/app.yaml", "_cluster/x", "a..b"] {
            assert!(RepoPath::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/a",
            "a/",
            "a//b",
            "./a",
            "a/../b",
            "..",
            "a\\b",
            ".git/config",
            "x/.GIT/y",
            "git~1",
            ".g\u{200c}it/x",
            ".git.",
        ] {
            assert!(RepoPath::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn folders_contain_and_overlap_by_whole_parts() {
        let apps = FolderPath::new("apps").unwrap();
        let file = RepoPath::new("apps/a.yaml").unwrap();
        assert_eq!(apps.strip(&file), Some("a.yaml"));
        assert!(!apps.contains(&RepoPath::new("apps2/a.yaml").unwrap()));
        assert!(apps.overlaps(&FolderPath::new("apps/sub").unwrap()));
        assert!(!apps.overlaps(&FolderPath::new("apps2").unwrap()));
        assert!(FolderPath::root().overlaps(&apps));
        assert_eq!(file.parent(), apps);
        assert_eq!(FolderPath::root().join("x").unwrap().as_str(), "x");
    }
}
