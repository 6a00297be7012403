//! Keeps the serving certificate: loads or makes it, renews it in time, publishes it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret as SecretObject;
use kube::Api;
use kube::api::PostParams;
use model::Secret;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::certificate::{
    IssueError, Material, Renewal, ServingNames, expiry, judge, make_all, make_leaf,
};
use crate::names::SecretName;
use crate::stored::{read_material, read_provided, write_material};

/// Between two looks at the Secret. A look needs only the right to get it, and the certificate that
/// somebody replaced is served within this time.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);
/// The pause after a failure while nothing was ever published: nothing can be served before.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// Tries when another process writes the Secret at the same time.
const CONFLICT_TRIES: usize = 5;

/// What to serve with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serving {
    /// The chain, PEM.
    pub chain: String,
    /// Its key, PEM.
    pub key: Secret<String>,
    /// The bundle for the registration, PEM; without it the cluster's own roots count.
    pub ca_bundle: Option<String>,
    /// When the certificate ends to be valid.
    pub expires: Option<Timestamp>,
}

/// Who keeps the certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsMode {
    /// This process makes and renews it, for these names.
    SelfManaged(ServingNames),
    /// Somebody else does; it is only read.
    FromSecret,
}

/// Reads what was last published.
pub type CertificateReader = watch::Receiver<Option<Arc<Serving>>>;

/// Keeps the certificate in one Secret.
pub struct CertificateKeeper {
    api: Api<SecretObject>,
    secret: SecretName,
    mode: TlsMode,
    publisher: watch::Sender<Option<Arc<Serving>>>,
}

/// The certificate could not be loaded or stored.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The Secret cannot be read.
    #[error("cannot read Secret {secret}; check that it exists and the role allows get on it")]
    Read {
        /// The Secret.
        secret: SecretName,
        /// What the cluster said.
        #[source]
        source: kube::Error,
    },
    /// The Secret cannot be written.
    #[error("cannot write Secret {secret}; check that the role allows update on it")]
    Write {
        /// The Secret.
        secret: SecretName,
        /// What the cluster said.
        #[source]
        source: kube::Error,
    },
    /// Others wrote the Secret every time.
    #[error("Secret {secret} was written by others each time, trying again later")]
    Contended {
        /// The Secret.
        secret: SecretName,
    },
    /// The Secret of another keeper lacks a part.
    #[error("Secret {secret} holds no tls.crt or no tls.key")]
    Incomplete {
        /// The Secret.
        secret: SecretName,
    },
    /// A certificate could not be made.
    #[error(transparent)]
    Issue(#[from] IssueError),
}

impl CertificateKeeper {
    /// Returns a keeper that has published nothing yet.
    pub fn new(client: kube::Client, secret: SecretName, mode: TlsMode) -> Self {
        let api = Api::namespaced(client, &secret.namespace);
        Self {
            api,
            secret,
            mode,
            publisher: watch::Sender::new(None),
        }
    }

    /// Returns a reader.
    pub fn reader(&self) -> CertificateReader {
        self.publisher.subscribe()
    }

    /// Keeps the certificate until cancelled. A failure is told and tried again; what was published
    /// stays published.
    pub async fn run(self, cancel: CancellationToken) {
        while !cancel.is_cancelled() {
            let pause = match self.look().await {
                Ok(()) => LOOK_INTERVAL,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "cannot keep the serving certificate, trying again"
                    );
                    if self.publisher.borrow().is_some() {
                        LOOK_INTERVAL
                    } else {
                        FIRST_RETRY
                    }
                }
            };
            let _elapsed = cancel.run_until_cancelled(tokio::time::sleep(pause)).await;
        }
    }

    /// Loads, renews if due, publishes if it differs.
    async fn look(&self) -> Result<(), KeepError> {
        let serving = match &self.mode {
            TlsMode::SelfManaged(names) => {
                let material = self.load_or_make(names).await?;
                Serving {
                    expires: expiry(&material.chain),
                    chain: material.chain,
                    key: material.key,
                    ca_bundle: Some(material.authorities),
                }
            }
            TlsMode::FromSecret => {
                let secret = self.get().await?;
                let provided = secret.as_ref().and_then(read_provided).ok_or_else(|| {
                    KeepError::Incomplete {
                        secret: self.secret.clone(),
                    }
                })?;
                Serving {
                    expires: expiry(&provided.chain),
                    chain: provided.chain,
                    key: provided.key,
                    ca_bundle: provided.authorities,
                }
            }
        };
        self.publisher.send_if_modified(|published| {
            let differs = published.as_deref() != Some(&serving);
            if differs {
                *published = Some(Arc::new(serving));
            }
            differs
        });
        Ok(())
    }

    async fn load_or_make(&self, names: &ServingNames) -> Result<Material, KeepError> {
        for _ in 0..CONFLICT_TRIES {
            let secret = self.get().await?;
            let stored = secret.as_ref().and_then(read_material);
            let now = Timestamp::now();
            let made = match (judge(stored.as_ref(), names, now), stored) {
                (Renewal::None, Some(stored)) => return Ok(stored),
                (Renewal::Leaf(reason), Some(stored)) => {
                    tracing::info!(?reason, secret = %self.secret, "making a serving certificate");
                    make_leaf(stored.authorities, stored.authority_key, names, now)?
                }
                (Renewal::Authority(reason), stored) => {
                    tracing::info!(?reason, secret = %self.secret, "making a serving authority");
                    make_all(stored.as_ref(), names, now)?
                }
                (Renewal::None | Renewal::Leaf(_), None) => make_all(None, names, now)?,
            };
            match self.store(secret, &made).await {
                Ok(()) => return Ok(made),
                // Somebody else was faster; theirs is as good as ours.
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(source) => {
                    return Err(KeepError::Write {
                        secret: self.secret.clone(),
                        source,
                    });
                }
            }
        }
        Err(KeepError::Contended {
            secret: self.secret.clone(),
        })
    }

    async fn get(&self) -> Result<Option<SecretObject>, KeepError> {
        self.api
            .get_opt(&self.secret.name)
            .await
            .map_err(|source| KeepError::Read {
                secret: self.secret.clone(),
                source,
            })
    }

    async fn store(
        &self,
        existing: Option<SecretObject>,
        material: &Material,
    ) -> Result<(), kube::Error> {
        let params = PostParams::default();
        match existing {
            // The version that was read goes along, so a write by somebody else in between is a
            // conflict and never lost.
            Some(mut secret) => {
                secret.data = Some(write_material(material, secret.data.take()));
                self.api
                    .replace(&self.secret.name, &params, &secret)
                    .await?;
            }
            None => {
                let mut secret = SecretObject::default();
                secret.metadata.name = Some(self.secret.name.clone());
                secret.data = Some(write_material(material, None));
                self.api.create(&params, &secret).await?;
            }
        }
        Ok(())
    }
}
