//! The way to a Git server: from a GitProvider and its Secret to an endpoint, and asking the server.

use branch::turns::TurnsAtHost;
use crds::GitProvider;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use model::{RepositoryUrl, Signature};
use repository::{
    Credential, CredentialError, Endpoint, HostKeyTrust, RemoteError, Retry, SecretData, TlsTrust,
};
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::failure::Failure;
use crate::known_hosts::{self, HostKeys};
use crate::place::Place;
use crate::proof::{self, Proof, ProofFault};
use crate::settings::Settings;

/// A way to a Git server that can be tried.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) endpoint: Endpoint,
    /// Names the URL and the incarnation of the Secret, so it differs when either does.
    pub(crate) stamp: String,
}

/// Why there is no way to a Git server. The texts are safe to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessFault {
    #[error("Secret {0} does not exist; create it, and it is found by itself")]
    SecretNotFound(Place),
    #[error("Secret {secret} cannot be used: {problem}")]
    SecretMalformed { secret: Place, problem: String },
    #[error("spec.url cannot be used: {0}")]
    Url(String),
    #[error("no SSH session is opened: {0}")]
    HostKeys(String),
}

/// What is asked of a Git server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// What it has. Nothing but reading is proved.
    Look,
    /// To open a push session, which is closed again without a push.
    PushSession,
}

/// Reads the Secret of a GitProvider and prepares the way to its server.
pub(crate) async fn read(
    context: &Context,
    place: &Place,
    provider: &GitProvider,
) -> Result<Result<Access, AccessFault>, Failure> {
    let secret_place = secret_of(place, provider);
    let secret = match &secret_place {
        Some(secret) => match context.secret(secret).await? {
            Some(found) => Some((secret, found)),
            None => return Ok(Err(AccessFault::SecretNotFound(secret.clone()))),
        },
        None => None,
    };
    let secret = secret.as_ref().map(|(place, secret)| (*place, secret));
    let credential = match secret {
        Some((place, secret)) => {
            // Opening an encrypted key is made slow on purpose.
            let (place, data) = (place.clone(), data(secret));
            let reading = tokio::task::spawn_blocking(move || credential(&place, &data));
            let read = reading.await;
            read.map_err(|_| Failure::Stopped("the reading of a credential"))?
        }
        None => Ok((Credential::Anonymous, TlsTrust::System)),
    };
    let mut access = match credential
        .and_then(|credential| prepare(provider, secret, credential, &context.settings))
    {
        Ok(access) => access,
        Err(fault) => return Ok(Err(fault)),
    };
    match known_hosts::read(context, place, provider, secret).await? {
        Ok(host_keys) => access.believe(host_keys),
        Err(fault) => return Ok(Err(fault)),
    }
    Ok(Ok(access))
}

impl Access {
    fn believe(&mut self, host_keys: HostKeys) {
        self.stamp = format!("{} {}", self.stamp, host_keys.stamp);
        self.endpoint.host_keys = host_keys.trust;
    }
}

/// Returns what the server said when it was last asked, and asks it when that no longer stands.
pub(crate) async fn prove(
    context: &Context,
    access: &Access,
    what: Ask,
    asked: bool,
    last: &mut Option<Proof>,
) -> Proof {
    let (steady, first) = (context.settings.steady, context.settings.converging);
    let now = context.wall();
    let proof = match last.take() {
        Some(last) if !proof::is_due(&last, &access.stamp, asked, now, steady, first) => last,
        last => {
            warn_about_host_keys(&access.endpoint);
            let turns = context.asking.at_host_of(&access.endpoint.url.id());
            let result = ask(access.endpoint.clone(), what, turns).await;
            Proof::after(last.as_ref(), access.stamp.clone(), context.wall(), result)
        }
    };
    *last = Some(proof.clone());
    proof
}

/// Reports what weakens the check of a host key each time that it matters.
fn warn_about_host_keys(endpoint: &Endpoint) {
    match &endpoint.host_keys {
        HostKeyTrust::Anybody => tracing::warn!(
            repository = %endpoint.url,
            "the host key is not checked, because none is given and a flag allows it"
        ),
        HostKeyTrust::Known(known) if !known.skipped().is_empty() => tracing::warn!(
            repository = %endpoint.url, origin = known.origin(), lines = ?known.skipped(),
            "lines of known_hosts cannot be read and are skipped"
        ),
        HostKeyTrust::Known(_) | HostKeyTrust::Nobody => {}
    }
}

