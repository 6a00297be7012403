//! Paths as kustomizations spell them (B11, B12): relative to the file that holds them, never out of the repository.

use model::{FolderPath, RepoPath};

/// Where a spelled path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Into the repository.
    Path(RepoPath),
    /// To its root.
    Root,
    /// Out of the repository, or to the root of a machine.
    Outside,
    /// Nowhere: it is empty, or no file can have this name.
    Nowhere,
}

/// Follows a path from a folder.
pub(crate) fn follow(from: &FolderPath, spelled: &str) -> Destination {
    if spelled.is_empty() {
        return Destination::Nowhere;
    }
    if spelled.starts_with('/') {
        return Destination::Outside;
    }
    let mut parts: Vec<&str> = from
        .as_repo_path()
        .map(RepoPath::parts)
        .into_iter()
        .flatten()
        .collect();
    for part in spelled.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Destination::Outside;
                }
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return Destination::Root;
    }
    RepoPath::new(parts.join("/")).map_or(Destination::Nowhere, Destination::Path)
}

/// Spells a path as it is reached from a folder.
pub(crate) fn spell(from: &FolderPath, to: &RepoPath) -> String {
    spell_way(from, Some(to))
}

/// Spells a folder as it is reached from another one; `.` is that one itself.
pub(crate) fn spell_folder(from: &FolderPath, to: &FolderPath) -> String {
    let spelled = spell_way(from, to.as_repo_path());
    if spelled.is_empty() {
        ".".to_owned()
    } else {
        spelled
    }
}

fn spell_way(from: &FolderPath, to: Option<&RepoPath>) -> String {
    let parts = |path: Option<&RepoPath>| -> Vec<String> {
        let parts = path.map(RepoPath::parts).into_iter().flatten();
        parts.map(str::to_owned).collect()
    };
    let (from, to) = (parts(from.as_repo_path()), parts(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    let down = to[shared..].iter().map(String::as_str);
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Says whether kustomize would fetch what the path names, whatever lies in the repository.
pub(crate) fn is_fetched(spelled: &str) -> bool {
    let lower = spelled.to_ascii_lowercase();
    lower.contains("://")
        || ["git::", "github.com/", "github.com:"]
            .iter()
            .any(|prefix| lower.starts_with(prefix))
        || has_user(spelled)
}

/// Says whether a path that leads to nothing was meant to be fetched.
pub(crate) fn looks_fetched(spelled: &str) -> bool {
    let lower = spelled.to_ascii_lowercase();
    let host = lower.split('/').next().unwrap_or_default();
    let is_local = host.is_empty() || host.chars().all(|c| c == '.');
    let query = lower.split_once('?').map(|(_, query)| query);
    is_fetched(spelled)
        || query.is_some_and(|query| query.contains("ref=") || query.contains("version="))
        || lower.ends_with(".git")
        || lower.contains(".git/")
        || lower.contains("_git/")
        || host.contains(':')
        || (!is_local && lower.contains("//"))
        || (lower.contains('/')
            && [".com", ".org", ".net", ".io", ".dev"]
                .iter()
                .any(|end| host.ends_with(end) && host.len() > end.len()))
}

/// Says whether the path starts like `user@host`.
fn has_user(spelled: &str) -> bool {
    let Some((user, host)) = spelled.split_once('@') else {
        return false;
    };
    user.starts_with(|c: char| c.is_ascii_alphabetic())
        && user.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        && host.contains([':', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &str) -> FolderPath {
        FolderPath::new(path).unwrap()
    }

    #[test]
    fn paths_are_followed_inside_of_the_repository() {
        let path = |path: &str| Destination::Path(RepoPath::new(path).unwrap());
        for (from, spelled, expected) in [
            ("a/b", "r.yaml", path("a/b/r.yaml")),
            ("a/b", "./x/../r.yaml/", path("a/b/r.yaml")),
            ("a/b", "../../c", path("c")),
            ("a/b", "../..", Destination::Root),
            (".", ".", Destination::Root),
            ("a", "../../x", Destination::Outside),
            ("a", "/x", Destination::Outside),
            ("a", "", Destination::Nowhere),
            ("a", "x\\y", Destination::Nowhere),
        ] {
            assert_eq!(follow(&folder(from), spelled), expected, "{from} {spelled}");
        }
        let to = RepoPath::new("base/k.yaml").unwrap();
        assert_eq!(spell(&folder("apps/x"), &to), "../../base/k.yaml");
        assert_eq!(spell(&folder("base"), &to), "k.yaml");
        assert_eq!(spell(&folder("."), &to), "base/k.yaml");
        for (from, to, expected) in [
            ("apps/x", "base", "../../base"),
            ("apps/x", "apps", ".."),
            ("apps/x", ".", "../.."),
            ("apps", "apps", "."),
        ] {
            assert_eq!(spell_folder(&folder(from), &folder(to)), expected);
        }
    }

    #[test]
    fn what_is_not_in_the_repository_looks_it() {
        for spelled in [
            "https://example.com/x.yaml",
            "HTTPS://github.com/org/repo",
            "ssh://git@example.com/org/repo",
            "file:///srv/x",
            "git::https://example.com/x",
            "GIT::x",
            "git@github.com:org/repo",
            "user@host/x",
            "github.com/org/repo",
            "GitHub.com:org/repo",
        ] {
            assert!(is_fetched(spelled), "{spelled}");
            assert!(looks_fetched(spelled), "{spelled}");
        }
        for spelled in [
            "gitlab.com/org/repo",
            "host:org/repo",
            "org/repo.git",
            "org/repo.git/sub",
            "repo?ref=main",
            "repo?version=v1",
            "host//sub",
            "dev.azure.com/org/_git/repo",
        ] {
            assert!(!is_fetched(spelled), "{spelled}");
            assert!(looks_fetched(spelled), "{spelled}");
        }
        for spelled in [
            "base", "../base", "./a.yaml", "a@2.yaml", "x.com", ".//a", "io/x",
        ] {
            assert!(!looks_fetched(spelled), "{spelled}");
        }
    }
}
