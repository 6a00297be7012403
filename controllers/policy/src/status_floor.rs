//! How often a status that follows the remote may be written.
//!
//! Every push and fetch proves where a branch is. Writing that each time would invalidate every watcher's
//! copy at the pace of the branch, so what is proved and what is published are two rates.

use model::{CommitId, Millis, RepositoryId};

/// The least time between two writes of a proof.
pub const FLOOR: Millis = 60_000;

/// Where a branch was proved to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteProof {
    /// The repository that was asked.
    pub repository: RepositoryId,
    /// The commit; `None` when the branch is not on the remote.
    pub commit: Option<CommitId>,
    /// When it was proved, in wall time.
    pub verified_at: Millis,
}

/// What to do with the proof that is in the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloorDecision {
    /// Leave the status as it is.
    Keep,
    /// Write the newer proof now.
    Write,
    /// Take back the proof: it is about another repository and there is none yet about this one.
    Clear,
    /// Write when the floor lifts.
    Wait {
        /// How long from now.
        after: Millis,
    },
}

/// Decides what becomes of the published proof.
///
/// `repository` is the one the branch belongs to now, `written_at` the wall time of the last write as far as
/// this process knows; after a restart the published proof's own time stands in for it. The first proof and
/// one that corrects another repository's do not wait.
pub fn decide(
    published: Option<&RemoteProof>,
    proved: Option<&RemoteProof>,
    repository: &RepositoryId,
    written_at: Option<Millis>,
    now: Millis,
) -> FloorDecision {
    let proved = proved.filter(|proof| proof.repository == *repository);
    let (published, proved) = match (published, proved) {
        (None, None) => return FloorDecision::Keep,
        (None, Some(_)) => return FloorDecision::Write,
        (Some(published), None) if published.repository == *repository => {
            return FloorDecision::Keep;
        }
        (Some(_), None) => return FloorDecision::Clear,
        (Some(published), Some(proved)) => (published, proved),
    };
    if published.repository != *repository {
        return FloorDecision::Write;
    }
    if published == proved || proved.verified_at < published.verified_at {
        return FloorDecision::Keep;
    }
    let last = written_at.unwrap_or(published.verified_at);
    let lifts_at = last.saturating_add(FLOOR);
    if now >= lifts_at || last > now {
        FloorDecision::Write
    } else {
        FloorDecision::Wait {
            after: lifts_at - now,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::RepositoryUrl;
    use proptest::prelude::*;

    use super::*;

    fn repository(name: &str) -> RepositoryId {
        RepositoryUrl::new(&format!("https://git.example.com/{name}"))
            .unwrap()
            .id()
    }

    fn proof(repo: &str, verified_at: Millis) -> RemoteProof {
        RemoteProof {
            repository: repository(repo),
            commit: None,
            verified_at,
        }
    }

    #[test]
    fn the_first_proof_and_a_correction_do_not_wait() {
        let here = repository("here");
        let old = proof("elsewhere", 1_000);
        let new = proof("here", 1_001);
        assert_eq!(
            decide(None, Some(&new), &here, None, 1_001),
            FloorDecision::Write
        );
        assert_eq!(
            decide(Some(&old), Some(&new), &here, Some(1_000), 1_001),
            FloorDecision::Write
        );
        assert_eq!(
            decide(Some(&old), None, &here, Some(1_000), 1_001),
            FloorDecision::Clear
        );
        assert_eq!(
            decide(Some(&old), Some(&old), &here, None, 99_999),
            FloorDecision::Clear
        );
        assert_eq!(decide(None, None, &here, None, 0), FloorDecision::Keep);
    }

    #[test]
    fn a_newer_proof_waits_for_the_floor() {
        let here = repository("here");
        let published = proof("here", 1_000);
        let proved = proof("here", 31_000);
        let at = |now, written| decide(Some(&published), Some(&proved), &here, written, now);
        assert_eq!(
            at(31_000, Some(1_500)),
            FloorDecision::Wait { after: 30_500 }
        );
        assert_eq!(at(61_500, Some(1_500)), FloorDecision::Write);
        assert_eq!(at(61_000, None), FloorDecision::Write);
        assert_eq!(
            decide(Some(&published), Some(&published), &here, None, 99_999),
            FloorDecision::Keep
        );
        assert_eq!(
            decide(Some(&published), None, &here, None, 99_999),
            FloorDecision::Keep
        );
    }

    proptest! {
        /// Whatever the pace of proofs, two writes are a minute apart, and the last proof gets out.
        #[test]
        fn writes_are_a_floor_apart(gaps in proptest::collection::vec(1u64..50_000, 1..60)) {
            let here = repository("here");
            let (mut now, mut published, mut written) = (1_000, None, None);
            let mut writes = Vec::new();
            for gap in gaps {
                now += gap;
                let proved = proof("here", now);
                if decide(published.as_ref(), Some(&proved), &here, written, now) == FloorDecision::Write {
                    writes.push(now);
                    (published, written) = (Some(proved), Some(now));
                }
            }
            prop_assert!(writes.windows(2).all(|pair| pair[1] - pair[0] >= FLOOR));
            let last = proof("here", now);
            match decide(published.as_ref(), Some(&last), &here, written, now) {
                FloorDecision::Wait { after } => prop_assert!(after <= FLOOR),
                FloorDecision::Keep => prop_assert_eq!(published, Some(last)),
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }
}
