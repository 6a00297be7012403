//! The order in which one run of the Git job works.

use std::sync::Arc;
use std::time::{Duration, Instant};

use board::{ProvedBy, PublicationFault};
use model::CommitId;
use repository::{Advertisement, SigningKey};

use super::fault::{from_remote, from_store, store_is_closed};
use super::workshop::{Ground, Workshop};
use super::{CycleOutcome, CycleRequest, Fault, FetchReason, Unanswered};
use crate::state::PendingWrite;

/// How often one cycle plans again because the branch moved before its push arrived.
const ATTEMPTS: u32 = 5;

/// One run of the job.
pub(super) struct Cycle<'a> {
    pub shop: &'a mut Workshop,
    pub request: CycleRequest,
    pub outcome: CycleOutcome,
    /// What is decided and not on the remote, oldest first; grows as drafts are decided.
    pub pending: Vec<Arc<PendingWrite>>,
    /// Whether the remote was asked in this cycle.
    pub looked: bool,
    /// What its commits are signed with, once the first one asked.
    pub signing: Option<Option<Arc<SigningKey>>>,
}

/// What a push came to, when nothing failed.
pub(super) enum Pushed {
    Landed,
    /// The branch is elsewhere. The push session told where everything is, unless the branch is nowhere: then it also
    /// matters what a reader sees.
    Moved(Option<Box<Advertisement>>),
}

impl Workshop {
    /// Runs one cycle. Blocks: the network and the disk are in it.
    pub fn run(&mut self, request: CycleRequest) -> CycleOutcome {
        let pending = request.pending.clone();
        let mut cycle = Cycle {
            shop: self,
            request,
            outcome: CycleOutcome::default(),
            pending,
            looked: false,
            signing: None,
        };
        let result = cycle.work();
        cycle.forget_folders();
        if result.is_ok() && cycle.pending.is_empty() && cycle.shop.renew_worn_store() {
            cycle.outcome.fetches.push(FetchReason::Renewal);
        }
        let mut outcome = cycle.outcome;
        if let Err(fault) = result {
            if fault.kind == PublicationFault::Store {
                self.drop_store();
            }
            outcome.fault = Some(fault);
        }
        outcome
    }
}

