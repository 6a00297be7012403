//! The actors and the reconcilers that drive them.

use std::fs::OpenOptions;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use board::DirectoryWriter;
use branch::SystemClock;
use branch::record::Recorder;
use fleet::Fleet;
use reconcilers::{KubeConfigPolicy, Reconcilers, Stop};
use repository::{Limits, ProxyPolicy};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::settings::{GitSettings, Settings};

/// How many reports of branch writers may wait to be written as Events: more than a full branch buffer holds
/// commits, because one push can publish all of them.
const OCCURRENCES: usize = 16 * 1024;
/// What each waiting item costs of the branch buffer, in bytes.
const ITEM_CHARGE: usize = 1024;

/// What runs for the controllers.
pub(super) struct Control {
    reconcilers: JoinSet<()>,
    fleet: JoinSet<()>,
    stop_reconcilers: Stop,
    stop_fleet: CancellationToken,
}

impl Control {
    /// Starts the supervisor of the actors, then the reconcilers.
    pub(super) fn start(
        settings: &Settings,
        client: kube::Client,
        directory: DirectoryWriter,
        metrics: &mut Metrics,
    ) -> anyhow::Result<Self> {
        let clock: Arc<dyn branch::Clock> = Arc::new(SystemClock::start());
        let (occurrences, announced) = mpsc::channel(OCCURRENCES);
        let data_dir = settings.git.data_folder.clone();
        std::fs::create_dir_all(&data_dir)
            .with_context(|| format!("cannot create the data folder {}", data_dir.display()))?;
        let excluded = vec![views::GROUP.to_owned()];
        let fleet_settings = fleet::Settings {
            data_dir,
            branch: branch_settings(&settings.git, clock.now().wall),
            source: source::Settings::documented(settings.source.sensitivity.clone(), excluded),
            clock: Arc::clone(&clock),
            occurrences,
            branch_metrics: metrics.branch.clone(),
            source_metrics: metrics.source.clone(),
            recorder: recorder(&settings.git)?,
            shutdown_budget: settings.git.cycle_timeout,
        };
        let (fleet, handle) = Fleet::new(fleet_settings, directory);
        let mut control = Self {
            reconcilers: JoinSet::new(),
            fleet: JoinSet::new(),
            stop_reconcilers: Stop::default(),
            stop_fleet: CancellationToken::new(),
        };
        let stop = control.stop_fleet.clone();
        control.fleet.spawn(fleet.run(stop));
        let reconcilers = Reconcilers::new(
            client,
            handle,
            reconciler_settings(settings),
            clock,
            announced,
            &mut metrics.registrar,
        )?;
        let stop = control.stop_reconcilers.clone();
        control.reconcilers.spawn(reconcilers.run(stop));
        Ok(control)
    }

    /// Returns once a part has ended that should have gone on.
    pub(super) async fn failed(&mut self) -> anyhow::Error {
        tokio::select! {
            Some(ended) = self.reconcilers.join_next() => match ended {
                Ok(()) => anyhow!("the reconcilers ended on their own"),
                Err(error) => anyhow!(error).context("the reconcilers broke down"),
            },
            Some(ended) = self.fleet.join_next() => match ended {
                Ok(()) => anyhow!("the supervisor of the actors ended on its own"),
                Err(error) => anyhow!(error).context("the supervisor of the actors broke down"),
            },
        }
    }

    /// Stops giving orders, then lets the branch writers publish what they hold, then writes the Events about
    /// that.
    pub(super) async fn stop(&mut self) {
        self.stop_reconcilers.orders.cancel();
        self.stop_fleet.cancel();
        while self.fleet.join_next().await.is_some() {}
        self.stop_reconcilers.reports.cancel();
        while self.reconcilers.join_next().await.is_some() {}
    }
}

fn branch_settings(git: &GitSettings, seed: u64) -> branch::Settings {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    branch::Settings {
        buffer_limit: usize::try_from(git.branch_buffer_bytes).unwrap_or(usize::MAX),
        item_charge: ITEM_CHARGE,
        push_cooldown: 5_000,
        retry_first: 10_000,
        retry_longest: 300_000,
        refresh_interval: git.refresh_interval.map(millis),
        cycle_budget: millis(git.cycle_timeout),
        jitter_seed: seed,
    }
}

fn reconciler_settings(settings: &Settings) -> reconcilers::Settings {
    reconcilers::Settings {
        steady: Duration::from_secs(300),
        converging: Duration::from_secs(10),
        in_cluster: policy::InClusterConsent::of(settings.source.in_cluster_providers.clone()),
        kubeconfig: KubeConfigPolicy {
            allow_exec: settings.source.allow_kubeconfig_exec,
            allow_insecure_tls: settings.source.allow_kubeconfig_insecure_tls,
        },
        sensitivity: settings.source.sensitivity.clone(),
        allow_git_http: settings.git.allow_http_credentials,
        default_known_hosts: settings.git.default_known_hosts.clone(),
        allow_missing_known_hosts: settings.git.allow_missing_known_hosts,
        git_proxy: ProxyPolicy::FromEnvironment,
        git_limits: Limits {
            call_timeout: settings.git.call_timeout,
            ..Limits::RECOMMENDED
        },
        namespace: settings.identity.namespace.clone(),
        instance: settings.identity.pod_name.clone(),
    }
}

fn recorder(git: &GitSettings) -> anyhow::Result<Option<Recorder>> {
    let Some(path) = &git.record_steps else {
        return Ok(None);
    };
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("cannot open the step record {}", path.display()))?;
    Ok(Some(Recorder::new(Box::new(file))))
}
