//! What a WatchRule selects, as far as it is allowed to. Pure.

use crds::WatchRule;
use crds::conditions::Reason;
use model::{RuleKey, Scope};
use policy::source_scope::authorize_items;
use policy::{Consumer, GrantHolder, NamespaceItem, NamespaceUnion, RequestedNamespace};
use source::{ItemDeclaration, RuleDeclaration};

use crate::convert::selectors;
use crate::place::{Place, created_at};

/// Why nothing of a rule is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleRefusal {
    /// A selector or a namespace in it is not valid.
    Invalid { message: String },
    /// A grant does not give a namespace that it names.
    NotAllowed {
        reason: &'static str,
        message: String,
    },
}

/// The scope that a rule's GitTarget has on its source, and who says so.
#[derive(Debug, Clone)]
pub(crate) struct SourceAccess {
    pub(crate) consumer: Consumer,
    pub(crate) holder: GrantHolder,
    pub(crate) namespaces: NamespaceUnion,
}

/// Turns a rule into what the source is told, or says why not. One item that is refused refuses the rule.
pub(crate) fn declaration(
    place: &Place,
    rule: &WatchRule,
    access: &SourceAccess,
) -> Result<RuleDeclaration, RuleRefusal> {
    let items = items(place, rule)?;
    let asked: Vec<NamespaceItem> = items.iter().map(|(asked, _)| asked.clone()).collect();
    let consumer = &access.consumer.namespace;
    if let Some(refusal) =
        authorize_items(&asked, &access.namespaces, consumer, &access.holder).refusal()
    {
        return Err(RuleRefusal::NotAllowed {
            reason: refusal.code.as_str(),
            message: format!("{}; {}", refusal.message, refusal.remedy),
        });
    }
    Ok(RuleDeclaration {
        rule: RuleKey::from(place),
        created_at: created_at(rule),
        items: items.into_iter().map(|(_, declared)| declared).collect(),
    })
}

/// Says whether the rule itself is valid, whatever is allowed.
pub(crate) fn check(place: &Place, rule: &WatchRule) -> Result<(), RuleRefusal> {
    items(place, rule).map(|_| ())
}

fn items(
    place: &Place,
    rule: &WatchRule,
) -> Result<Vec<(NamespaceItem, ItemDeclaration)>, RuleRefusal> {
    let item = |(index, item): (usize, &crds::watch_rule::ResourceRule)| {
        let invalid = |problem: String| RuleRefusal::Invalid {
            message: format!(
                "spec.rules[{index}] ({}): {problem}",
                item.resources.join(", ")
            ),
        };
        let namespace =
            RequestedNamespace::parse(item.source_namespace.as_deref(), &place.namespace);
        let namespace = namespace.map_err(|error| invalid(error.to_string()))?;
        let selector = selectors::objects(item.object_selector.as_ref());
        let selector = selector.map_err(|error| invalid(error.to_string()))?;
        let scope = match &namespace {
            RequestedNamespace::Named(namespace) => Scope::Namespace(namespace.clone()),
            RequestedNamespace::Every => Scope::AllNamespaces,
        };
        let asked = NamespaceItem {
            index,
            selects: item.resources.join(", "),
            namespace,
        };
        let declared = ItemDeclaration {
            resources: item.resources.clone(),
            api_groups: item.api_groups.clone(),
            api_versions: item.api_versions.clone(),
            scope,
            selector,
        };
        Ok((asked, declared))
    };
    rule.spec.rules.iter().enumerate().map(item).collect()
}

impl RuleRefusal {
    /// Returns the reason of the condition that reports it.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => Reason::InvalidObjectSelector.as_str(),
            Self::NotAllowed { reason, .. } => reason,
        }
    }

    /// Returns what is wrong, with the next step.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Invalid { message } | Self::NotAllowed { message, .. } => message,
        }
    }
}
