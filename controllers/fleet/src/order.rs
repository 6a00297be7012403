//! What the fleet can be asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use board::DirectoryReader;
use branch::journal::JournalKey;
use branch::{BranchIdentity, SigningKey, TargetConfig};
use manifests::Encryption;
use model::{
    Collection, GitBranchKey, GitProviderKey, KubeProviderKey, Millis, Signature, TargetKey, Uid,
};
use source::{Connection, RuleDeclaration};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Makes a new way to a remote. Called whenever a branch writer starts or its credential changes. When the token
/// is cancelled, a conversation that is under way ends with an error and no other one begins.
pub type RemoteFactory =
    Arc<dyn Fn(CancellationToken) -> Result<Box<dyn branch::Remote>, String> + Send + Sync>;

/// Returns the key that commits are signed with, as it is at the moment; the error says why there is none. Called from a
/// thread where blocking is allowed.
pub type SigningSource = Arc<dyn Fn() -> Result<Arc<SigningKey>, String> + Send + Sync>;

/// The fleet has ended, because the process stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the fleet has ended because the process stops")]
pub struct FleetGone;

/// Keep a branch writer.
#[derive(Clone)]
pub struct BranchOrder {
    /// Who it works for.
    pub identity: BranchIdentity,
    /// The incarnation of the `GitBranch`; also names its local store.
    pub uid: Uid,
    /// When the `GitBranch` was created, in wall-clock milliseconds since 1970.
    pub created_at: Millis,
    /// The provider whose credential it uses.
    pub provider: GitProviderKey,
    /// The incarnation of the provider: another one starts a new writer with nothing of the old one.
    pub provider_uid: Uid,
    /// Who commits.
    pub committer: Signature,
    /// What its commits are signed with; `None` leaves them unsigned.
    pub signing: Option<BranchSigning>,
    /// What sensitive content in the journal is encrypted with; without it such content is not kept there. Looked at
    /// when the writer starts.
    pub journal_key: Option<JournalKey>,
    /// Changes whenever the way to the remote changes, such as with the Secret's resourceVersion.
    pub remote_stamp: String,
    /// Makes the way to the remote.
    pub remote: RemoteFactory,
}

/// What the commits of a branch are signed with.
#[derive(Clone)]
pub struct BranchSigning {
    /// Names where the key is. Equal stamps mean the same place; the key there may be another one by now.
    pub stamp: String,
    /// Returns the key.
    pub source: SigningSource,
}

/// Keep a source.
#[derive(Clone)]
pub struct SourceOrder {
    /// The provider.
    pub key: KubeProviderKey,
    /// Changes whenever the connection changes: another one starts a new source.
    pub stamp: String,
    /// The way to the cluster.
    pub connection: Connection,
}

/// Mirror a target.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorOrder {
    /// The branch that it writes.
    pub branch: GitBranchKey,
    /// The source that it mirrors from.
    pub source: KubeProviderKey,
    /// What the branch writer has to know.
    pub config: TargetConfig,
    /// For whom sensitive objects are encrypted; `None` refuses them.
    pub encryption: Option<TargetEncryption>,
    /// What is mirrored.
    pub rules: Vec<RuleDeclaration>,
    /// Counts the orders of the target, so that readers of the board can tell which one was answered.
    pub generation: u64,
}

/// For whom a target's sensitive objects are encrypted.
#[derive(Debug, Clone)]
pub struct TargetEncryption {
    /// Names the recipients and the keys at hand without showing a private one. Equal stamps mean equal keys.
    pub stamp: String,
    /// The recipients and the keys.
    pub encryption: Arc<Encryption>,
}

impl PartialEq for TargetEncryption {
    fn eq(&self, other: &Self) -> bool {
        self.stamp == other.stamp
    }
}

/// Asks the fleet for something. Cloning is cheap.
#[derive(Clone)]
pub struct FleetHandle {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) directory: DirectoryReader,
}

