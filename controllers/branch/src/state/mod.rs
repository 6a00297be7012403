//! The pure machine: no clock, no channel, no Git.
//!
//! [`BranchState::step`] takes one event at one moment and says what to do. It owns everything that may
//! change about a branch. Read [`window`] (what collects), [`writes`] (what waits), [`targets`] (what is
//! known of each folder), [`retry`] (when to try again), [`turn`] (when a cycle may run)
//! and [`recovery`] (what an earlier writer left); this file holds the order in which they act.

mod outcome;
mod recovery;
mod retry;
mod targets;
#[cfg(test)]
mod tests;
mod turn;
mod window;
mod writes;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use board::{BranchView, IntakeState, ProvedBy, PushView};
use model::{BranchName, CommitId, GitBranchKey, Millis, Now, RepositoryId, Signature, TargetKey};
use serde::{Deserialize, Serialize};

use crate::cycle::{CycleRequest, Unanswered};
use crate::effect::Effect;
use crate::journal::Settled;
use crate::message::{BranchMessage, Event};
use recovery::Recovery;
pub use retry::RetryClock;
pub use targets::{TargetState, Targets};
use turn::CycleState;
pub use window::OpenWindow;
pub use writes::{Draft, DraftKind, PendingWrite, WriteId, WriteSource};

/// Who the branch writer works for. Fixed for its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchIdentity {
    /// The `GitBranch`.
    pub key: GitBranchKey,
    /// The repository.
    pub repository: RepositoryId,
    /// The branch that it writes.
    pub branch: BranchName,
    /// The branch that a missing branch is created from; `None` is the remote's default branch.
    pub parent: Option<BranchName>,
}

/// How the machine behaves. Times in milliseconds, sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// How much may be accepted and not yet published before a window closes and intake pauses.
    pub buffer_limit: usize,
    /// What each waiting item costs on top of its content.
    pub item_charge: usize,
    /// The least time between two pushes.
    pub push_cooldown: Millis,
    /// The first wait after a failure.
    pub retry_first: Millis,
    /// The longest wait after failures.
    pub retry_longest: Millis,
    /// After how long an idle branch is looked at again; `None` is never.
    pub refresh_interval: Option<Millis>,
    /// How long one cycle may take before it stops starting over, and how long a branch that is given up may
    /// go on trying to publish.
    pub cycle_budget: Millis,
    /// Varies the waits of several branches, so that they do not return to a server together.
    pub jitter_seed: u64,
}

/// Where the branch is on the remote, as far as the machine knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The tip, or `None` while the branch is not on the remote.
    pub commit: Option<CommitId>,
    /// When that was proved.
    pub proved_at: Now,
    /// What proved it.
    pub proved_by: ProvedBy,
    /// What the branch would be created from, while it is not on the remote.
    pub parent: Option<board::ParentView>,
}

/// The machine.
#[derive(Debug, Clone)]
pub struct BranchState {
    identity: BranchIdentity,
    settings: Settings,
    committer: Signature,
    targets: Targets,
    window: Option<OpenWindow>,
    /// Closed windows and snapshots that no cycle has decided yet, oldest first.
    drafts: VecDeque<Arc<Draft>>,
    /// Decided writes that are not on the remote yet, oldest first.
    pending: VecDeque<Arc<PendingWrite>>,
    next_id: WriteId,
    base: Option<Base>,
    /// The newest commit of somebody else.
    foreign: Option<CommitId>,
    /// Whether the next cycle may plan on the base without asking the remote first.
    trusted: bool,
    /// A push that was sent and never answered: it may have landed.
    unanswered: Vec<Unanswered>,
    look_wanted: bool,
    /// Targets whose settings changed while a job ran with the ones before.
    changed_meanwhile: BTreeSet<TargetKey>,
    cycle: CycleState,
    retry: Option<RetryClock>,
    last_push: Option<(PushView, Now)>,
    intake: IntakeState,
    /// What an earlier writer left.
    recovery: Recovery,
    /// Accepted writes that need nothing more since this step began.
    settled: Vec<Settled>,
    stopping: Option<Stopping>,
    stopped: bool,
}

