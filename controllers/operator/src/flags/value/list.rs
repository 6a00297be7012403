//! Lists that are separated by commas.

use std::collections::BTreeSet;

use model::{KubeProviderKey, Namespace, ObjectName, Sensitivity};

use super::Disallowed;

/// The `KubeProvider` objects that may use the operator's own identity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KubeProviderList(pub BTreeSet<KubeProviderKey>);

/// Reads exact `namespace/name` entries; there are no wildcards.
///
/// # Errors
/// Returns every entry that has another form.
pub fn kube_provider_list(text: &str) -> Result<KubeProviderList, Disallowed> {
    let mut keys = BTreeSet::new();
    let mut bad = Vec::new();
    for entry in entries(text) {
        match kube_provider(entry) {
            Some(key) => {
                keys.insert(key);
            }
            None => bad.push(entry),
        }
    }
    if bad.is_empty() {
        Ok(KubeProviderList(keys))
    } else {
        Err(Disallowed::but(format!(
            "exact NAMESPACE/NAME entries separated by commas, without wildcards, which is not so for {}",
            bad.join(", ")
        )))
    }
}

/// Reads `resource` (core group) and `group/resource` entries.
///
/// # Errors
/// Returns every entry that has another form.
pub fn sensitive_types(text: &str) -> Result<Sensitivity, Disallowed> {
    Sensitivity::parse(entries(text)).map_err(|bad| {
        Disallowed::but(format!(
            "RESOURCE or GROUP/RESOURCE entries separated by commas, which is not so for {}",
            bad.join(", ")
        ))
    })
}

/// Splits at commas. Empty entries are dropped, because templates leave trailing commas behind.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
}

fn kube_provider(entry: &str) -> Option<KubeProviderKey> {
    let (namespace, name) = entry.split_once('/')?;
    if name.contains('*') {
        return None;
    }
    Some(KubeProviderKey::new(
        Namespace::new(namespace).ok()?,
        ObjectName::new(name).ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::TypeId;

    #[test]
    fn providers_are_listed_by_their_exact_names() {
        let list = kube_provider_list("gitops-reverser/local, team-a/own,").unwrap();
        let names: Vec<_> = list.0.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["gitops-reverser/local", "team-a/own"]);
        assert!(kube_provider_list("").unwrap().0.is_empty());
        let refused = kube_provider_list("a/b,*/local,team-a/*,local").unwrap_err();
        assert!(
            refused
                .allowed
                .ends_with("not so for */local, team-a/*, local"),
            "{refused}"
        );
    }

    #[test]
    fn sensitive_types_are_listed_with_their_group() {
        let sensitivity = sensitive_types("core.cozystack.io/tenantsecrets,tokens").unwrap();
        assert!(sensitivity.is_sensitive(&TypeId::new("core.cozystack.io", "tenantsecrets")));
        assert!(sensitivity.is_sensitive(&TypeId::new("", "tokens")));
        let refused = sensitive_types("a/b/c,ok,/x").unwrap_err();
        assert!(
            refused.allowed.ends_with("not so for a/b/c, /x"),
            "{refused}"
        );
    }
}
