//! Which namespaces of a source cluster may be mirrored, and whether the items of a rule ask for less.

use std::collections::BTreeSet;
use std::fmt;

use model::{InvalidName, Namespace, RefusalCode};

use crate::grants::{Admission, GrantHolder};
use crate::wording::{joined, quoted};

/// One entry of `sourceNamespaces` or `applierNamespaces`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamespaceScope {
    /// Exactly this one.
    Exact(Namespace),
    /// `{consumer.namespace}`: the one named like the consumer's own.
    ConsumerNamespace,
    /// `*`: every one.
    Every,
}

impl NamespaceScope {
    /// Reads an entry.
    ///
    /// # Errors
    /// Returns the rule that a namespace name breaks; there are no patterns and no other variables.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        match text {
            "*" => Ok(Self::Every),
            "{consumer.namespace}" => Ok(Self::ConsumerNamespace),
            name => Namespace::new(name).map(Self::Exact),
        }
    }
}

/// The namespaces that the admitting grants give together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamespaceUnion {
    every: bool,
    names: BTreeSet<Namespace>,
}

impl NamespaceUnion {
    /// Joins the entries for a consumer of namespace `consumer`.
    pub fn of<'a>(
        entries: impl IntoIterator<Item = &'a NamespaceScope>,
        consumer: &Namespace,
    ) -> Self {
        let mut union = Self::default();
        for entry in entries {
            match entry {
                NamespaceScope::Every => union.every = true,
                NamespaceScope::ConsumerNamespace => {
                    union.names.insert(consumer.clone());
                }
                NamespaceScope::Exact(name) => {
                    union.names.insert(name.clone());
                }
            }
        }
        union
    }

    /// Says whether the one namespace is in the union.
    pub fn allows(&self, namespace: &Namespace) -> bool {
        self.every || self.names.contains(namespace)
    }

    /// Says whether the union holds every namespace, also those made later.
    pub fn allows_every(&self) -> bool {
        self.every
    }

    fn permits(&self, requested: &RequestedNamespace) -> bool {
        match requested {
            RequestedNamespace::Named(namespace) => self.allows(namespace),
            RequestedNamespace::Every => self.every,
        }
    }
}

impl fmt::Display for NamespaceUnion {
    /// Prints the names in quotes, `"*"`, or `nothing`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.every {
            f.write_str("\"*\"")
        } else if self.names.is_empty() {
            f.write_str("nothing")
        } else {
            f.write_str(&quoted(&self.names))
        }
    }
}

/// The namespace that an item of a rule asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestedNamespace {
    /// One namespace; an omitted field is the rule's own.
    Named(Namespace),
    /// `*`: one watch over the whole cluster.
    Every,
}

impl RequestedNamespace {
    /// Reads `rules[].sourceNamespace` of a rule that lives in namespace `own`.
    ///
    /// # Errors
    /// Returns the rule that a namespace name breaks.
    pub fn parse(text: Option<&str>, own: &Namespace) -> Result<Self, InvalidName> {
        match text {
            None => Ok(Self::Named(own.clone())),
            Some("*") => Ok(Self::Every),
            Some(name) => Namespace::new(name).map(Self::Named),
        }
    }
}

/// One item of a WatchRule, as far as its authorization goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceItem {
    /// Its place in `spec.rules`.
    pub index: usize,
    /// What it selects, in the words of the rule, such as `configmaps, secrets`.
    pub selects: String,
    /// Where it wants to look.
    pub namespace: RequestedNamespace,
}

impl fmt::Display for NamespaceItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = match &self.namespace {
            RequestedNamespace::Named(namespace) => namespace.as_str(),
            RequestedNamespace::Every => "*",
        };
        write!(
            f,
            "spec.rules[{}] ({} in \"{namespace}\")",
            self.index, self.selects
        )
    }
}

