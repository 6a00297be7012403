//! Starts every part in order and stops them in the opposite one.
//!
//! The order is that of the reference documents: metrics first, then the actors' supervisor, then what
//! drives it, then what is served. Probes and metrics answer until the very end, so that a drain that takes
//! minutes can be watched. [`control`] holds the actors and the reconcilers, [`extension_api`] what is
//! served through the aggregator.

mod control;
mod extension_api;

use std::sync::Arc;

use anyhow::Context;
use board::DirectoryWriter;
use prometheus::Registry;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::flags::value::Listen;
use crate::metrics::Metrics;
use crate::servers::{self, Readiness, health, scrape};
use crate::settings::Settings;
use control::Control;
use extension_api::ExtensionApi;

/// Runs the operator until `shutdown` is cancelled or a part that everything needs has failed.
///
/// # Errors
/// Returns why a part could not be started, or which part ended on its own.
pub async fn run(settings: Settings, shutdown: CancellationToken) -> anyhow::Result<()> {
    let readiness = match settings.api.listen {
        Listen::Off => Readiness::without_api(),
        Listen::At(_) => Readiness::waiting_for_api(),
    };
    let directory = DirectoryWriter::new();
    let directory_reader = directory.reader();
    let mut metrics = Metrics::register(&readiness, &directory_reader)?;
    let client = kube::Client::try_default()
        .await
        .context("cannot tell how to reach the cluster; run in a Pod or set KUBECONFIG")?;
    let mut control = Control::start(&settings, client.clone(), directory, &mut metrics)?;
    let (registry, _) = metrics.registrar.finish();
    let last = CancellationToken::new();
    let mut servers = serve_beside(&settings, &readiness, registry, &last).await?;
    let mut api = ExtensionApi::start(&settings.api, client, directory_reader, &readiness).await?;

    let failed = tokio::select! {
        () = shutdown.cancelled() => None,
        error = control.failed() => Some(error),
        error = api.failed() => Some(error),
    };
    readiness.shut_down();
    api.deregister().await;
    control.stop().await;
    api.stop().await;
    last.cancel();
    while let Some(ended) = servers.join_next().await {
        ended?;
    }
    failed.map_or(Ok(()), Err)
}

/// Starts the servers for probes and metrics.
async fn serve_beside(
    settings: &Settings,
    readiness: &Readiness,
    registry: Registry,
    last: &CancellationToken,
) -> anyhow::Result<JoinSet<()>> {
    let mut servers = JoinSet::new();
    if let Some(bound) = servers::bind("health", &settings.servers.health).await? {
        let readiness = readiness.clone();
        let answer = Arc::new(move |path: &str, query: Option<&str>| {
            health::answer(path, query, &readiness)
        });
        servers.spawn(servers::serve(bound, answer, last.clone()));
    }
    if let Some(bound) = servers::bind("metrics", &settings.servers.metrics).await? {
        let answer = Arc::new(move |path: &str, _: Option<&str>| scrape::answer(path, &registry));
        servers.spawn(servers::serve(bound, answer, last.clone()));
    }
    Ok(servers)
}
