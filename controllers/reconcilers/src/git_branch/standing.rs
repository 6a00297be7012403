//! Whether a GitBranch may claim its branch, and what it says at the claim desk. Pure.

use crds::conditions::Reason;
use model::{BranchName, RepositoryId, RepositoryUrl};
use policy::grants::admit_branch;
use policy::{Candidate, ClaimState};

use super::observe::Observed;
use crate::claims::Question;
use crate::convert::{conditions, grants};
use crate::place::{created_at, is_leaving, uid};

/// Whether a GitBranch may claim its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is being deleted.
    Leaving,
    /// A person has to change something first.
    Refused {
        reason: &'static str,
        message: String,
    },
    /// What it depends on is not ready, and comes back by itself.
    Unready { message: String },
    /// It may.
    Admitted(Box<Candidate>),
}

/// Judges everything that does not take the network.
pub(super) fn standing(observed: &Observed) -> Standing {
    if is_leaving(observed.object.as_ref()) {
        return Standing::Leaving;
    }
    let (Some(place), Some(provider)) = (&observed.provider_place, &observed.provider) else {
        return refused(Reason::GitProviderNotFound, provider_missing(observed));
    };
    let Ok(branch) = BranchName::new(observed.object.spec.branch.as_str()) else {
        let message = format!(
            "spec.branch {:?} is not a name that Git accepts",
            observed.object.spec.branch
        );
        return refused(Reason::BranchNotAllowed, message);
    };
    let (holder, list) = grants::of_git_provider(place, provider);
    if let Some(refusal) = admit_branch(&observed.consumer, &branch, &holder, &list).refusal() {
        return Standing::Refused {
            reason: refusal.code.as_str(),
            message: format!("{}; {}", refusal.message, refusal.remedy),
        };
    }
    let published = provider
        .status
        .as_ref()
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    match (
        RepositoryUrl::new(&provider.spec.url),
        uid(observed.object.as_ref()),
    ) {
        (Ok(url), Some(uid)) if conditions::is_ready(published) => {
            Standing::Admitted(Box::new(Candidate {
                key: observed.key.clone(),
                uid,
                created_at: created_at(observed.object.as_ref()),
                repository: url.id(),
                branch,
            }))
        }
        _ => Standing::Unready {
            message: format!(
                "GitProvider {place} is not Ready; {}",
                conditions::own_words(published)
            ),
        },
    }
}

fn refused(reason: Reason, message: String) -> Standing {
    Standing::Refused {
        reason: reason.as_str(),
        message,
    }
}

fn provider_missing(observed: &Observed) -> String {
    let named = match &observed.provider_place {
        Some(place) => place.to_string(),
        None => observed.object.spec.git_provider_ref.name.clone(),
    };
    format!("GitProvider {named} does not exist; create it, and this GitBranch goes on by itself")
}

/// Says what to tell the claim desk. A holder keeps its branch through every failure of the network or the
/// credential; only a lost grant or a deletion takes it away.
pub(super) fn question(
    observed: &Observed,
    standing: &Standing,
    before: &ClaimState,
) -> Option<Question> {
    let key = || observed.key.clone();
    let gave_up = *before == ClaimState::GivesUp;
    let proved = observed
        .proof
        .as_ref()
        .is_some_and(|proof| proof.result.is_ok());
    match standing {
        Standing::Leaving | Standing::Refused { .. } => Some(Question::Withdraw(key())),
        Standing::Unready { .. } => None,
        Standing::Admitted(_) if gave_up => None,
        Standing::Admitted(candidate) if proved || *before == ClaimState::Holds => {
            Some(Question::Offer(candidate.clone()))
        }
        Standing::Admitted(_) => Some(Question::Withdraw(key())),
    }
}

/// Returns the repository that the GitProvider names.
pub(super) fn repository(observed: &Observed) -> Option<RepositoryId> {
    let provider = observed.provider.as_ref()?;
    RepositoryUrl::new(&provider.spec.url)
        .ok()
        .map(|url| url.id())
}
