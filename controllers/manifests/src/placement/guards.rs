//! Who may have a path when a new document meets a file or other new documents there (SE-2, PL-15, PL-16).

use std::collections::BTreeMap;

use model::{RepoPath, ResourceId};

use super::unplaced::Unplaced;

/// What stands at a path before the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Nothing,
    /// A file of plain documents.
    Plain {
        /// Whether another document can be added without losing anything.
        appendable: bool,
    },
    /// An encrypted file.
    Encrypted,
    /// Something that no document can be written to, and what it is.
    Blocked(&'static str),
}

/// The answer to the new documents of one path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Admission {
    /// The objects that get the path, in the order of their documents.
    pub admitted: Vec<ResourceId>,
    /// The others, each with its reason.
    pub refused: BTreeMap<ResourceId, Unplaced>,
}

/// The new documents that want each path; the value says whether the object is sensitive.
pub type Newcomers = BTreeMap<RepoPath, BTreeMap<ResourceId, bool>>;

/// Decides about all new documents of a batch. Besides what [`admit`] says about each path, a path is refused
/// where one above it becomes a file in the same batch.
pub fn admit_all(
    newcomers: &Newcomers,
    standing: impl Fn(&RepoPath) -> Standing,
) -> BTreeMap<RepoPath, Admission> {
    let mut admissions: BTreeMap<RepoPath, Admission> = BTreeMap::new();
    // A path sorts behind every path above it.
    for (path, newcomers) in newcomers {
        let above = std::iter::successors(Some(path.parent()), |folder| {
            folder.as_repo_path().map(RepoPath::parent)
        });
        let is_below_a_file = above
            .filter_map(|folder| admissions.get(folder.as_repo_path()?))
            .any(|admission| !admission.admitted.is_empty());
        let standing = if is_below_a_file {
            Standing::Blocked("a part of it becomes a file")
        } else {
            standing(path)
        };
        admissions.insert(path.clone(), admit(path, standing, newcomers));
    }
    admissions
}

/// Decides about all new documents of one path at once; the value says whether the object is sensitive. The
/// order is that of the identities, so that the order of arrival changes nothing (PL-15).
pub fn admit(
    path: &RepoPath,
    standing: Standing,
    newcomers: &BTreeMap<ResourceId, bool>,
) -> Admission {
    let mut admission = Admission::default();
    // The first object of a new file decides whether it is an encrypted one.
    let mut first = None;
    for (id, sensitive) in newcomers {
        match obstacle(path, standing, first, *sensitive) {
            Some(why) => {
                admission.refused.insert(id.clone(), why);
            }
            None => {
                first.get_or_insert(*sensitive);
                admission.admitted.push(id.clone());
            }
        }
    }
    admission
}

fn obstacle(
    path: &RepoPath,
    standing: Standing,
    first: Option<bool>,
    sensitive: bool,
) -> Option<Unplaced> {
    let path = path.clone();
    match (standing, first, sensitive) {
        (Standing::Blocked(problem), _, _) => Some(Unplaced::InvalidPath {
            path: path.to_string(),
            problem: problem.to_owned(),
            field: None,
        }),
        (Standing::Plain { .. } | Standing::Encrypted, _, true)
        | (Standing::Nothing, Some(true), true) => Some(Unplaced::SensitiveAppend { path }),
        (Standing::Encrypted, _, false) => Some(Unplaced::PlaintextOntoEncrypted { path }),
        (Standing::Plain { appendable: false }, _, false) => {
            Some(Unplaced::MultiDocumentTarget { path })
        }
        (Standing::Nothing, Some(true), false) | (Standing::Nothing, Some(false), true) => {
            Some(Unplaced::MixedSensitivityNewFile { path })
        }
        (Standing::Nothing, None, _)
        | (Standing::Nothing, Some(false), false)
        | (Standing::Plain { appendable: true }, _, false) => None,
    }
}
