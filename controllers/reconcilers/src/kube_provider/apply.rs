//! Writes the status of a KubeProvider and tells the fleet whether its source runs.

use fleet::SourceOrder;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};

use super::Memory;
use super::decide::Decision;
use super::kubeconfig::KubeConfigFault;
use super::observe::{Connection, Observed};
use crate::context::Context;
use crate::failure::Failure;
use crate::kind::Next;
use crate::status::{self, Outcome};

/// Makes the client of a connection that the fleet does not have yet, so that a kubeconfig that makes none is
/// seen before the status is decided. No connection is opened.
pub(super) async fn prepare_client(observed: &mut Observed, memory: &Memory) {
    let known = observed.connection.stamp() == memory.stamp.as_deref();
    let Connection::KubeConfig { config, client, .. } = &mut observed.connection else {
        return;
    };
    if known {
        return;
    }
    match connect(config).await {
        Some(made) => *client = Some(made),
        None => {
            let problem = "no client can be made from its certificates, keys or proxy";
            observed.connection = Connection::Unusable(KubeConfigFault::Invalid(problem));
        }
    }
}

/// The error is not kept: it may quote what it could not read.
async fn connect(config: &Kubeconfig) -> Option<Client> {
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(config.clone(), &options)
        .await
        .ok()?;
    Client::try_from(config).ok()
}

pub(super) async fn apply(
    context: &Context,
    observed: &Observed,
    decision: Decision,
    memory: &mut Memory,
) -> Result<Next, Failure> {
    let object = observed.object.as_ref();
    let before = object.status.clone().unwrap_or_default();
    let api: Api<crds::KubeProvider> = context.api(&observed.place);
    let outcome = status::write(&api, object, &before, &decision.status).await?;
    // A source that must not run ends whatever became of the status.
    if decision.usable {
        keep(context, observed, memory).await?;
    } else {
        context.fleet.drop_source(&observed.key).await?;
        memory.stamp = None;
    }
    match outcome {
        Outcome::Written => {
            context
                .herald
                .ready_changed(object, &before.conditions, &decision.status.conditions);
        }
        Outcome::Unchanged => {}
        Outcome::Outdated => return Ok(Next::After(status::AFTER_OUTDATED)),
    }
    Ok(Next::After(decision.next))
}

async fn keep(context: &Context, observed: &Observed, memory: &mut Memory) -> Result<(), Failure> {
    let client = match &observed.connection {
        Connection::InCluster { .. } => context.client.clone(),
        Connection::KubeConfig {
            client: Some(client),
            ..
        } => client.clone(),
        Connection::KubeConfig { client: None, .. } | Connection::Unusable(_) => return Ok(()),
    };
    let Some(stamp) = observed.connection.stamp() else {
        return Ok(());
    };
    let order = SourceOrder {
        key: observed.key.clone(),
        stamp: stamp.to_owned(),
        connection: source::Connection::new(client),
    };
    context.fleet.keep_source(order).await?;
    memory.stamp = Some(stamp.to_owned());
    Ok(())
}
