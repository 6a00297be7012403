//! The folders of the local stores and the journals: where each is, and the removal of those that nobody needs any more.
//!
//! A journal is a file beside the folder of its store, because the store is dropped and fetched anew when it is damaged.
//! It goes when its writer was given up: what it holds was for a branch that is another one's business now. A store
//! is a cache, so losing one costs a fetch. It is first renamed and then removed: a writer of the same
//! `GitBranch` that starts meanwhile begins with an empty folder and not with half of an old one.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use model::Uid;

/// How the name of a folder begins that is being removed. No uid begins like it.
const REMOVED: &str = ".removed-";

/// Returns the folder of all stores.
fn all(data_dir: &Path) -> PathBuf {
    data_dir.join("branches")
}

/// Returns the folder of the store of one incarnation of a `GitBranch`.
pub(crate) fn of(data_dir: &Path, uid: &Uid) -> PathBuf {
    all(data_dir).join(uid.as_str())
}

/// Returns the folder of all journals.
fn journals(data_dir: &Path) -> PathBuf {
    data_dir.join("journals")
}

/// Returns the file of the journal of one incarnation of a `GitBranch`.
pub(crate) fn journal_of(data_dir: &Path, uid: &Uid) -> PathBuf {
    journals(data_dir).join(uid.as_str())
}

/// Removes the journal of a writer that was given up.
pub(crate) fn remove_journal(data_dir: &Path, uid: &Uid) -> io::Result<()> {
    match std::fs::remove_file(journal_of(data_dir, uid)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives a store another name and returns where it is now; `None` when there is none.
pub(crate) fn set_aside(
    data_dir: &Path,
    uid: &Uid,
    incarnation: u64,
) -> io::Result<Option<PathBuf>> {
    let aside = all(data_dir).join(format!("{REMOVED}{incarnation}-{}", uid.as_str()));
    match std::fs::rename(of(data_dir, uid), &aside) {
        Ok(()) => Ok(Some(aside)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a folder or file that nobody uses any more. Takes as long as the folder is large.
pub(crate) fn remove(path: &Path) {
    let removed = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    if let Err(error) = removed {
        let path = path.display();
        tracing::warn!(%path, %error, "a local store or journal that is not needed any more cannot be removed");
    }
}

/// Returns every store and journal that does not belong to one of `kept`, also what an earlier removal left behind. They
/// are listed at once and not while they are removed, so that one that is made meanwhile is not among them.
pub(crate) fn leftovers(data_dir: &Path, kept: &BTreeSet<Uid>) -> io::Result<Vec<PathBuf>> {
    let mut leftovers = leftovers_in(&all(data_dir), kept)?;
    leftovers.extend(leftovers_in(&journals(data_dir), kept)?);
    Ok(leftovers)
}

fn leftovers_in(folder: &Path, kept: &BTreeSet<Uid>) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let unneeded = unneeded(names, kept);
    Ok(unneeded.iter().map(|name| folder.join(name)).collect())
}

/// Says which of the names below one of the folders are not needed.
fn unneeded(names: impl Iterator<Item = String>, kept: &BTreeSet<Uid>) -> Vec<String> {
    let needed = |name: &String| {
        // A journal has files beside it: its lock, which must stay the one that everybody sees, its successor while that is
        // written, and one that could not be read and waits to be put back.
        let beside = [".lock", ".new", ".unread"];
        let uid = beside.iter().find_map(|kind| name.strip_suffix(kind));
        let uid = uid.unwrap_or(name);
        kept.iter().any(|kept| kept.as_str() == uid)
    };
    names.filter(|name| !needed(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uid(text: &str) -> Uid {
        Uid::new(text).unwrap()
    }

    fn stores(names: &[&str]) -> tempfile::TempDir {
        let data = tempfile::tempdir().unwrap();
        for name in names {
            let store = all(data.path()).join(name).join("objects");
            std::fs::create_dir_all(&store).unwrap();
            std::fs::write(store.join("pack"), "bytes").unwrap();
        }
        data
    }

    fn left(data: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(all(data)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn only_stores_of_existing_branches_are_needed() {
        let names = [
            "a",
            "a.lock",
            "a.unread",
            "b",
            "b.lock",
            "ab",
            ".removed-1-a",
        ]
        .map(str::to_owned);
        let kept = BTreeSet::from([uid("a"), uid("c")]);
        assert_eq!(
            unneeded(names.into_iter(), &kept),
            ["b", "b.lock", "ab", ".removed-1-a"]
        );
    }

    #[test]
    fn only_leftovers_are_found_and_a_missing_folder_holds_none() {
        let data = stores(&["a", "b", ".removed-1-a"]);
        let kept = BTreeSet::from([uid("a")]);
        for folder in leftovers(data.path(), &kept).unwrap() {
            remove(&folder);
        }
        assert_eq!(left(data.path()), ["a"]);
        assert!(of(data.path(), &uid("a")).join("objects/pack").exists());
        let empty = tempfile::tempdir().unwrap();
        assert!(leftovers(empty.path(), &kept).unwrap().is_empty());
    }

    #[test]
    fn a_journal_goes_with_its_branch_and_no_other_does() {
        let data = tempfile::tempdir().unwrap();
        std::fs::create_dir(journals(data.path())).unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(journal_of(data.path(), &uid(name)), "records").unwrap();
        }
        remove_journal(data.path(), &uid("a")).unwrap();
        remove_journal(data.path(), &uid("a")).unwrap();
        let kept = BTreeSet::from([uid("b")]);
        for file in leftovers(data.path(), &kept).unwrap() {
            remove(&file);
        }
        let there = |name| journal_of(data.path(), &uid(name)).exists();
        assert_eq!(["a", "b", "c"].map(there), [false, true, false]);
    }

    #[test]
    fn a_store_is_out_of_the_way_before_it_is_removed() {
        let data = stores(&["a", "b"]);
        let aside = set_aside(data.path(), &uid("a"), 7).unwrap().unwrap();
        assert_eq!(left(data.path()), [".removed-7-a", "b"]);
        remove(&aside);
        assert_eq!(left(data.path()), ["b"]);
        assert_eq!(set_aside(data.path(), &uid("a"), 8).unwrap(), None);
    }
}
