//! The SSH host keys that a GitProvider believes, from the first place that has any.
//!
//! The order: the credential Secret's own `known_hosts`, what `spec.knownHostsRef` names, the ConfigMap of
//! the operator's namespace that a flag names. A place that cannot be read is an error and not passed over,
//! so that nobody can move a provider to other keys by spoiling its own.

use std::collections::BTreeMap;

use crds::GitProvider;
use crds::references::KnownHostsKind;
use k8s_openapi::api::core::v1::Secret;
use model::{RepositoryUrl, Scheme};
use repository::{HostKeyTrust, KnownHosts, KnownHostsError};

use crate::context::Context;
use crate::failure::Failure;
use crate::place::Place;
use crate::remote_access::{AccessFault, incarnation};

/// Whose host keys are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostKeys {
    pub(crate) trust: HostKeyTrust,
    /// Names the version of the place that they come from.
    pub(crate) stamp: String,
}

impl Default for HostKeys {
    /// Nobody's, as befits a provider without SSH.
    fn default() -> Self {
        Self {
            trust: HostKeyTrust::Nobody,
            stamp: String::new(),
        }
    }
}

/// The keys of a ConfigMap or Secret with host keys; the second is Argo CD's.
const KEYS: [&str; 2] = ["known_hosts", "ssh_known_hosts"];

/// A place that may hold host keys.
#[derive(Debug)]
struct Source {
    origin: String,
    stamp: String,
    text: Vec<u8>,
}

/// Finds the host keys of a GitProvider with an SSH URL; others need none.
pub(crate) async fn read(
    context: &Context,
    place: &Place,
    provider: &GitProvider,
    secret: Option<(&Place, &Secret)>,
) -> Result<Result<HostKeys, AccessFault>, Failure> {
    let is_ssh =
        RepositoryUrl::new(&provider.spec.url).is_ok_and(|url| url.scheme() == Scheme::Ssh);
    if !is_ssh {
        return Ok(Ok(HostKeys::default()));
    }
    if let Some((place, secret)) = secret
        && let Some(source) = of_secret(place, secret, &KEYS[..1])
    {
        return Ok(source
            .believe()
            .map_err(|error| AccessFault::SecretMalformed {
                secret: place.clone(),
                problem: error.to_string(),
            }));
    }
    let referenced = match referenced(context, place, provider).await? {
        Ok(referenced) => referenced,
        Err(fault) => return Ok(Err(fault)),
    };
    let found = match referenced {
        Some(source) => Some(source),
        None => default_source(context).await?,
    };
    Ok(match found {
        Some(source) => source
            .believe()
            .map_err(|error| AccessFault::HostKeys(error.to_string())),
        None => nothing_known(context.settings.allow_missing_known_hosts),
    })
}

/// Reads what `spec.knownHostsRef` names; `None` when it names nothing or what it names has no host keys.
async fn referenced(
    context: &Context,
    place: &Place,
    provider: &GitProvider,
) -> Result<Result<Option<Source>, AccessFault>, Failure> {
    let Some(reference) = &provider.spec.known_hosts_ref else {
        return Ok(Ok(None));
    };
    let kind = reference.kind.unwrap_or(KnownHostsKind::ConfigMap);
    let missing = || {
        let kind = kind.as_str();
        AccessFault::HostKeys(format!(
            "spec.knownHostsRef names {kind} {}, which does not exist",
            reference.name
        ))
    };
    let Some(named) = Place::named(place.namespace.as_str(), &reference.name) else {
        return Ok(Err(missing()));
    };
    Ok(match kind {
        KnownHostsKind::Secret => match context.secret(&named).await? {
            Some(secret) => Ok(of_secret(&named, &secret, &KEYS)),
            None => Err(missing()),
        },
        KnownHostsKind::ConfigMap => match context.config_map(&named).await? {
            Some(map) => Ok(of_config_map(&named, &map)),
            None => Err(missing()),
        },
    })
}

