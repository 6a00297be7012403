//! The one loop that owns every actor.

mod local_stores;
mod published;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use board::DirectoryWriter;
use branch::record::Recorder;
use branch::{BranchMessage, Clock, Occurrence};
use model::{GitBranchKey, KubeProviderKey, TargetKey};
use source::TargetDeclaration;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::crew::{BranchSlot, Lookups, SourceSlot, enlist_branch, enlist_source};
use crate::order::{BranchOrder, BranchSigning, Command, FleetHandle, MirrorOrder, SourceOrder};
use crate::placement::{Due, Incarnation, Placements};
use crate::restarts::{Restarts, Who};

/// How many commands may wait.
const INBOX: usize = 64;
/// How long actors may take to end after the budget, once their conversations were cut off.
const CUT_OFF: Duration = Duration::from_secs(3);

/// What the actors are started with.
#[derive(Clone)]
pub struct Settings {
    /// Where local stores live.
    pub data_dir: PathBuf,
    /// How branch writers behave.
    pub branch: branch::Settings,
    /// How sources behave.
    pub source: source::Settings,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Where people are told what happened.
    pub occurrences: mpsc::Sender<Occurrence>,
    /// What branch writers count.
    pub branch_metrics: branch::metrics::Metrics,
    /// What sources count.
    pub source_metrics: source::Metrics,
    /// Where the steps of branch writers are written down, if anywhere.
    pub recorder: Option<Recorder>,
    /// How long branch writers may take to publish what they hold when the process stops.
    pub shutdown_budget: Duration,
}

/// The supervisor.
pub struct Fleet {
    settings: Settings,
    commands: mpsc::Receiver<Command>,
    directory: DirectoryWriter,
    lookups: Lookups,
    branches: BTreeMap<GitBranchKey, BranchSlot>,
    sources: BTreeMap<KubeProviderKey, SourceSlot>,
    placements: Placements,
    actors: JoinSet<()>,
    who: BTreeMap<Id, Who>,
    restarts: Restarts<Again>,
    next_incarnation: Incarnation,
    /// Ends every conversation with a Git server.
    calls: CancellationToken,
}

/// What is started again.
enum Again {
    Branch(Box<BranchOrder>),
    Source(Box<SourceOrder>),
}

impl Fleet {
    /// Prepares a fleet without actors, and the handle to ask it for some. It writes who runs into the
    /// directory.
    pub fn new(settings: Settings, directory: DirectoryWriter) -> (Self, FleetHandle) {
        let (sender, commands) = mpsc::channel(INBOX);
        let handle = FleetHandle {
            commands: sender,
            directory: directory.reader(),
        };
        let fleet = Self {
            settings,
            commands,
            directory,
            lookups: Lookups::default(),
            branches: BTreeMap::new(),
            sources: BTreeMap::new(),
            placements: Placements::default(),
            actors: JoinSet::new(),
            who: BTreeMap::new(),
            restarts: Restarts::default(),
            next_incarnation: 1,
            calls: CancellationToken::new(),
        };
        (fleet, handle)
    }