/// Asks a Git server, off the threads that serve others. Dropping the future ends the conversation.
async fn ask(endpoint: Endpoint, ask: Ask, turns: TurnsAtHost) -> Result<(), ProofFault> {
    let turn = turns.wait().await;
    let cancel = CancellationToken::new();
    let _ends_with_us = cancel.clone().drop_guard();
    let runtime = tokio::runtime::Handle::current();
    let talk = move || -> Result<(), RemoteError> {
        let mut remote = endpoint.remote(runtime, cancel)?;
        match ask {
            Ask::Look => remote.look()?,
            Ask::PushSession => remote.prove_push()?,
        };
        Ok(())
    };
    match turn.during(tokio::task::spawn_blocking(talk)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(ProofFault {
            needs_change: error.retry() != Retry::AfterBackoff,
            message: error.to_string(),
        }),
        Err(_) => Err(ProofFault {
            needs_change: false,
            message: "the conversation with the server broke down; see the operator's log"
                .to_owned(),
        }),
    }
}

/// Returns under whose name a GitProvider commits.
pub(crate) fn committer(provider: &GitProvider) -> Signature {
    let default = Signature::default();
    let given = provider
        .spec
        .commit
        .as_ref()
        .and_then(|commit| commit.committer.as_ref());
    let name = given
        .and_then(|given| given.name.as_deref())
        .filter(|name| !name.trim().is_empty());
    let email = given
        .and_then(|given| given.email.as_deref())
        .filter(|email| !Signature::cleaned("", email).email.is_empty());
    Signature::cleaned(
        name.unwrap_or(&default.name),
        email.unwrap_or(&default.email),
    )
}

fn secret_of(place: &Place, provider: &GitProvider) -> Option<Place> {
    let reference = provider.spec.secret_ref.as_ref()?;
    Place::named(place.namespace.as_str(), &reference.name)
}

fn credential(secret: &Place, data: &SecretData) -> Result<(Credential, TlsTrust), AccessFault> {
    let malformed = |error: CredentialError| AccessFault::SecretMalformed {
        secret: secret.clone(),
        problem: error.to_string(),
    };
    let credential = Credential::from_secret_data(data).map_err(malformed)?;
    let trust = TlsTrust::from_secret_data(data).map_err(malformed)?;
    Ok((credential, trust))
}

/// Prepares the way to a server whose host keys are not known yet.
fn prepare(
    provider: &GitProvider,
    secret: Option<(&Place, &Secret)>,
    (credential, trust): (Credential, TlsTrust),
    settings: &Settings,
) -> Result<Access, AccessFault> {
    let url = RepositoryUrl::new(&provider.spec.url)
        .map_err(|error| AccessFault::Url(error.to_string()))?;
    repository::check(&url, &credential, settings.allow_git_http)
        .map_err(|error| AccessFault::Url(error.to_string()))?;
    let secret = secret.map(|(_, secret)| incarnation(secret));
    let endpoint = Endpoint {
        url,
        credential,
        trust,
        host_keys: HostKeyTrust::Nobody,
        proxy: settings.git_proxy,
        limits: settings.git_limits,
    };
    Ok(Access {
        endpoint,
        stamp: format!("{} {}", provider.spec.url, secret.unwrap_or_default()),
    })
}

/// Names one version of an object.
pub(crate) fn incarnation(object: &impl ResourceExt) -> String {
    let version = object.resource_version().unwrap_or_default();
    format!("{}/{version}", object.uid().unwrap_or_default())
}

