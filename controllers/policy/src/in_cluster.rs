//! Which KubeProviders may use the operator's own identity: a list that only the installer writes.

use std::collections::BTreeSet;

use model::{KubeProviderKey, Namespace, ObjectName};

/// The KubeProviders whose `inCluster` is honoured. Empty by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InClusterConsent {
    providers: BTreeSet<KubeProviderKey>,
}

/// An entry that is no exact `namespace/name`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {entry:?} is not an exact namespace/name; wildcards are not supported")]
pub struct InvalidEntry {
    /// The entry as it was written.
    pub entry: String,
}

impl InClusterConsent {
    /// Reads a comma-separated list of `namespace/name`; spaces around entries are ignored.
    ///
    /// # Errors
    /// Returns every entry that has another form.
    pub fn parse(list: &str) -> Result<Self, Vec<InvalidEntry>> {
        let mut providers = BTreeSet::new();
        let mut invalid = Vec::new();
        for entry in list
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            match exact_key(entry) {
                Some(key) => {
                    providers.insert(key);
                }
                None => invalid.push(InvalidEntry {
                    entry: entry.to_owned(),
                }),
            }
        }
        if invalid.is_empty() {
            Ok(Self { providers })
        } else {
            Err(invalid)
        }
    }

    /// Takes providers that were read elsewhere.
    pub fn of(providers: BTreeSet<KubeProviderKey>) -> Self {
        Self { providers }
    }

    /// Says whether the provider may use the operator's own identity.
    pub fn allows(&self, provider: &KubeProviderKey) -> bool {
        self.providers.contains(provider)
    }
}

fn exact_key(entry: &str) -> Option<KubeProviderKey> {
    let (namespace, name) = entry.split_once('/')?;
    let exact = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    if !name.chars().all(exact) {
        return None;
    }
    let namespace = Namespace::new(namespace).ok()?;
    let name = ObjectName::new(name).ok()?;
    Some(KubeProviderKey::new(namespace, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(namespace: &str, name: &str) -> KubeProviderKey {
        KubeProviderKey::new(
            Namespace::new(namespace).unwrap(),
            ObjectName::new(name).unwrap(),
        )
    }

    #[test]
    fn only_listed_providers_are_allowed() {
        let consent =
            InClusterConsent::parse("gitops-reverser/local, platform/own.cluster").unwrap();
        assert!(consent.allows(&key("gitops-reverser", "local")));
        assert!(consent.allows(&key("platform", "own.cluster")));
        assert!(!consent.allows(&key("platform", "local")));
        assert!(
            !InClusterConsent::parse("")
                .unwrap()
                .allows(&key("platform", "local"))
        );
    }

    #[test]
    fn wildcards_and_half_names_are_refused_together() {
        let errors = InClusterConsent::parse("a/b,*/local,a/*,local,/x,a/,a/b/c").unwrap_err();
        let entries: Vec<&str> = errors.iter().map(|error| error.entry.as_str()).collect();
        assert_eq!(entries, ["*/local", "a/*", "local", "/x", "a/", "a/b/c"]);
    }
}
