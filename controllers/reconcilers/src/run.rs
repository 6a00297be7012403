//! Puts the reconcilers together and runs them.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use board::metrics::{RegisterError, Registrar};
use branch::{Occurrence, Turns};
use crds::{GitBranch, GitProvider, GitTarget, KubeProvider, WatchRule};
use fleet::FleetHandle;
use futures::future::join_all;
use k8s_openapi::api::core::v1::Namespace;
use kube::runtime::reflector::{self, store::Writer};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::claims::{self, Questions};
use crate::context::{Context, Stores};
use crate::events::{EventWriter, Herald};
use crate::fingerprint_key::FingerprintKeys;
use crate::follow::{self, Change};
use crate::kind;
use crate::metrics::DroppedEvents;
use crate::routes::{self, Inboxes, Wake, Wakes};
use crate::settings::Settings;
use crate::{
    board_watch, git_branch, git_provider, git_target, kube_provider, metrics, place, watch_rule,
};

/// How many reconcilers ask one Git host at the same time.
const ASKING_ONE_HOST: usize = 8;

/// The reconcilers of every kind, ready to be run once.
pub struct Reconcilers {
    context: Arc<Context>,
    writers: Writers,
    inboxes: Inboxes,
    questions: Questions,
    events: EventWriter,
}

/// What ends the reconcilers, in two steps with the end of the fleet between them.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Ends the loops of the kinds: nothing more is asked of the fleet and no status is written.
    pub orders: CancellationToken,
    /// Ends the rest, once what branch writers reported in their drain is written as Events.
    pub reports: CancellationToken,
}

/// Registers the metrics of the configuration objects without any object, for the reference.
///
/// # Errors
/// Returns the family that is registered already.
pub fn describe_metrics(registrar: &mut Registrar) -> Result<(), RegisterError> {
    metrics::DroppedEvents::register(registrar)?;
    metrics::register(registrar, stores().0)
}

/// The writing ends of the stores.
struct Writers {
    git_providers: Writer<GitProvider>,
    git_branches: Writer<GitBranch>,
    kube_providers: Writer<KubeProvider>,
    git_targets: Writer<GitTarget>,
    watch_rules: Writer<WatchRule>,
    namespaces: Writer<Namespace>,
}

impl Reconcilers {
    /// Prepares the reconcilers and registers what they count. `client` reaches the control cluster;
    /// `occurrences` is what branch writers report for people to read.
    ///
    /// # Errors
    /// Returns the metric family that is registered already.
    pub fn new(
        client: Client,
        fleet: FleetHandle,
        settings: Settings,
        clock: Arc<dyn branch::Clock>,
        occurrences: mpsc::Receiver<Occurrence>,
        registrar: &mut Registrar,
    ) -> Result<Self, RegisterError> {
        let (stores, writers) = stores();
        let (wakes, inboxes) = Wakes::channels();
        let (desk, questions) = claims::desk();
        metrics::register(registrar, stores.clone())?;
        let dropped = DroppedEvents::register(registrar)?;
        let (herald, news) = Herald::new(dropped.clone());
        let events = EventWriter {
            client: client.clone(),
            instance: settings.instance.clone(),
            git_targets: stores.git_targets.clone(),
            news,
            occurrences,
            dropped,
            written: VecDeque::new(),
        };
        let context = Context {
            client,
            stores,
            fleet,
            desk,
            herald,
            wakes,
            settings,
            fingerprint_key: FingerprintKeys::default(),
            clock,
            asking: Turns::new(ASKING_ONE_HOST, branch::turns::LONGEST),
        };
        Ok(Self {
            context: Arc::new(context),
            writers,
            inboxes,
            questions,
            events,
        })
    }

    /// Runs until both tokens are cancelled, or until a part of it ends, which none does by itself.
    pub async fn run(self, stop: Stop) {
        let context = self.context;
        let mut tasks = JoinSet::new();
        follow_everything(&mut tasks, &context, self.writers);
        tasks.spawn(claims::serve(
            self.questions,
            context.wakes.clone(),
            stop.reports.clone(),
        ));
        tasks.spawn(board_watch::follow(
            context.fleet.directory().clone(),
            context.wakes.clone(),
            stop.reports.clone(),
        ));
        tasks.spawn(reconcile_everything(
            Arc::clone(&context),
            self.inboxes,
            stop.orders.clone(),
        ));
        let mut events = JoinSet::new();
        events.spawn(self.events.run(stop.reports.clone()));
        let ended = tokio::select! { biased;
            () = stop.orders.cancelled() => None,
            ended = tasks.join_next() => ended,
            ended = events.join_next() => ended,
        };
        match ended {
            None => {
                // Whom an Event is about is read from the stores, so they are followed until the last one.
                stop.reports.cancelled().await;
                while events.join_next().await.is_some() {}
            }
            Some(ended) => {
                let cause = ended
                    .err()
                    .map(|error| error.to_string())
                    .unwrap_or_default();
                tracing::error!(cause, "a part of the reconcilers has ended; they stop");
            }
        }
        tasks.shutdown().await;
    }
}

