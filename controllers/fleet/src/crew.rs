//! The actors that run, and how one is started.

use std::path::Path;
use std::sync::Arc;

use board::{BranchView, Publisher, Reader, SourceView};
use branch::cycle::Workshop;
use branch::journal::{FileJournal, Journal, Owner};
use branch::shell::Surroundings;
use branch::{BranchActor, BranchHandle, Turns};
use source::{SourceHandle, TypeCatalogView};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalogs::CatalogsByTarget;
use crate::keyring::Keys;
use crate::order::{BranchOrder, SourceOrder};
use crate::placement::Incarnation;
use crate::sink::BranchSink;
use crate::stores;
use crate::supervisor::Settings;

/// How long a disk may take to write the journal before changes are taken without it, in milliseconds.
const DISK_PATIENCE: model::Millis = 30_000;

/// How many branch writers speak with one Git host at the same time.
const AT_ONE_HOST: usize = 16;

/// What all branch writers share: what they look up about their targets, and their turns.
#[derive(Clone)]
pub(crate) struct Lookups {
    pub(crate) catalogs: CatalogsByTarget,
    pub(crate) keys: Keys,
    pub(crate) turns: Arc<Turns>,
}

impl Default for Lookups {
    fn default() -> Self {
        Self {
            catalogs: CatalogsByTarget::default(),
            keys: Keys::default(),
            turns: Arc::new(Turns::new(AT_ONE_HOST, branch::turns::LONGEST)),
        }
    }
}

/// A branch writer that runs.
pub(crate) struct BranchSlot {
    pub(crate) order: BranchOrder,
    pub(crate) incarnation: Incarnation,
    pub(crate) handle: BranchHandle,
    /// One for the life of the writer, so that sources recognise the place.
    pub(crate) sink: Arc<BranchSink>,
    pub(crate) view: Reader<BranchView>,
    pub(crate) cancel: CancellationToken,
    /// Ends the conversations with the Git server at once, unlike `cancel`.
    pub(crate) calls: CancellationToken,
    pub(crate) started: Instant,
    pub(crate) retiring: bool,
    /// What to start once this one has drained.
    pub(crate) successor: Option<BranchOrder>,
}

/// A source that runs.
pub(crate) struct SourceSlot {
    pub(crate) order: SourceOrder,
    pub(crate) incarnation: Incarnation,
    pub(crate) handle: SourceHandle,
    pub(crate) view: Reader<SourceView>,
    pub(crate) catalog: Reader<TypeCatalogView>,
    pub(crate) cancel: CancellationToken,
    pub(crate) started: Instant,
}

/// Prepares a branch writer. The actor is returned to be run by whoever supervises it; `calls` ends its
/// conversations with the Git server.
pub(crate) fn enlist_branch(
    order: &BranchOrder,
    incarnation: Incarnation,
    settings: &Settings,
    lookups: &Lookups,
    calls: CancellationToken,
) -> Result<(BranchActor, BranchSlot), String> {
    let store = stores::of(&settings.data_dir, &order.uid);
    let workshop = workshop(order, &store, lookups, &calls)?;
    let spare = {
        let (order, lookups, calls) = (order.clone(), lookups.clone(), calls.clone());
        move || workshop_or_log(&order, &store, &lookups, &calls)
    };
    let around = Surroundings {
        clock: Arc::clone(&settings.clock),
        occurrences: settings.occurrences.clone(),
        metrics: settings
            .branch_metrics
            .of(&order.identity.key, &order.provider),
        recorder: settings.recorder.clone(),
        journal: Some(journal(order, settings)),
        disk_patience: DISK_PATIENCE,
        sensitivity: settings.source.sensitivity.clone(),
        turns: Arc::clone(&lookups.turns),
        spare: Box::new(spare),
    };
    let (actor, handle, view) = BranchActor::new(
        order.identity.clone(),
        settings.branch.clone(),
        order.committer.clone(),
        workshop,
        around,
    );
    let sink = Arc::new(BranchSink(handle.clone()));
    let slot = BranchSlot {
        order: order.clone(),
        incarnation,
        handle,
        sink,
        view,
        cancel: CancellationToken::new(),
        calls,
        started: Instant::now(),
        retiring: false,
        successor: None,
    };
    Ok((actor, slot))
}

fn journal(order: &BranchOrder, settings: &Settings) -> Box<dyn Journal> {
    let owner = Owner {
        uid: order.uid.clone(),
        provider_uid: order.provider_uid.clone(),
        repository: order.identity.repository.clone(),
        branch: order.identity.branch.clone(),
    };
    let path = stores::journal_of(&settings.data_dir, &order.uid);
    Box::new(FileJournal::new(&path, owner, order.journal_key.clone()))
}

fn workshop(
    order: &BranchOrder,
    store: &Path,
    lookups: &Lookups,
    calls: &CancellationToken,
) -> Result<Workshop, String> {
    let remote = (order.remote)(calls.clone())?;
    Ok(Workshop::new(
        order.identity.clone(),
        remote,
        Arc::new(lookups.catalogs.clone()),
        Arc::new(lookups.keys.on(&order.identity.key)),
        store,
    ))
}

fn workshop_or_log(
    order: &BranchOrder,
    store: &Path,
    lookups: &Lookups,
    calls: &CancellationToken,
) -> Option<Workshop> {
    workshop(order, store, lookups, calls)
        .inspect_err(|error| tracing::error!(branch = %order.identity.key, "cannot reach the remote: {error}"))
        .ok()
}

/// Prepares a source and everything that it is run with.
pub(crate) fn enlist_source(
    order: &SourceOrder,
    incarnation: Incarnation,
) -> (SourceSlot, source::Publishers, source::Inbox) {
    let (handle, inbox) = source::channel();
    let view = Publisher::new(SourceView::default());
    let catalog = Publisher::new(TypeCatalogView::default());
    let slot = SourceSlot {
        order: order.clone(),
        incarnation,
        handle,
        view: view.reader(),
        catalog: catalog.reader(),
        cancel: CancellationToken::new(),
        started: Instant::now(),
    };
    (slot, source::Publishers { view, catalog }, inbox)
}
