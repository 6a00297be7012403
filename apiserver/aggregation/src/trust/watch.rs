//! Follows the authentication `ConfigMap` and publishes what it says.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::runtime::watcher::{self, Event, watcher};
use tokio_util::sync::CancellationToken;

use super::{TrustConfig, TrustPublisher};

/// The namespace of the `ConfigMap`.
pub const NAMESPACE: &str = "kube-system";
/// The name of the `ConfigMap`.
pub const NAME: &str = "extension-apiserver-authentication";

/// The pause after a failure. Short, because the server cannot believe anybody before it succeeds.
const RETRY: Duration = Duration::from_secs(1);

/// What was seen of the `ConfigMap`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Observed {
    Present(BTreeMap<String, String>),
    Absent,
}

/// Watches the one `ConfigMap` by name until cancelled, and publishes each readable content.
///
/// Content that cannot be read leaves the last good value in place; the deletion of the object
/// revokes it. A failure of the watch itself changes nothing: what was last read still holds.
pub async fn watch_config_map(
    client: kube::Client,
    publisher: &TrustPublisher,
    cancel: CancellationToken,
) {
    let api: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    while !cancel.is_cancelled() {
        let followed = cancel.run_until_cancelled(follow(&api, publisher)).await;
        if let Some(Err(error)) = followed {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "cannot watch ConfigMap {NAMESPACE}/{NAME}, trying again; check the role binding to \
                 extension-apiserver-authentication-reader"
            );
        }
        let _elapsed = cancel.run_until_cancelled(tokio::time::sleep(RETRY)).await;
    }
}

async fn follow(api: &Api<ConfigMap>, publisher: &TrustPublisher) -> Result<(), watcher::Error> {
    let config = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
    let mut events = std::pin::pin!(watcher(api.clone(), config));
    // An initial list without the object means that it is absent.
    let mut listed = false;
    while let Some(event) = events.try_next().await? {
        let observed = match event {
            Event::Init => {
                listed = false;
                continue;
            }
            Event::InitApply(object) | Event::Apply(object) => {
                listed = true;
                Observed::Present(object.data.unwrap_or_default())
            }
            Event::InitDone if listed => continue,
            Event::InitDone | Event::Delete(_) => Observed::Absent,
        };
        publish(publisher, &observed);
    }
    Ok(())
}

fn publish(publisher: &TrustPublisher, observed: &Observed) {
    match observed {
        Observed::Absent => {
            tracing::warn!("ConfigMap {NAMESPACE}/{NAME} is absent, trusting no front proxy");
            publisher.revoke();
        }
        Observed::Present(data) => match TrustConfig::parse(data) {
            Ok(config) => publisher.set(config),
            Err(error) => tracing::error!(
                error = &error as &dyn std::error::Error,
                "ConfigMap {NAMESPACE}/{NAME} cannot be used, keeping the last good value"
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(pem: String) -> Observed {
        Observed::Present(BTreeMap::from([("client-ca-file".to_owned(), pem)]))
    }

    #[test]
    fn the_last_good_value_stays_until_the_object_is_deleted() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(vec![]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();

        let publisher = TrustPublisher::new();
        let reader = publisher.reader();
        assert!(!reader.now().loaded_once);

        publish(&publisher, &data("no certificate".to_owned()));
        assert!(!reader.now().loaded_once && reader.now().config.is_none());

        publish(&publisher, &data(pem));
        let good = reader.now().config;
        assert!(good.is_some() && reader.now().loaded_once);

        publish(
            &publisher,
            &data("-----BEGIN CERTIFICATE-----\nxx\n".to_owned()),
        );
        assert_eq!(reader.now().config, good);

        publish(&publisher, &Observed::Absent);
        assert!(reader.now().config.is_none() && reader.now().loaded_once);
    }
}