    /// Runs until the token is cancelled; then ends the watches, lets branch writers publish what they hold,
    /// and returns once all have ended. When the budget is used up, conversations with Git servers are cut off.
    pub async fn run(mut self, shutdown: CancellationToken) {
        loop {
            tokio::select! { biased;
                () = shutdown.cancelled() => break,
                Some(ended) = self.actors.join_next_with_id() => self.take_end(ended),
                () = wait_for(self.restarts.next()) => self.restart_due(),
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => break,
                },
            }
            self.tell_due().await;
        }
        self.end().await;
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::KeepBranch(order) => self.keep_branch(*order).await,
            Command::RetireBranch(key) => self.retire_branch(&key).await,
            Command::Sign(key, signing) => self.sign(&key, signing).await,
            Command::Look(key) => {
                if let Some(slot) = self.branches.get(&key) {
                    let _gone = slot.handle.tell(BranchMessage::Look).await;
                }
            }
            Command::KeepSource(order) => self.keep_source(*order),
            Command::DropSource(key) => self.drop_source(&key),
            Command::Mirror(order) => self.mirror(*order).await,
            Command::Withdraw(target) => self.withdraw(&target).await,
            Command::Resync(target, collection) => {
                let source = self
                    .placements
                    .get(&target)
                    .map(|placement| &placement.order.source);
                if let Some(slot) = source.and_then(|source| self.sources.get(source)) {
                    let _gone = slot.handle.resync(target, collection).await;
                }
            }
            Command::DropStrayStores(live) => self.drop_stray_stores(live),
        }
    }

    async fn keep_branch(&mut self, mut order: BranchOrder) {
        let key = order.identity.key.clone();
        let Some(slot) = self.branches.get_mut(&key) else {
            let again = Again::Branch(Box::new(order));
            return self.start_unless_waiting(&Who::Branch(key), again);
        };
        let same_writer = slot.order.identity == order.identity
            && slot.order.uid == order.uid
            && slot.order.provider == order.provider
            && slot.order.provider_uid == order.provider_uid;
        if slot.retiring || !same_writer {
            slot.successor = Some(order);
            return self.retire(&key).await;
        }
        if slot.order.committer != order.committer {
            let _gone = slot
                .handle
                .tell(BranchMessage::UseCommitter(order.committer.clone()))
                .await;
        }
        if slot.order.remote_stamp != order.remote_stamp {
            match (order.remote)(slot.calls.clone()) {
                Ok(remote) => {
                    let _gone = slot.handle.use_remote(remote).await;
                }
                Err(error) => {
                    tracing::error!(branch = %key, "cannot use the new credential: {error}");
                    return;
                }
            }
        }
        let signing = order.signing.clone();
        // Which key is in use is known from the order that stands.
        order.signing.clone_from(&slot.order.signing);
        slot.order = order;
        self.sign(&key, signing).await;
    }

    async fn sign(&mut self, key: &GitBranchKey, signing: Option<BranchSigning>) {
        let Some(slot) = self.branches.get_mut(key) else {
            return;
        };
        let stamp =
            |signing: &Option<BranchSigning>| signing.as_ref().map(|signing| signing.stamp.clone());
        if stamp(&slot.order.signing) != stamp(&signing) {
            self.lookups.keys.sign(key, signing.as_ref());
            slot.order.signing = signing;
            // What waited for a key need not wait for the next attempt.
            let _gone = slot.handle.tell(BranchMessage::CredentialChanged).await;
        }
    }

    async fn retire_branch(&mut self, key: &GitBranchKey) {
        if let Some(Again::Branch(order)) = self.restarts.forget(&Who::Branch(key.clone())) {
            self.remove_store(&order.uid);
        }
        if let Some(slot) = self.branches.get_mut(key) {
            slot.successor = None;
            self.retire(key).await;
        }
    }

    async fn retire(&mut self, key: &GitBranchKey) {
        let Some(slot) = self.branches.get_mut(key) else {
            return;
        };
        if !slot.retiring {
            slot.retiring = true;
            let _gone = slot.handle.tell(BranchMessage::Retire).await;
        }
    }

    fn start_branch(&mut self, order: BranchOrder) {
        let incarnation = self.new_incarnation();
        let key = order.identity.key.clone();
        let calls = self.calls.child_token();
        self.lookups.keys.sign(&key, order.signing.as_ref());
        match enlist_branch(&order, incarnation, &self.settings, &self.lookups, calls) {
            Ok((actor, slot)) => {
                let cancel = slot.cancel.clone();
                let name = key.clone();
                let ended = async move {
                    let unpublished = actor.run(cancel).await;
                    if unpublished > 0 {
                        tracing::warn!(branch = %name, unpublished, "ended with writes that were not published");
                    }
                };
                let id = self.actors.spawn(ended).id();
                self.who.insert(id, Who::Branch(key.clone()));
                self.branches.insert(key, slot);
                self.publish_directory();
            }
            Err(error) => {
                tracing::error!(branch = %key, "cannot start the branch writer: {error}");
                let again = Again::Branch(Box::new(order));
                self.start_later(Who::Branch(key), again, Duration::ZERO);
            }
        }
    }

    fn keep_source(&mut self, order: SourceOrder) {
        match self.sources.get(&order.key) {
            None => {
                let who = Who::Source(order.key.clone());
                self.start_unless_waiting(&who, Again::Source(Box::new(order)));
            }
            Some(slot) if slot.order.stamp == order.stamp => {}
            Some(_) => {
                self.drop_source(&order.key);
                self.start_source(order);
            }
        }
    }

    fn drop_source(&mut self, key: &KubeProviderKey) {
        self.restarts.forget(&Who::Source(key.clone()));
        if let Some(slot) = self.sources.remove(key) {
            slot.cancel.cancel();
            self.publish_directory();
        }
    }

    fn start_source(&mut self, order: SourceOrder) {
        let incarnation = self.new_incarnation();
        let (slot, publishers, inbox) = enlist_source(&order, incarnation);
        let key = order.key.clone();
        let clock = Arc::clone(&self.settings.clock);
        let source = source::Source {
            key: key.clone(),
            connection: order.connection.clone(),
            settings: self.settings.source.clone(),
            publishers,
            clock: Arc::new(move || clock.now()),
            metrics: self.settings.source_metrics.clone(),
        };
        let run = source.run(inbox, slot.cancel.clone());
        let id = self.actors.spawn(run).id();
        self.who.insert(id, Who::Source(key.clone()));
        self.sources.insert(key, slot);
        self.publish_directory();
    }

    async fn mirror(&mut self, order: MirrorOrder) {
        if let Some(before) = self.placements.set(order) {
            self.take_away(&before).await;
        }
        self.publish_targets();
    }

    async fn withdraw(&mut self, target: &TargetKey) {
        if let Some(before) = self.placements.remove(target) {
            self.take_away(&before).await;
        }
        self.publish_targets();
    }

    /// Takes a target away from where it was: first the watches, then the folder.
    async fn take_away(&mut self, order: &MirrorOrder) {
        let target = &order.config.key;
        if let Some(slot) = self.sources.get(&order.source) {
            let _gone = slot.handle.withdraw(target.clone()).await;
        }
        if let Some(slot) = self.branches.get(&order.branch) {
            let _gone = slot
                .handle
                .tell(BranchMessage::WithdrawTarget(target.clone()))
                .await;
        }
    }

    /// Tells branch writers and sources what they have not been told yet. A target is known to its branch
    /// before a watch delivers for it.
    async fn tell_due(&mut self) {
        let branches = self.branches.iter().filter(|(_, slot)| !slot.retiring);
        let branches = branches
            .map(|(key, slot)| (key.clone(), slot.incarnation))
            .collect();
        let sources = self
            .sources
            .iter()
            .map(|(key, slot)| (key.clone(), slot.incarnation))
            .collect();
        for due in self.placements.due(&branches, &sources) {
            if self.tell(&due).await {
                self.placements.done(&due);
            }
        }
    }

    async fn tell(&self, due: &Due) -> bool {
        let Some(placement) = self.placements.get(&due.target) else {
            return false;
        };
        let order = &placement.order;
        let Some(branch) = self.branches.get(&order.branch) else {
            return false;
        };
        if due.configure.is_some() {
            let config = BranchMessage::ConfigureTarget(Box::new(order.config.clone()));
            if branch.handle.tell(config).await.is_err() {
                return false;
            }
        }
        match (due.declare, self.sources.get(&order.source)) {
            (Some(_), Some(source)) => {
                let declaration = TargetDeclaration {
                    target: due.target.clone(),
                    generation: order.generation,
                    sink: Arc::clone(&branch.sink) as Arc<dyn source::Sink>,
                    rules: order.rules.clone(),
                };
                source.handle.declare(declaration).await.is_ok()
            }
            _ => true,
        }
    }

    /// An actor has ended. What was not asked to end is started again.
    fn take_end(&mut self, ended: Result<(Id, ()), JoinError>) {
        let (id, broke_down) = match ended {
            Ok((id, ())) => (id, None),
            Err(error) => (error.id(), Some(error)),
        };
        let Some(who) = self.who.remove(&id) else {
            return;
        };
        if let Some(error) = &broke_down {
            tracing::error!(?who, %error, "an actor broke down");
        }
        match who {
            Who::Branch(key) => self.branch_ended(key),
            Who::Source(key) => self.source_ended(key),
        }
    }

    fn branch_ended(&mut self, key: GitBranchKey) {
        let Some(slot) = self.branches.remove(&key) else {
            return;
        };
        // A job that the writer did not wait for must not go on beside the next one.
        slot.calls.cancel();
        self.publish_directory();
        if !slot.retiring {
            let (again, ran) = (Again::Branch(Box::new(slot.order)), slot.started.elapsed());
            return self.start_later(Who::Branch(key), again, ran);
        }
        self.restarts.forget(&Who::Branch(key.clone()));
        let successor = slot.successor;
        if successor.as_ref().map(|order| &order.uid) != Some(&slot.order.uid) {
            self.remove_store(&slot.order.uid);
        }
        match successor {
            Some(successor) => self.start_branch(successor),
            None => self.lookups.keys.sign(&key, None),
        }
    }

    fn source_ended(&mut self, key: KubeProviderKey) {
        // A source that was replaced or dropped is not in the map under its own incarnation any more.
        let ended = self
            .sources
            .get(&key)
            .is_some_and(|slot| !slot.view.is_live());
        if !ended {
            return;
        }
        if let Some(slot) = self.sources.remove(&key) {
            self.publish_directory();
            let (again, ran) = (Again::Source(Box::new(slot.order)), slot.started.elapsed());
            self.start_later(Who::Source(key), again, ran);
        }
    }

    fn start_later(&mut self, who: Who, what: Again, ran: Duration) {
        self.restarts.later(who, what, ran, Instant::now());
    }

    /// An actor that broke down is asked for again as soon as the directory no longer lists it; that must not
    /// bring its start forward.
    fn start_unless_waiting(&mut self, who: &Who, what: Again) {
        if let Some(what) = self.restarts.replace(who, what) {
            self.start(what);
        }
    }

    fn restart_due(&mut self) {
        for what in self.restarts.due(Instant::now()) {
            self.start(what);
        }
    }

    fn start(&mut self, what: Again) {
        match what {
            Again::Branch(order) => self.start_branch(*order),
            Again::Source(order) => self.start_source(*order),
        }
    }

    fn new_incarnation(&mut self) -> Incarnation {
        self.next_incarnation += 1;
        self.next_incarnation
    }

    /// Ends the watches first, so that nothing new arrives, then the branch writers.
    async fn end(&mut self) {
        for slot in self.sources.values() {
            slot.cancel.cancel();
        }
        for slot in self.branches.values() {
            slot.cancel.cancel();
        }
        let budget = self.settings.shutdown_budget;
        let in_time = tokio::time::timeout(budget, self.all_ended()).await.is_ok();
        if !in_time {
            tracing::warn!(
                "the shutdown budget is used up; conversations with Git servers are cut off"
            );
        }
        // Even when all have ended: a writer may have left a job behind that it had no use for.
        self.calls.cancel();
        if !in_time
            && tokio::time::timeout(CUT_OFF, self.all_ended())
                .await
                .is_err()
        {
            tracing::warn!("ending with actors that have not finished");
        }
    }

    async fn all_ended(&mut self) {
        while self.actors.join_next().await.is_some() {}
    }
}

async fn wait_for(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
