//! Keeps the registration true while the process serves, and removes it when it stops.

use std::time::Duration;

use futures::TryStreamExt;
use k8s_openapi::api::rbac::v1::ClusterRole;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{DeleteParams, Patch, PatchParams, WatchEvent, WatchParams};
use kube::{Api, ResourceExt};
use tokio_util::sync::CancellationToken;

use crate::keep_certificate::CertificateReader;
use crate::registration::{RegistrationMode, RegistrationPlan, Repair};

/// The pause after a failure, and between looks for an object that somebody else must create.
const RETRY: Duration = Duration::from_secs(2);
/// One watch lasts this many seconds; at its end the object is read again.
const WATCH_SECONDS: u32 = 290;
/// The pause between two looks while the object goes.
const REMOVAL_LOOK: Duration = Duration::from_millis(200);

/// Keeps one `APIService`.
pub struct RegistrationKeeper {
    api: Api<APIService>,
    plan: RegistrationPlan,
    field_manager: &'static str,
}

/// The registration could not be removed, and a server that is gone while it is still registered
/// holds up the deletion of every namespace of the cluster.
#[derive(Debug, thiserror::Error)]
pub enum RemovalError {
    /// The cluster refused.
    #[error("cannot remove APIService {name}; remove it by hand: kubectl delete apiservice {name}")]
    Refused {
        /// The object.
        name: String,
        /// What the cluster said.
        #[source]
        source: kube::Error,
    },
    /// It was still there at the end of the time given.
    #[error(
        "APIService {name} is still there; remove it by hand: kubectl delete apiservice {name}"
    )]
    TooSlow {
        /// The object.
        name: String,
    },
}

impl RegistrationKeeper {
    /// Returns a keeper that applies as this field manager.
    pub fn new(client: kube::Client, plan: RegistrationPlan, field_manager: &'static str) -> Self {
        Self {
            api: Api::all(client),
            plan,
            field_manager,
        }
    }

    /// Keeps the registration true until cancelled. Start it when the server is ready to be called,
    /// not before: an object that leads nowhere spoils discovery for the whole cluster.
    pub async fn run(&self, mut certificate: CertificateReader, cancel: CancellationToken) {
        while !cancel.is_cancelled() {
            let turn = self.turn(&mut certificate);
            if let Some(Err(error)) = cancel.run_until_cancelled(turn).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    apiservice = self.plan.api.object_name(),
                    "cannot keep the registration of the extension API, trying again"
                );
                let _elapsed = cancel.run_until_cancelled(tokio::time::sleep(RETRY)).await;
            }
        }
    }

    /// Removes the object and waits until it is gone. Does nothing to an object of somebody else.
    pub async fn remove(&self, within: Duration) -> Result<(), RemovalError> {
        if self.plan.mode != RegistrationMode::SelfManaged {
            return Ok(());
        }
        let name = self.plan.api.object_name();
        let refused = |source| RemovalError::Refused {
            name: name.clone(),
            source,
        };
        let gone = async {
            match self.api.delete(&name, &DeleteParams::default()).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
                Err(source) => return Err(refused(source)),
            }
            while self.api.get_opt(&name).await.map_err(refused)?.is_some() {
                tokio::time::sleep(REMOVAL_LOOK).await;
            }
            Ok(())
        };
        match tokio::time::timeout(within, gone).await {
            Ok(removed) => removed,
            Err(_) => Err(RemovalError::TooSlow { name: name.clone() }),
        }
    }

    /// Makes the registration true once, then waits until something changes.
    async fn turn(&self, certificate: &mut CertificateReader) -> Result<(), kube::Error> {
        let Some(serving) = certificate.borrow_and_update().clone() else {
            self.wait_for_certificate(certificate).await;
            return Ok(());
        };
        let name = self.plan.api.object_name();
        let seen = self.api.get_opt(&name).await?;
        let current = match self.plan.judge(seen.as_ref(), serving.ca_bundle.as_deref()) {
            Repair::None => seen,
            Repair::Wait => None,
            Repair::Apply(object) => {
                let params = PatchParams::apply(self.field_manager).force();
                let applied = self
                    .api
                    .patch(&name, &params, &Patch::Apply(&*object))
                    .await?;
                tracing::info!(apiservice = name, "registered the extension API");
                Some(applied)
            }
            Repair::Patch(patch) => {
                let params = PatchParams {
                    field_manager: Some(self.field_manager.into()),
                    ..PatchParams::default()
                };
                let patched = self
                    .api
                    .patch(&name, &params, &Patch::Merge(&patch))
                    .await?;
                tracing::info!(
                    apiservice = name,
                    "put the certificate bundle into the registration"
                );
                Some(patched)
            }
        };
        let Some(version) = current.and_then(|object| object.resource_version()) else {
            tokio::time::sleep(RETRY).await;
            return Ok(());
        };
        tokio::select! {
            changed = self.wait_for_change(&version) => changed,
            () = self.wait_for_certificate(certificate) => Ok(()),
        }
    }

    async fn wait_for_change(&self, version: &str) -> Result<(), kube::Error> {
        let selector = format!("metadata.name={}", self.plan.api.object_name());
        let params = WatchParams::default()
            .fields(&selector)
            .timeout(WATCH_SECONDS);
        let mut events = std::pin::pin!(self.api.watch(&params, version).await?);
        while let Some(event) = events.try_next().await? {
            match event {
                WatchEvent::Bookmark(_) => {}
                // What exactly changed is seen by reading the object again; that is also right when
                // the version was too old to watch from.
                WatchEvent::Added(_)
                | WatchEvent::Modified(_)
                | WatchEvent::Deleted(_)
                | WatchEvent::Error(_) => return Ok(()),
            }
        }
        Ok(())
    }

    async fn wait_for_certificate(&self, certificate: &mut CertificateReader) {
        if certificate.changed().await.is_err() {
            // The keeper of the certificate is gone; what it last published still holds.
            std::future::pending::<()>().await;
        }
    }
}

/// Finds the `ClusterRole` that shall own the registration; `None` if it does not exist.
pub async fn cluster_role_owner(
    client: kube::Client,
    name: &str,
) -> Result<Option<OwnerReference>, kube::Error> {
    let role = Api::<ClusterRole>::all(client).get_opt(name).await?;
    Ok(role.map(|role| OwnerReference {
        api_version: "rbac.authorization.k8s.io/v1".to_owned(),
        kind: "ClusterRole".to_owned(),
        name: name.to_owned(),
        uid: role.uid().unwrap_or_default(),
        ..OwnerReference::default()
    }))
}