/// Why and until when the machine ends.
#[derive(Debug, Clone, Copy)]
struct Stopping {
    /// The monotonic moment after which nothing is tried again.
    give_up_at: Millis,
    /// Whether one attempt was made since.
    tried: bool,
    /// Whether attempts go on until `give_up_at`.
    insist: bool,
}

impl BranchState {
    /// Starts with nothing known. The first step makes the machine look at the remote.
    pub fn new(identity: BranchIdentity, settings: Settings, committer: Signature) -> Self {
        Self {
            identity,
            settings,
            committer,
            targets: Targets::default(),
            window: None,
            drafts: VecDeque::new(),
            pending: VecDeque::new(),
            next_id: WriteId::FIRST,
            base: None,
            foreign: None,
            trusted: false,
            unanswered: Vec::new(),
            look_wanted: true,
            changed_meanwhile: BTreeSet::new(),
            cycle: CycleState::Rests,
            retry: None,
            last_push: None,
            intake: IntakeState::Open,
            recovery: Recovery::default(),
            settled: Vec::new(),
            stopping: None,
            stopped: false,
        }
    }

    /// Takes one event at one moment and says what to do about it.
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Recovered { deliveries, sent } => self.recovery.begin(now, deliveries, sent),
            Event::Received { arrived, message } => {
                self.close_window_if_due(arrived);
                if let Some(message) = self.recovery.hold_back(message) {
                    self.receive(now, message);
                }
            }
            Event::Deadline => {}
            Event::TurnCame => self.start_cycle(now, &mut effects),
            Event::CycleDone(outcome) => self.take_outcome(now, *outcome, &mut effects),
            Event::CycleLost => self.take_loss(now),
            Event::ShutDown => self.stop(now, false),
        }
        self.close_window_if_due(now);
        self.close_window_if_full(now);
        self.stop_waiting_if_due(now);
        self.settle_intake();
        if !self.settled.is_empty() {
            effects.push(Effect::Settle(std::mem::take(&mut self.settled)));
        }
        self.ask_for_turn_if_due(now, &mut effects);
        self.cycle.pass(now);
        self.end_if_done(now, &mut effects);
        effects
    }

    /// Returns the monotonic moment at which [`Event::Deadline`] has to be sent.
    pub fn next_deadline(&self) -> Option<Millis> {
        if self.stopped {
            return None;
        }
        let window = self.window.as_ref().map(OpenWindow::closes_at);
        let cycle = match self.cycle {
            CycleState::Rests => self.next_cycle_at(),
            CycleState::Waits { .. } | CycleState::Runs => self.cycle.told_at(),
        };
        // While a cycle runs there is nothing to give up: its end is waited for.
        let give_up = self
            .stopping
            .filter(|stopping| self.cycle != CycleState::Runs && !self.waits_insisting(*stopping))
            .map(|stopping| stopping.give_up_at);
        let waiting = self.recovery.waits_until();
        [window, cycle, give_up, waiting]
            .into_iter()
            .flatten()
            .min()
    }

    /// Returns what readers may know.
    pub fn view(&self) -> BranchView {
        crate::report::view(self)
    }

    /// Returns the folder of a target that is on the branch, or will be once the fate of earlier pushes is known.
    pub(crate) fn folder_of(&self, target: &TargetKey) -> Option<model::FolderPath> {
        if let Some(held) = self.recovery.held_config(target) {
            return Some(held.folder.clone());
        }
        Some(self.targets.config(target)?.folder.clone())
    }

    /// Returns whether changes are taken in.
    pub fn intake(&self) -> IntakeState {
        self.intake
    }

    /// Says whether the machine ends once what it holds is published or given up.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    fn receive(&mut self, now: Now, message: BranchMessage) {
        match message {
            BranchMessage::Deliver(accepted) => self.take_delivery(now, *accepted),
            BranchMessage::Snapshot(snapshot) => self.take_snapshot(now, *snapshot),
            BranchMessage::ConfigureTarget(config) => {
                let before = self.targets.config(&config.key);
                if self.cycle == CycleState::Runs && before.is_some_and(|before| *before != *config)
                {
                    self.changed_meanwhile.insert(config.key.clone());
                }
                let key = config.key.clone();
                if self.targets.configure(*config) {
                    self.look_wanted = true;
                }
                self.take_recovered(now, &key);
            }
            BranchMessage::WithdrawTarget(key) => {
                if self
                    .window
                    .as_ref()
                    .is_some_and(|window| window.is_for(&key))
                {
                    self.close_window(now);
                }
                self.targets.withdraw(&key);
            }
            BranchMessage::ForgetCollection { target, collection } => {
                self.targets.forget_collection(&target, &collection);
            }
            BranchMessage::UseCommitter(committer) => self.committer = committer,
            BranchMessage::CredentialChanged => self.try_at_once(now),
            BranchMessage::PushNotice => {
                self.close_window(now);
                self.look_wanted = true;
            }
            BranchMessage::Look => self.look_wanted = true,
            BranchMessage::Retire => self.stop(now, true),
        }
    }

    fn stop(&mut self, now: Now, insist: bool) {
        self.close_window(now);
        match &mut self.stopping {
            // The process does not wait as long as a branch that is given up.
            Some(stopping) => stopping.insist &= insist,
            None => {
                let give_up_at = now.monotonic.saturating_add(self.settings.cycle_budget);
                self.stopping = Some(Stopping {
                    give_up_at,
                    tried: false,
                    insist,
                });
                self.try_at_once(now);
            }
        }
    }

    /// Forgets the wait after a failure, without forgetting the failure.
    fn try_at_once(&mut self, now: Now) {
        if let Some(retry) = &mut self.retry {
            retry.retry_at = now;
        }
        self.trusted = false;
    }

    /// Returns when the next cycle has to run, or `None` when nothing asks for one.
    fn next_cycle_at(&self) -> Option<Millis> {
        let refresh = match (&self.base, self.settings.refresh_interval) {
            (Some(base), Some(interval)) => Some(base.proved_at.monotonic.saturating_add(interval)),
            _ => None,
        };
        let publish = (!self.pending.is_empty()).then(|| self.publish_at());
        let at_once = (!self.drafts.is_empty()
            || self.look_wanted
            || !self.unanswered.is_empty()
            || self.recovery.is_unresolved())
        .then_some(0);
        let wanted = [refresh, publish, at_once].into_iter().flatten().min()?;
        let not_before = self
            .retry
            .as_ref()
            .map_or(0, |retry| retry.retry_at.monotonic);
        Some(wanted.max(not_before))
    }

    /// Returns when the push cooldown allows a push.
    fn publish_at(&self) -> Millis {
        match (&self.last_push, self.stopping) {
            (_, Some(_)) | (None, _) => 0,
            (Some((_, at)), None) => at.monotonic.saturating_add(self.settings.push_cooldown),
        }
    }

    fn ask_for_turn_if_due(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let due = self.next_cycle_at().is_some_and(|at| at <= now.monotonic);
        if self.cycle == CycleState::Rests && !self.stopped && due {
            self.cycle = CycleState::waits(now);
            effects.push(Effect::AskForTurn);
        }
    }

    /// Asks for a cycle with everything that is known now, however long its turn was waited for.
    fn start_cycle(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if self.stopped || !matches!(self.cycle, CycleState::Waits { .. }) {
            return;
        }
        let request = CycleRequest {
            trusted: self.trusted && self.unanswered.is_empty(),
            known_tip: self.base.as_ref().and_then(|base| base.commit.clone()),
            unanswered: self.unanswered.clone(),
            doubtful: self.recovery.doubtful().to_vec(),
            budget: self.settings.cycle_budget,
            publish: self.publish_at() <= now.monotonic,
            look: self.look_wanted || (self.drafts.is_empty() && self.pending.is_empty()),
            committer: self.committer.clone(),
            targets: self.targets.configs(),
            pending: self.pending.iter().cloned().collect(),
            drafts: self.drafts.iter().cloned().collect(),
        };
        self.look_wanted = false;
        self.cycle = CycleState::Runs;
        effects.push(Effect::RunCycle(Box::new(request)));
    }

    /// Says whether a branch that is given up waits for its turn: it has its try however long the others take.
    fn waits_insisting(&self, stopping: Stopping) -> bool {
        stopping.insist && matches!(self.cycle, CycleState::Waits { .. })
    }

    fn end_if_done(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let Some(stopping) = self.stopping else {
            return;
        };
        if self.cycle == CycleState::Runs || self.stopped {
            return;
        }
        let unpublished =
            self.drafts.len() + self.pending.len() + usize::from(self.recovery.is_unresolved());
        let out_of_time = now.monotonic >= stopping.give_up_at && !self.waits_insisting(stopping);
        // What came during the try has one of its own, which may wait for its turn.
        let rests = self.cycle == CycleState::Rests;
        let gave_its_try = stopping.tried && !stopping.insist && rests;
        if unpublished == 0 || out_of_time || gave_its_try {
            self.stopped = true;
            effects.push(Effect::Stopped { unpublished });
        }
    }

    /// Intake pauses while the buffer is full. During an outage it stays paused until a push lands, even when
    /// something else makes room: what would come in could not go out.
    fn settle_intake(&mut self) {
        let full = self.buffered_bytes() >= self.settings.buffer_limit;
        let latched = self.intake == IntakeState::Paused && self.retry.is_some();
        let paused = full || latched || self.stopping.is_some();
        self.intake = if paused {
            IntakeState::Paused
        } else {
            IntakeState::Open
        };
    }

    /// Returns what counts against the buffer: everything accepted and not yet published.
    fn buffered_bytes(&self) -> usize {
        let window = self
            .window
            .as_ref()
            .map_or(0, |window| window.bytes(self.settings.item_charge));
        let drafts: usize = self.drafts.iter().map(|draft| draft.bytes).sum();
        let pending: usize = self.pending.iter().map(|write| write.bytes).sum();
        window + drafts + pending + self.recovery.held_bytes(self.settings.item_charge)
    }
}