fn stores() -> (Stores, Writers) {
    let (git_providers, git_providers_writer) = reflector::store();
    let (git_branches, git_branches_writer) = reflector::store();
    let (kube_providers, kube_providers_writer) = reflector::store();
    let (git_targets, git_targets_writer) = reflector::store();
    let (watch_rules, watch_rules_writer) = reflector::store();
    let (namespaces, namespaces_writer) = reflector::store();
    let stores = Stores {
        git_providers,
        git_branches,
        kube_providers,
        git_targets,
        watch_rules,
        namespaces,
    };
    let writers = Writers {
        git_providers: git_providers_writer,
        git_branches: git_branches_writer,
        kube_providers: kube_providers_writer,
        git_targets: git_targets_writer,
        watch_rules: watch_rules_writer,
        namespaces: namespaces_writer,
    };
    (stores, writers)
}

fn follow_everything(tasks: &mut JoinSet<()>, context: &Arc<Context>, writers: Writers) {
    follow(tasks, context, writers.git_providers, routes::git_provider);
    follow(tasks, context, writers.git_branches, routes::git_branch);
    follow(
        tasks,
        context,
        writers.kube_providers,
        routes::kube_provider,
    );
    follow(tasks, context, writers.git_targets, routes::git_target);
    follow(tasks, context, writers.watch_rules, |change, _| {
        routes::watch_rule(change)
    });
    follow(tasks, context, writers.namespaces, routes::namespace);
}

/// Follows one kind in every namespace and wakes whom its routes name.
fn follow<K>(
    tasks: &mut JoinSet<()>,
    context: &Arc<Context>,
    writer: Writer<K>,
    route: fn(&Change<K>, &Stores) -> Vec<Wake>,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let api: Api<K> = Api::all(context.client.clone());
    let context = Arc::clone(context);
    tasks.spawn(async move {
        let changed = |change: Change<K>| {
            let wakes = route(&change, &context.stores);
            let context = Arc::clone(&context);
            async move {
                for wake in wakes {
                    context.wakes.send(wake, Duration::ZERO).await;
                }
            }
        };
        follow::follow(api, writer, changed).await;
    });
}

/// Runs the loop of every kind, once every store is complete: a reference that is not in a store yet must not
/// be taken for one that does not exist.
async fn reconcile_everything(
    context: Arc<Context>,
    inboxes: Inboxes,
    shutdown: CancellationToken,
) {
    if !complete(&context.stores).await || !drop_stray_stores(&context).await {
        return;
    }
    let git_providers = Arc::new(git_provider::GitProviders(Arc::clone(&context)));
    let git_branches = Arc::new(git_branch::GitBranches(Arc::clone(&context)));
    let kube_providers = Arc::new(kube_provider::KubeProviders(Arc::clone(&context)));
    let git_targets = Arc::new(git_target::GitTargets(Arc::clone(&context)));
    let watch_rules = Arc::new(watch_rule::WatchRules(context));
    tokio::join!(
        kind::run(git_providers, inboxes.git_provider, shutdown.clone()),
        kind::run(git_branches, inboxes.git_branch, shutdown.clone()),
        kind::run(kube_providers, inboxes.kube_provider, shutdown.clone()),
        kind::run(git_targets, inboxes.git_target, shutdown.clone()),
        kind::run(watch_rules, inboxes.watch_rule, shutdown),
    );
}

/// Has the local stores removed of GitBranches that were deleted while the process was down. Returns `false`
/// when the fleet has ended.
async fn drop_stray_stores(context: &Context) -> bool {
    let branches = context.stores.git_branches.state();
    let live = branches
        .iter()
        .filter_map(|branch| place::uid(branch.as_ref()));
    context
        .fleet
        .drop_stray_stores(live.collect())
        .await
        .is_ok()
}

/// Waits until every store is complete. Returns `false` when one never will be.
async fn complete(stores: &Stores) -> bool {
    use futures::FutureExt;
    let all = [
        stores.git_providers.wait_until_ready().boxed(),
        stores.git_branches.wait_until_ready().boxed(),
        stores.kube_providers.wait_until_ready().boxed(),
        stores.git_targets.wait_until_ready().boxed(),
        stores.watch_rules.wait_until_ready().boxed(),
        stores.namespaces.wait_until_ready().boxed(),
    ];
    join_all(all).await.iter().all(Result::is_ok)
}
