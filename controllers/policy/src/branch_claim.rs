//! Who writes a repository branch: one GitBranch, the oldest that a grant admits.
//!
//! The registry lives in memory and is decided again after a restart. It never hands a branch over in one
//! step: whoever holds it gives it up first (its writer drains), then nobody holds it, and then the oldest
//! candidate takes it when it asks, which is when its grant has just been checked again.

use std::collections::{BTreeMap, BTreeSet};

use model::{BranchName, GitBranchKey, Millis, RepositoryId, Uid};

/// A GitBranch that a grant admits and whose credential opened a push session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Which GitBranch.
    pub key: GitBranchKey,
    /// Its incarnation.
    pub uid: Uid,
    /// When it was created.
    pub created_at: Millis,
    /// The repository, whatever way its URL is spelled.
    pub repository: RepositoryId,
    /// The branch.
    pub branch: BranchName,
}

/// Where a GitBranch stands with its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimState {
    /// It is no candidate.
    Absent,
    /// It holds the branch, and its writer runs.
    Holds,
    /// It is a candidate without the branch.
    Waits {
        /// Who holds the branch or comes before it in line; `None` when the branch is its own for the asking.
        behind: Option<GitBranchKey>,
    },
    /// It held the branch and its writer drains; nobody else may start one.
    GivesUp,
}

/// All claims of this process.
#[derive(Debug, Default)]
pub struct BranchClaims {
    contests: BTreeMap<BranchId, Contest>,
    /// The contest that each GitBranch is in; it is in one at most.
    places: BTreeMap<GitBranchKey, BranchId>,
}

type BranchId = (RepositoryId, BranchName);

/// The candidates for one repository branch.
#[derive(Debug, Default)]
struct Contest {
    /// In order of age.
    line: BTreeSet<Place>,
    hold: Option<Hold>,
}

/// The order of candidates: creation, then uid.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    created_at: Millis,
    uid: Uid,
    key: GitBranchKey,
}

#[derive(Debug)]
struct Hold {
    by: Place,
    /// Whether the holder's writer drains, so that the branch can go to somebody else.
    ending: bool,
}

impl BranchClaims {
    /// Enters a candidate, or asks again for one that is entered, and answers where it stands.
    ///
    /// The caller has just checked its grant and proved its credential. It takes the branch when nobody holds
    /// it and nobody older is in line. An older candidate makes a younger holder give up.
    pub fn offer(&mut self, candidate: &Candidate) -> ClaimState {
        let id = (candidate.repository.clone(), candidate.branch.clone());
        let place = Place {
            created_at: candidate.created_at,
            uid: candidate.uid.clone(),
            key: candidate.key.clone(),
        };
        if !self.leave_other_than(&id, &place) {
            return ClaimState::GivesUp;
        }
        self.places.insert(place.key.clone(), id.clone());
        let contest = self.contests.entry(id).or_default();
        contest.line.insert(place.clone());
        contest.settle(&place);
        self.state_of(&candidate.key)
    }

    /// Takes a candidate out: no grant admits it any more, or it is being deleted.
    ///
    /// A holder is [`ClaimState::GivesUp`] until [`Self::released`]; anybody else is gone at once.
    pub fn withdraw(&mut self, key: &GitBranchKey) -> ClaimState {
        if let Some(contest) = self.contest_of(key) {
            contest.line.retain(|place| place.key != *key);
            if let Some(hold) = contest.hold.as_mut().filter(|hold| hold.by.key == *key) {
                hold.ending = true;
            }
        }
        self.forget_if_idle(key);
        self.state_of(key)
    }

    /// Records that the writer of a GitBranch that gave up has drained. Nobody holds the branch then.
    pub fn released(&mut self, key: &GitBranchKey) {
        if let Some(contest) = self.contest_of(key)
            && contest
                .hold
                .as_ref()
                .is_some_and(|hold| hold.ending && hold.by.key == *key)
        {
            contest.hold = None;
        }
        self.forget_if_idle(key);
    }