impl Cycle<'_> {
    fn work(&mut self) -> Result<(), Fault> {
        let deadline = Instant::now() + Duration::from_millis(self.request.budget);
        let must_look = !self.request.trusted
            || self.request.look
            || !self.request.unanswered.is_empty()
            || !self.request.doubtful.is_empty()
            || self.shop.ground.is_none();
        if must_look {
            self.look()?;
            if self.settle_doubtful()? {
                return Ok(());
            }
            self.settle_unanswered()?;
        }
        for attempt in 0..ATTEMPTS {
            if attempt > 0 && Instant::now() >= deadline {
                return Err(contended(
                    "the time for one cycle ran out while the branch kept moving".to_owned(),
                ));
            }
            self.project()?;
            self.decide()?;
            if self.pending.is_empty() {
                // Nothing to push, so no push will tell whether the base still holds: ask, and judge again
                // on what the remote has now.
                if self.looked || self.request.drafts.is_empty() || !self.look()? {
                    return Ok(());
                }
                self.outcome.drafts.clear();
                continue;
            }
            if !self.request.publish {
                return Ok(());
            }
            match self.push()? {
                Pushed::Landed => return Ok(()),
                Pushed::Moved(told) => {
                    self.outcome.lost_races += 1;
                    match told {
                        Some(advertisement) => drop(self.stand_on(&advertisement)?),
                        None => self.look_for_the_absent()?,
                    }
                    // What moved the branch may be a push of ours that a slow server took at last.
                    if self.settle_doubtful()? {
                        self.outcome.drafts.clear();
                        self.outcome.replayed.clear();
                        return Ok(());
                    }
                    self.settle_unanswered()?;
                }
            }
        }
        Err(contended(format!(
            "the branch moved {ATTEMPTS} times before the push arrived"
        )))
    }

    fn forget_folders(&mut self) {
        let targets = &self.request.targets;
        let pending = &self.pending;
        self.shop.folders.keep(|path| {
            targets.iter().any(|target| target.folder == *path)
                || pending.iter().any(|write| write.target.folder == *path)
        });
    }

    /// Finds out which of the pushes that were never answered have landed. A later one stands on the earlier ones, so
    /// the last that landed says how far.
    fn settle_unanswered(&mut self) -> Result<(), Fault> {
        let ground = self.shop.ground.as_ref();
        let Some(tip) = ground.and_then(|ground| ground.tip.clone()) else {
            return Ok(());
        };
        let mut through = None;
        for sent in self.request.unanswered.clone() {
            if tip == sent.commit || self.history_holds(&tip, &sent)? {
                through = through.max(sent.through);
            }
        }
        let is_in = |write: &Arc<PendingWrite>| Some(write.id) <= through;
        let Some(through) = through.filter(|_| self.pending.iter().any(is_in)) else {
            return Ok(());
        };
        self.pending.retain(|write| !is_in(write));
        self.outcome.published = Some(super::Published {
            tip,
            through,
            by: ProvedBy::Fetch,
        });
        Ok(())
    }

    /// Finds out which pushes of an earlier writer have landed. Says whether any has: then the machine has to let go of
    /// what was in it before anything is planned.
    fn settle_doubtful(&mut self) -> Result<bool, Fault> {
        let ground = self.shop.ground.as_ref();
        let Some(tip) = ground.and_then(|ground| ground.tip.clone()) else {
            return Ok(false);
        };
        for sent in self.request.doubtful.clone() {
            if tip == sent.commit || self.history_holds(&tip, &sent)? {
                self.outcome.landed.insert(sent.commit);
            }
        }
        Ok(!self.outcome.landed.is_empty())
    }

    fn history_holds(&mut self, tip: &CommitId, sent: &Unanswered) -> Result<bool, Fault> {
        /// How far back somebody else's pushes are followed to find our commit below them.
        const LIMIT: usize = 1000;
        let store = self.shop.opened_store()?;
        let Some(on) = &sent.on else {
            return Ok(store
                .is_descendant(tip, &sent.commit, LIMIT)
                .unwrap_or(false));
        };
        match store.history_between(tip, on, LIMIT) {
            Ok(history) if history.complete || history.contains(&sent.commit) => {
                Ok(history.contains(&sent.commit))
            }
            // Only what was fetched or accepted is in a store, so ours is in it if it landed further down.
            Ok(_) => store.has(&sent.commit).map_err(|error| from_store(&error)),
            Err(error) if error.is_damage() => Err(from_store(&error)),
            // What it was sent on is not below the new tip: the branch was rewritten, and our commit with it.
            Err(_) => Ok(false),
        }
    }

    /// Asks the remote where the branch is and fetches what is missing. Returns whether the ground moved.
    pub(super) fn look(&mut self) -> Result<bool, Fault> {
        let advertisement = self.shop.remote.look();
        self.stand_on(&advertisement.map_err(|error| from_remote(&error))?)
    }

    /// Looks where the branch is that a push session did not show. When readers see everything where it was, those who
    /// push are shown something else, and asking again would change nothing.
    fn look_for_the_absent(&mut self) -> Result<(), Fault> {
        if self.look()? {
            return Ok(());
        }
        let branch = &self.shop.identity.branch;
        let ground = self.shop.ground.as_ref();
        let words = match ground.and_then(|ground| ground.tip.as_ref()) {
            Some(_) => {
                format!("it shows branch {branch} to readers and hides it from those who push")
            }
            None => format!(
                "it shows those who push other branches than readers, so branch {branch} cannot be begun"
            ),
        };
        Err(super::publish::refused(&words))
    }

    /// Takes what the remote told for the ground and fetches what is missing. Returns whether the ground moved.
    fn stand_on(&mut self, advertisement: &Advertisement) -> Result<bool, Fault> {
        let ground = super::publish::ground(&self.shop.identity, advertisement);
        let known = self
            .shop
            .ground
            .as_ref()
            .and_then(|before| before.root.clone());
        self.shop.open_store(advertisement.object_format)?;
        if let Some(root) = &ground.root {
            self.fetch(root, known.as_ref())?;
        }
        let moved = self.shop.ground.as_ref() != Some(&ground);
        self.looked = true;
        self.outcome.base = Some(super::ProvedBase {
            commit: ground.tip.clone(),
            by: ProvedBy::Fetch,
            parent: ground.parent.clone(),
        });
        self.note_foreign(&ground);
        self.shop.ground = Some(ground.clone());
        super::publish::check_parent(&self.shop.identity, &ground)?;
        if moved || self.request.look {
            let targets = self.request.targets.clone();
            self.scan_folders(&targets)?;
        }
        Ok(moved)
    }

    fn fetch(&mut self, tip: &CommitId, known: Option<&CommitId>) -> Result<(), Fault> {
        let Workshop { remote, store, .. } = &mut *self.shop;
        let store = store.as_mut().ok_or_else(store_is_closed)?;
        if store.has(tip).map_err(|error| from_store(&error))? {
            return Ok(());
        }
        let fetched = remote.fetch(store, tip, known);
        fetched.map_err(|error| from_remote(&error))?;
        self.outcome.fetches.push(match known {
            None => FetchReason::Initial,
            Some(_) if self.outcome.lost_races > 0 => FetchReason::Moved,
            Some(_) => FetchReason::Refresh,
        });
        Ok(())
    }

    /// A tip that is neither the one we knew nor one that we made is somebody else's.
    fn note_foreign(&mut self, ground: &Ground) {
        let Some(tip) = &ground.tip else { return };
        let known = self.request.known_tip.as_ref() == Some(tip);
        let ours = self.pending.iter().any(|write| write.commit == *tip)
            || self
                .request
                .unanswered
                .iter()
                .chain(&self.request.doubtful)
                .any(|sent| sent.commit == *tip);
        if !known && !ours && self.request.known_tip.is_some() {
            self.outcome.foreign = Some(tip.clone());
        }
    }
}

fn contended(message: String) -> Fault {
    Fault {
        kind: PublicationFault::Contended,
        message,
        not_before: None,
        unanswered: None,
    }
}