/// What [`report`](crate::report) reads; nothing here changes anything.
impl BranchState {
    pub(crate) fn identity(&self) -> &BranchIdentity {
        &self.identity
    }

    pub(crate) fn base(&self) -> Option<&Base> {
        self.base.as_ref()
    }

    pub(crate) fn foreign(&self) -> Option<&CommitId> {
        self.foreign.as_ref()
    }

    pub(crate) fn open_window(&self) -> Option<&OpenWindow> {
        self.window.as_ref()
    }

    pub(crate) fn pending(&self) -> &VecDeque<Arc<PendingWrite>> {
        &self.pending
    }

    pub(crate) fn drafts(&self) -> &VecDeque<Arc<Draft>> {
        &self.drafts
    }

    pub(crate) fn targets(&self) -> &Targets {
        &self.targets
    }

    pub(crate) fn retry_clock(&self) -> Option<&RetryClock> {
        self.retry.as_ref()
    }

    /// Returns since when a turn at the host is waited for, once that takes long.
    pub(crate) fn waits_since(&self) -> Option<Now> {
        self.cycle.told_since()
    }

    pub(crate) fn last_push(&self) -> Option<&PushView> {
        self.last_push.as_ref().map(|(view, _)| view)
    }

    /// Returns what an earlier writer left and what has to wait for it.
    pub(crate) fn recovered(&self) -> impl Iterator<Item = board::PendingView> + '_ {
        self.recovery.pending()
    }

    pub(crate) fn buffered(&self) -> usize {
        self.buffered_bytes()
    }
}