fn data(secret: &Secret) -> SecretData {
    let entries = secret.data.iter().flatten();
    entries
        .map(|(key, value)| (key.clone(), value.0.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use repository::{Limits, ProxyPolicy};
    use serde_json::json;

    use super::*;
    use crate::settings::KubeConfigPolicy;

    fn settings(allow_git_http: bool) -> Settings {
        Settings {
            steady: Duration::from_secs(300),
            converging: Duration::from_secs(10),
            in_cluster: policy::InClusterConsent::default(),
            kubeconfig: KubeConfigPolicy::default(),
            sensitivity: model::Sensitivity::default(),
            allow_git_http,
            default_known_hosts: None,
            allow_missing_known_hosts: false,
            git_proxy: ProxyPolicy::Direct,
            git_limits: Limits::RECOMMENDED,
            namespace: model::Namespace::new("ops").unwrap(),
            instance: "test".to_owned(),
        }
    }

    fn provider(url: &str) -> GitProvider {
        serde_json::from_value(json!({
            "apiVersion": "configbutler.ai/v1alpha3", "kind": "GitProvider",
            "metadata": {"name": "p", "namespace": "ns"},
            "spec": {"url": url, "secretRef": {"name": "git-creds"}, "commit": {"committer": {"name": "Bot"}}},
        }))
        .unwrap()
    }

    fn secret(version: &str, data: &[(&str, &str)]) -> Secret {
        let mut secret: Secret =
            serde_json::from_value(json!({"metadata": {"uid": "u", "resourceVersion": version}}))
                .unwrap();
        let entries = data.iter().map(|(key, value)| {
            (
                (*key).to_owned(),
                k8s_openapi::ByteString(value.as_bytes().to_vec()),
            )
        });
        secret.data = Some(entries.collect());
        secret
    }

    fn access(url: &str, secret: &Secret, allow_git_http: bool) -> Result<Access, AccessFault> {
        let place = Place::named("ns", "git-creds").unwrap();
        prepare(
            &provider(url),
            Some((&place, secret)),
            credential(&place, &data(secret))?,
            &settings(allow_git_http),
        )
    }

    #[test]
    fn another_version_of_the_secret_is_another_stamp() {
        let url = "https://git.example.com/o/r.git";
        let stamp = |version| {
            access(url, &secret(version, &[("bearerToken", "t")]), false)
                .unwrap()
                .stamp
        };
        assert_eq!(stamp("1"), stamp("1"));
        assert_ne!(stamp("1"), stamp("2"));
    }

    #[test]
    fn other_host_keys_are_another_stamp_too() {
        let url = "https://git.example.com/o/r.git";
        let plain = access(url, &secret("1", &[("bearerToken", "t")]), false).unwrap();
        let stamp = |stamp: &str| {
            let mut access = plain.clone();
            access.believe(HostKeys {
                stamp: stamp.to_owned(),
                ..HostKeys::default()
            });
            access.stamp
        };
        assert_eq!(stamp("a/1"), stamp("a/1"));
        assert_ne!(stamp("a/1"), stamp("a/2"));
    }

    #[test]
    fn what_cannot_be_used_says_so_without_showing_it() {
        let user_only = secret("1", &[("username", "hunter2")]);
        let fault = access("https://git.example.com/o/r", &user_only, false).unwrap_err();
        assert!(
            matches!(fault, AccessFault::SecretMalformed { .. }),
            "{fault:?}"
        );
        assert!(!fault.to_string().contains("hunter2"));
        let token = secret("1", &[("bearerToken", "hunter2")]);
        let plain = access("http://git.example.com/o/r", &token, false).unwrap_err();
        assert!(matches!(plain, AccessFault::Url(_)), "{plain:?}");
        assert!(access("http://git.example.com/o/r", &token, true).is_ok());
        assert!(matches!(
            access("nonsense", &token, false),
            Err(AccessFault::Url(_))
        ));
        let no_key = access("git@git.example.com:o/r", &token, true).unwrap_err();
        assert!(
            no_key.to_string().contains("needs an SSH private key"),
            "{no_key}"
        );
    }

    #[test]
    fn a_blank_committer_is_the_default_and_any_other_is_made_legal() {
        let of = |name: &str, email: &str| {
            let mut provider = provider("https://git.example.com/o/r");
            provider.spec.commit =
                serde_json::from_value(json!({"committer": {"name": name, "email": email}}))
                    .unwrap();
            let committer = committer(&provider);
            (committer.name, committer.email)
        };
        let default = Signature::default();
        assert_eq!(of(" ", "\t"), (default.name, default.email.clone()));
        assert_eq!(of(" Bot ", " bot@x.io "), ("Bot".into(), "bot@x.io".into()));
        assert_eq!(of("B<o>t", "<>"), ("Bot".into(), default.email));
    }

    #[test]
    fn half_a_committer_is_completed_with_the_default() {
        let committer = committer(&provider("https://git.example.com/o/r"));
        assert_eq!(
            (committer.name.as_str(), committer.email.as_str()),
            ("Bot", "noreply@configbutler.ai")
        );
    }
}
