//! Reads the KubeProvider, everybody who carries its audit route, and its kubeconfig.

use std::sync::Arc;

use crds::KubeProvider;
use k8s_openapi::api::core::v1::Secret;
use kube::config::Kubeconfig;
use kube::{Client, ResourceExt};
use model::{KubeProviderKey, Millis};

use super::kubeconfig::{self, KubeConfigFault};
use crate::context::{Context, fresh_request};
use crate::failure::Failure;
use crate::place::Place;

/// Everything that the decision needs.
pub(super) struct Observed {
    pub(super) place: Place,
    pub(super) key: KubeProviderKey,
    pub(super) object: Arc<KubeProvider>,
    /// Every provider of the control cluster: any of them may carry the same route.
    pub(super) providers: Vec<Arc<KubeProvider>>,
    pub(super) connection: Connection,
    pub(super) request: Option<String>,
    pub(super) now: Millis,
}

/// How the cluster is reached.
pub(super) enum Connection {
    /// By the operator's own identity.
    InCluster { stamp: String },
    /// By a kubeconfig that was checked; the client is made from it when the fleet has none yet.
    KubeConfig {
        stamp: String,
        config: Box<Kubeconfig>,
        client: Option<Client>,
    },
    /// Not at all.
    Unusable(KubeConfigFault),
}

impl Connection {
    /// Names the connection, so that another one has another name.
    pub(super) fn stamp(&self) -> Option<&str> {
        match self {
            Self::InCluster { stamp } | Self::KubeConfig { stamp, .. } => Some(stamp),
            Self::Unusable(_) => None,
        }
    }
}

pub(super) async fn observe(
    context: &Context,
    place: &Place,
    object: Arc<KubeProvider>,
) -> Result<Observed, Failure> {
    let handled = object
        .status
        .as_ref()
        .and_then(|status| status.last_handled_reconcile_at.as_deref());
    Ok(Observed {
        request: fresh_request(object.as_ref(), handled),
        connection: connection(context, place, &object).await?,
        providers: context.stores.kube_providers.state(),
        key: KubeProviderKey::from(place),
        place: place.clone(),
        object,
        now: context.wall(),
    })
}

async fn connection(
    context: &Context,
    place: &Place,
    object: &KubeProvider,
) -> Result<Connection, Failure> {
    // A provider that is deleted and made again is a new connection, so its own incarnation counts too.
    let own = object.uid().unwrap_or_default();
    let Some(reference) = &object.spec.secret_ref else {
        return Ok(Connection::InCluster { stamp: own });
    };
    let missing = || Connection::Unusable(KubeConfigFault::SecretNotFound(reference.name.clone()));
    let Some(at) = Place::named(place.namespace.as_str(), &reference.name) else {
        return Ok(missing());
    };
    let Some(secret) = context.secret(&at).await? else {
        return Ok(missing());
    };
    let checked = content(&secret, &at, reference.key.as_deref())
        .and_then(|content| kubeconfig::check(content, context.settings.kubeconfig));
    Ok(match checked {
        Err(fault) => Connection::Unusable(fault),
        Ok(config) => Connection::KubeConfig {
            stamp: format!(
                "{own} {}/{}",
                secret.uid().unwrap_or_default(),
                secret.resource_version().unwrap_or_default()
            ),
            config: Box::new(config),
            client: None,
        },
    })
}

/// Finds the kubeconfig in the Secret: under the key that is named, else `value`, then `value.yaml`.
fn content<'a>(
    secret: &'a Secret,
    at: &Place,
    key: Option<&str>,
) -> Result<&'a [u8], KubeConfigFault> {
    let keys: Vec<&str> = match key.filter(|key| !key.is_empty()) {
        Some(key) => vec![key],
        None => vec!["value", "value.yaml"],
    };
    let data = secret.data.as_ref();
    let found = keys.iter().find_map(|key| data?.get(*key));
    found
        .map(|content| content.0.as_slice())
        .ok_or_else(|| KubeConfigFault::KeyNotFound {
            secret: at.to_string(),
            keys: keys.join(" or "),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_named_one_or_one_of_the_two_usual_ones() {
        let at = Place::named("ns", "s").unwrap();
        let mut secret = Secret::default();
        let entries = [("value.yaml", "b"), ("mine", "c")];
        let entries =
            entries.map(|(key, value)| (key.to_owned(), k8s_openapi::ByteString(value.into())));
        secret.data = Some(entries.into_iter().collect());
        assert_eq!(content(&secret, &at, None).unwrap(), b"b");
        assert_eq!(content(&secret, &at, Some("mine")).unwrap(), b"c");
        let fault = content(&secret, &at, Some("other")).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "Secret ns/s has no key other; put the kubeconfig there"
        );
    }
}