/// Authorizes all items of a rule whose GitTarget lives in namespace `consumer`.
///
/// An item outside the union refuses the whole rule: mirroring a part of what was asked for would look like
/// all of it.
pub fn authorize_items(
    items: &[NamespaceItem],
    union: &NamespaceUnion,
    consumer: &Namespace,
    holder: &GrantHolder,
) -> Admission<()> {
    let refused: Vec<&NamespaceItem> = items
        .iter()
        .filter(|item| !union.permits(&item.namespace))
        .collect();
    let verb = match refused.len() {
        0 => return Admission::Admitted(()),
        1 => "is",
        _ => "are",
    };
    Admission::refused(
        RefusalCode::SourceNamespaceNotAllowed,
        format!(
            "{holder} lets namespace \"{consumer}\" watch {union} ({}[].sourceNamespaces); {} {verb} not \
             allowed",
            holder.field,
            joined(refused)
        ),
        format!("name a granted namespace, or have {holder} grant this one"),
    )
}

#[cfg(test)]
mod tests {
    use model::ObjectName;
    use proptest::prelude::*;

    use super::*;

    fn namespace(name: &str) -> Namespace {
        Namespace::new(name).unwrap()
    }

    fn union(entries: &[&str]) -> NamespaceUnion {
        let scopes: Vec<_> = entries
            .iter()
            .map(|entry| NamespaceScope::parse(entry).unwrap())
            .collect();
        NamespaceUnion::of(&scopes, &namespace("team-a"))
    }

    fn item(index: usize, selects: &str, requested: Option<&str>) -> NamespaceItem {
        NamespaceItem {
            index,
            selects: selects.to_owned(),
            namespace: RequestedNamespace::parse(requested, &namespace("team-a")).unwrap(),
        }
    }

    fn message(items: &[NamespaceItem], entries: &[&str]) -> Option<String> {
        let holder = GrantHolder {
            kind: "KubeProvider",
            namespace: namespace("platform"),
            name: ObjectName::new("production").unwrap(),
            field: "spec.allowedGitTargets",
        };
        authorize_items(items, &union(entries), &namespace("team-a"), &holder)
            .refusal()
            .map(|refusal| refusal.message.clone())
    }

    #[test]
    fn an_item_is_refused_by_index_and_by_what_it_selects() {
        let items = [
            item(0, "configmaps", None),
            item(1, "secrets", Some("kube-system")),
        ];
        assert_eq!(
            message(&items, &["{consumer.namespace}"]).unwrap(),
            "KubeProvider platform/production lets namespace \"team-a\" watch \"team-a\" \
             (spec.allowedGitTargets[].sourceNamespaces); spec.rules[1] (secrets in \"kube-system\") is not \
             allowed"
        );
        assert_eq!(
            message(&items, &["{consumer.namespace}", "kube-system"]),
            None
        );
        assert_eq!(message(&items, &["*"]), None);
        assert!(message(&items, &[]).unwrap().contains("watch nothing"));
        assert!(
            message(&items, &["other"])
                .unwrap()
                .ends_with("are not allowed")
        );
    }

    #[test]
    fn a_star_is_never_narrowed_to_what_is_granted() {
        let star = [item(0, "deployments", Some("*"))];
        assert!(message(&star, &["team-a", "team-b"]).is_some());
        assert!(message(&star, &["team-a", "*"]).is_none());
    }

    proptest! {
        /// Grants combine by union: order and repetition never matter, and more entries never allow less.
        #[test]
        fn order_never_matters(mut entries in proptest::collection::vec("[abc]|\\*", 0..6), asked in "[abcd]") {
            let as_texts = |entries: &[String]| -> NamespaceUnion {
                union(&entries.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let forward = as_texts(&entries);
            entries.reverse();
            prop_assert_eq!(&as_texts(&entries), &forward);
            let held = forward.allows(&namespace(&asked));
            entries.push("d".to_owned());
            prop_assert!(as_texts(&entries).allows(&namespace(&asked)) >= held);
        }
    }
}
