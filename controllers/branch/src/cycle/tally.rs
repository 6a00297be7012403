//! What became of the documents of one draft, as the metrics count it.

use std::collections::BTreeMap;

use manifests::plan::{Listing, PlacementSource, SealReason};
use manifests::{Decision, Outcome};
use model::{Refusal, RefusalCode, RefusalScope, TypeId};
use serde::{Deserialize, Serialize};

use crate::state::DraftKind;

/// Counts of what was decided. Nothing in it says which object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Documents by type and by what became of them; refused and retained ones are counted by their objects.
    #[serde(with = "crate::record::as_pairs")]
    pub documents: BTreeMap<(TypeId, DocumentOutcome), u64>,
    /// New documents by type and by what chose their place.
    #[serde(with = "crate::record::as_pairs")]
    pub placements: BTreeMap<(TypeId, PlacementSource), u64>,
    /// New files by whether a kustomization lists them.
    #[serde(with = "crate::record::as_pairs")]
    pub listings: BTreeMap<Listing, u64>,
    /// Why each document that was encrypted was.
    #[serde(with = "crate::record::as_pairs")]
    pub sealed: BTreeMap<SealReason, u64>,
}

/// What became of a document whose object was neither refused nor retained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DocumentOutcome {
    /// It was written.
    Written,
    /// It was taken out because its object was seen to go.
    DeletedLive,
    /// It was taken out because a snapshot lacks its object.
    DeletedSweep,
    /// It says already what is live.
    Unchanged,
}

impl DocumentOutcome {
    /// Returns the text that metrics use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::DeletedLive => "deleted_live",
            Self::DeletedSweep => "deleted_sweep",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Counts what a plan came to.
pub(super) fn tally(kind: &DraftKind, outcome: &Outcome) -> Tally {
    let mut tally = Tally::default();
    let deleted = match kind {
        DraftKind::Window { .. } => DocumentOutcome::DeletedLive,
        DraftKind::Resync(_) => DocumentOutcome::DeletedSweep,
    };
    for decided in &outcome.decisions {
        let type_id = &decided.id.type_id;
        let became = match &decided.decision {
            Decision::NoChange => DocumentOutcome::Unchanged,
            Decision::Edited { .. } => DocumentOutcome::Written,
            Decision::Created { source, .. } => {
                let key = (type_id.clone(), *source);
                *tally.placements.entry(key).or_default() += 1;
                DocumentOutcome::Written
            }
            Decision::Removed { .. } => deleted,
            Decision::Retained { .. } | Decision::LeftOut { .. } | Decision::Refused(_) => continue,
        };
        *tally
            .documents
            .entry((type_id.clone(), became))
            .or_default() += 1;
    }
    for listing in outcome.listings() {
        *tally.listings.entry(listing).or_default() += 1;
    }
    for sealed in &outcome.sealed {
        *tally.sealed.entry(sealed.reason).or_default() += 1;
    }
    tally
}

/// Returns the label of a refusal to place a new document; nothing for any other refusal.
pub(crate) fn placement_refusal(refusal: &Refusal) -> Option<&'static str> {
    if refusal.scope != RefusalScope::Placement {
        return None;
    }
    Some(match refusal.code {
        RefusalCode::InvalidPath => "invalid_path",
        RefusalCode::SensitiveAppend => "sensitive_append",
        RefusalCode::PlaintextOntoEncrypted => "plaintext_onto_encrypted",
        RefusalCode::MixedSensitivityNewFile => "mixed_sensitivity_new_file",
        RefusalCode::MultiDocumentTarget => "multi_document_target",
        RefusalCode::AmbiguousLayout => "ambiguous_layout",
        RefusalCode::UnrenderedPlacement => "unrendered_placement",
        _ => "unclassified",
    })
}