pub(crate) enum Command {
    KeepBranch(Box<BranchOrder>),
    RetireBranch(GitBranchKey),
    Sign(GitBranchKey, Option<BranchSigning>),
    Look(GitBranchKey),
    KeepSource(Box<SourceOrder>),
    DropSource(KubeProviderKey),
    Mirror(Box<MirrorOrder>),
    Withdraw(TargetKey),
    Resync(TargetKey, Option<Collection>),
    DropStrayStores(BTreeSet<Uid>),
}

impl FleetHandle {
    /// Returns who runs at the moment.
    pub fn directory(&self) -> &DirectoryReader {
        &self.directory
    }

    /// Says whether a branch writer runs for the `GitBranch`, also while it drains.
    pub fn runs_branch(&self, key: &GitBranchKey) -> bool {
        self.directory.now().branches.contains_key(key)
    }

    /// Keeps a branch writer running. Asked again, it brings the differences about: a new credential or
    /// committer goes to the running writer; a new incarnation replaces it once it has drained. A writer that
    /// broke down waits for its time, however often it is asked for.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn keep_branch(&self, order: BranchOrder) -> Result<(), FleetGone> {
        self.send(Command::KeepBranch(Box::new(order))).await
    }

    /// Changes what the commits of a branch writer are signed with, and nothing else: for a writer that goes on although
    /// what it depends on is not ready. A writer that does not run is not affected.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn sign(
        &self,
        key: &GitBranchKey,
        signing: Option<BranchSigning>,
    ) -> Result<(), FleetGone> {
        self.send(Command::Sign(key.clone(), signing)).await
    }

    /// Lets a branch writer publish or refuse what it holds and end. Once it has, the directory no longer
    /// lists it, and its local store is removed.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn retire_branch(&self, key: &GitBranchKey) -> Result<(), FleetGone> {
        self.send(Command::RetireBranch(key.clone())).await
    }

    /// Makes a branch writer look at the remote and at its folders now. Nothing is kept for a writer that does
    /// not run: the first thing that a writer does when it starts is to look.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn look(&self, key: &GitBranchKey) -> Result<(), FleetGone> {
        self.send(Command::Look(key.clone())).await
    }

    /// Keeps a source running. Another stamp replaces it.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn keep_source(&self, order: SourceOrder) -> Result<(), FleetGone> {
        self.send(Command::KeepSource(Box::new(order))).await
    }

    /// Ends a source and every watch on it.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn drop_source(&self, key: &KubeProviderKey) -> Result<(), FleetGone> {
        self.send(Command::DropSource(key.clone())).await
    }

    /// Mirrors a target. It is remembered, so a branch writer or source that starts later, or again, gets it.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn mirror(&self, order: MirrorOrder) -> Result<(), FleetGone> {
        self.send(Command::Mirror(Box::new(order))).await
    }

    /// Stops mirroring a target. What was decided for it is still published.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn withdraw(&self, target: &TargetKey) -> Result<(), FleetGone> {
        self.send(Command::Withdraw(target.clone())).await
    }

    /// Asks for a fresh snapshot of one collection of a target, or of all of them.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn resync(
        &self,
        target: &TargetKey,
        collection: Option<Collection>,
    ) -> Result<(), FleetGone> {
        self.send(Command::Resync(target.clone(), collection)).await
    }

    /// Removes the local stores of writers whose `GitBranch` is gone, such as one that was deleted while the
    /// process was down. `live` is every `GitBranch` that exists; stores of writers that run are kept anyway.
    ///
    /// # Errors
    /// Fails when the fleet has ended.
    pub async fn drop_stray_stores(&self, live: BTreeSet<Uid>) -> Result<(), FleetGone> {
        self.send(Command::DropStrayStores(live)).await
    }

    async fn send(&self, command: Command) -> Result<(), FleetGone> {
        self.commands.send(command).await.map_err(|_| FleetGone)
    }
}
