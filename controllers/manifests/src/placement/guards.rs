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