/// Reads the ConfigMap for all providers. One that does not exist says nothing, so that it may come later.
async fn default_source(context: &Context) -> Result<Option<Source>, Failure> {
    let Some(name) = &context.settings.default_known_hosts else {
        return Ok(None);
    };
    let Some(place) = Place::named(context.settings.namespace.as_str(), name.as_str()) else {
        return Ok(None);
    };
    let map = context.config_map(&place).await?;
    Ok(map.and_then(|map| of_config_map(&place, &map)))
}

fn of_secret(place: &Place, secret: &Secret, keys: &[&str]) -> Option<Source> {
    let data = secret.data.as_ref()?;
    let texts = data
        .iter()
        .map(|(key, value)| (key.as_str(), value.0.as_slice()));
    Some(Source {
        origin: format!("Secret {place}"),
        stamp: incarnation(secret),
        text: first_text(&texts.collect(), keys)?,
    })
}

fn of_config_map(place: &Place, map: &k8s_openapi::api::core::v1::ConfigMap) -> Option<Source> {
    let data = map.data.as_ref()?;
    let texts = data
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_bytes()));
    Some(Source {
        origin: format!("ConfigMap {place}"),
        stamp: incarnation(map),
        text: first_text(&texts.collect(), &KEYS)?,
    })
}

/// Returns the first text that is more than blank: an empty value counts as absent.
fn first_text(texts: &BTreeMap<&str, &[u8]>, keys: &[&str]) -> Option<Vec<u8>> {
    keys.iter()
        .filter_map(|key| texts.get(key))
        .find(|text| !text.trim_ascii().is_empty())
        .map(|text| text.to_vec())
}

impl Source {
    fn believe(&self) -> Result<HostKeys, KnownHostsError> {
        let known = KnownHosts::parse(&self.text, &self.origin)?;
        Ok(HostKeys {
            trust: HostKeyTrust::Known(known),
            stamp: self.stamp.clone(),
        })
    }
}

fn nothing_known(allowed: bool) -> Result<HostKeys, AccessFault> {
    if allowed {
        return Ok(HostKeys {
            trust: HostKeyTrust::Anybody,
            stamp: "unchecked".to_owned(),
        });
    }
    Err(AccessFault::HostKeys(
        "no host key is known: put the output of ssh-keyscan, compared with what the host publishes, into \
         known_hosts of the credential Secret, or into a ConfigMap that spec.knownHostsRef names"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::ByteString;

    use super::*;

    fn secret(entries: &[(&str, &str)]) -> Secret {
        let data = entries.iter().map(|(key, value)| {
            let value = ByteString(value.as_bytes().to_vec());
            ((*key).to_owned(), value)
        });
        Secret {
            data: Some(data.collect()),
            ..Secret::default()
        }
    }

    #[test]
    fn the_first_key_that_is_not_blank_is_read() {
        let place = Place::named("ns", "s").unwrap();
        type Case<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let cases: [Case<'_>; 5] = [
            (&[("known_hosts", "a"), ("ssh_known_hosts", "b")], Some("a")),
            (
                &[("known_hosts", " \n"), ("ssh_known_hosts", "b")],
                Some("b"),
            ),
            (&[("ssh_known_hosts", "b")], Some("b")),
            (&[("known_hosts", "")], None),
            (&[("other", "x")], None),
        ];
        for (entries, expected) in cases {
            let source = of_secret(&place, &secret(entries), &KEYS);
            let text = source.map(|source| String::from_utf8(source.text).unwrap());
            assert_eq!(text.as_deref(), expected, "{entries:?}");
        }
    }

    #[test]
    fn b027_without_any_host_key_only_the_flag_lets_a_session_begin() {
        let refused = nothing_known(false).unwrap_err().to_string();
        assert!(
            refused.contains("known_hosts of the credential Secret"),
            "{refused}"
        );
        assert_eq!(nothing_known(true).unwrap().trust, HostKeyTrust::Anybody);
    }
}