    /// Answers where a GitBranch stands.
    pub fn state_of(&self, key: &GitBranchKey) -> ClaimState {
        let contest = self.places.get(key).and_then(|id| self.contests.get(id));
        let Some(contest) = contest else {
            return ClaimState::Absent;
        };
        match &contest.hold {
            Some(hold) if hold.by.key == *key && hold.ending => ClaimState::GivesUp,
            Some(hold) if hold.by.key == *key => ClaimState::Holds,
            Some(hold) if !hold.ending => ClaimState::Waits {
                behind: Some(hold.by.key.clone()),
            },
            // The first in line waits for the one that gives up.
            Some(hold) => ClaimState::Waits {
                behind: Some(contest.first_before(key).unwrap_or(&hold.by.key).clone()),
            },
            None => ClaimState::Waits {
                behind: contest.first_before(key).cloned(),
            },
        }
    }

    /// Returns the GitBranch that holds a repository branch, also while it gives it up.
    pub fn holder_of(
        &self,
        repository: &RepositoryId,
        branch: &BranchName,
    ) -> Option<&GitBranchKey> {
        let contest = self.contests.get(&(repository.clone(), branch.clone()))?;
        contest.hold.as_ref().map(|hold| &hold.by.key)
    }

    /// Returns everybody else who is concerned when `key` moves: the other candidates and the holder.
    pub fn rivals_of(&self, key: &GitBranchKey) -> BTreeSet<GitBranchKey> {
        let contest = self.places.get(key).and_then(|id| self.contests.get(id));
        let Some(contest) = contest else {
            return BTreeSet::new();
        };
        let holder = contest.hold.iter().map(|hold| &hold.by.key);
        let line = contest.line.iter().map(|place| &place.key);
        line.chain(holder)
            .filter(|other| *other != key)
            .cloned()
            .collect()
    }

    fn contest_of(&mut self, key: &GitBranchKey) -> Option<&mut Contest> {
        let id = self.places.get(key)?;
        self.contests.get_mut(id)
    }

    /// Ends what the GitBranch had under another repository or as another incarnation. Returns whether it is
    /// free to enter `id`; it is not while a writer of its own still drains.
    fn leave_other_than(&mut self, id: &BranchId, place: &Place) -> bool {
        let Some(current) = self.places.get(&place.key) else {
            return true;
        };
        let moved = current != id;
        let Some(contest) = self.contests.get_mut(current) else {
            return true;
        };
        let is_own = |other: &Place| other.key == place.key;
        contest
            .line
            .retain(|other| !is_own(other) || (!moved && other == place));
        if let Some(hold) = contest.hold.as_mut().filter(|hold| is_own(&hold.by))
            && (moved || hold.by != *place)
        {
            hold.ending = true;
            return false;
        }
        self.forget_if_idle(&place.key);
        true
    }

    fn forget_if_idle(&mut self, key: &GitBranchKey) {
        let Some(id) = self.places.get(key).cloned() else {
            return;
        };
        let Some(contest) = self.contests.get(&id) else {
            self.places.remove(key);
            return;
        };
        let holds = contest
            .hold
            .as_ref()
            .is_some_and(|hold| hold.by.key == *key);
        if !holds && contest.line.iter().all(|place| place.key != *key) {
            self.places.remove(key);
        }
        if contest.hold.is_none() && contest.line.is_empty() {
            self.contests.remove(&id);
        }
    }
}

impl Contest {
    /// Gives a free branch to `asking` when it is the first in line, and makes a holder that is not the first
    /// give it up. Only the one that asks can take it: the grants of the others were checked longer ago.
    fn settle(&mut self, asking: &Place) {
        let Some(first) = self.line.first() else {
            return;
        };
        match &mut self.hold {
            None if first == asking => {
                self.hold = Some(Hold {
                    by: first.clone(),
                    ending: false,
                });
            }
            Some(hold) if hold.by != *first => hold.ending = true,
            None | Some(_) => {}
        }
    }

    fn first_before(&self, key: &GitBranchKey) -> Option<&GitBranchKey> {
        self.line
            .first()
            .map(|place| &place.key)
            .filter(|first| *first != key)
    }
}

#[cfg(test)]
mod tests;
