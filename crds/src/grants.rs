//! Grants: who may use an object that lends something, and for what.
//!
//! Only the format is decided here, by the API server. Who is admitted is decided when the referring
//! object is reconciled, because it depends on namespaces and labels of that moment.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::core::{Message, Rule};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::references::label_selector;
use crate::words::words;

/// The namespaces of the control cluster whose consumers a grant admits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    Rule::new("self.from != 'Names' || has(self.names)")
        .message("from: Names needs names").field_path(".names"),
    Rule::new("!has(self.names) || self.from == 'Names'")
        .message("names goes only with from: Names").field_path(".names"),
    Rule::new("self.from != 'Selector' || has(self.selector)")
        .message("from: Selector needs a selector").field_path(".selector"),
    Rule::new("!has(self.selector) || self.from == 'Selector'")
        .message("selector goes only with from: Selector").field_path(".selector"),
]))]
pub struct ConsumerNamespaces {
    /// Which namespaces: Same is the namespace of the object that holds this grant, Names is exactly those
    /// in names, Selector is those whose labels match selector, All is every namespace.
    pub from: NamespacesFrom,
    /// Exact namespace names; only with from: Names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<ConsumerName>>", length(min = 1, max = 64))]
    pub names: Option<Vec<String>>,
    /// Selects namespaces of the control cluster by their labels; only with from: Selector. It must hold at
    /// least one requirement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        schema_with = "label_selector",
        extend("x-kubernetes-validations" = [
            Rule::new(
                "(has(self.matchLabels) && size(self.matchLabels) > 0) || \
                 (has(self.matchExpressions) && size(self.matchExpressions) > 0)"
            ).message("an empty selector would admit every namespace: write from: All for that"),
        ])
    )]
    pub selector: Option<LabelSelector>,
}

impl ConsumerNamespaces {
    /// Admits the namespace of the object that holds the grant.
    pub fn same() -> Self {
        Self {
            from: NamespacesFrom::Same,
            names: None,
            selector: None,
        }
    }
}

words! {
    /// How a grant says which namespaces it admits.
    pub enum NamespacesFrom {
        /// The namespace of the object that holds the grant.
        Same = "Same",
        /// Exactly the listed namespaces.
        Names = "Names",
        /// The namespaces whose labels match.
        Selector = "Selector",
        /// Every namespace.
        All = "All",
    }
}

/// Lets GitBranches claim branches through a GitProvider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitBranchGrant {
    /// Which namespaces' GitBranches this grant admits.
    pub consumer_namespaces: ConsumerNamespaces,
    /// The branches they may claim. A pattern is matched against the whole branch name; * stands for any
    /// sequence of characters, slashes included. {consumer.namespace} and {consumer.name} stand for the
    /// GitBranch's own, each as a whole path segment.
    #[schemars(with = "Vec<BranchPattern>", length(min = 1, max = 256))]
    pub branch_patterns: Vec<String>,
}

/// Lets GitTargets write through a GitBranch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchWriterGrant {
    /// Which namespaces' GitTargets this grant admits.
    pub consumer_namespaces: ConsumerNamespaces,
}

/// Lets GitTargets mirror through a KubeProvider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    Rule::new("has(self.sourceNamespaces) || has(self.clusterResources)")
        .message("a grant needs sourceNamespaces, clusterResources or both: this one would grant nothing"),
]))]
pub struct SourceGrant {
    /// Which namespaces' GitTargets this grant admits.
    pub consumer_namespaces: ConsumerNamespaces,
    /// The namespaces of the source cluster that they may mirror: exact names, {consumer.namespace} for the
    /// one named like the GitTarget's own, or * for every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<ScopedNamespace>>", length(min = 1, max = 256))]
    pub source_namespaces: Option<Vec<String>>,
    /// The cluster-scoped types that they may mirror: resource.group, a bare resource for the core group, or
    /// * for every one, those installed later included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<ClusterResource>>", length(min = 1, max = 256))]
    pub cluster_resources: Option<Vec<String>>,
}

/// Lets applier claims hold an applier through a KubeProvider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplierGrant {
    /// Which namespaces' FluxClaims and ArgoCDClaims this grant admits.
    pub consumer_namespaces: ConsumerNamespaces,
    /// The namespaces in which that applier may live: exact names, {consumer.namespace} for the one named
    /// like the claim's own, or * for every one.
    #[schemars(with = "Vec<ScopedNamespace>", length(min = 1, max = 256))]
    pub applier_namespaces: Vec<String>,
}

/// Lets CommitRequests save a GitTarget's commit windows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    Rule::new("has(self.consumerNamespaces) != has(self.sourceNamespaces)")
        .message("set exactly one of consumerNamespaces and sourceNamespaces"),
]))]
pub struct CommitRequestGrant {
    /// Admits requests made on the control cluster, by their namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer_namespaces: Option<ConsumerNamespaces>,
    /// Admits requests made on the cluster that the GitTarget mirrors: exact namespace names, or * for every
    /// namespace that it may mirror.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<RequestNamespace>>", length(min = 1, max = 256))]
    pub source_namespaces: Option<Vec<String>>,
}

/// Describes the entries of a list of names or patterns. The types exist for the schema only: an object
/// that the API server accepted holds plain strings.
macro_rules! entry {
    ($name:ident, $length:expr, $rules:expr) => {
        struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "maxLength": $length,
                    "x-kubernetes-validations": $rules,
                })
            }
        }
    };
}

entry!(ConsumerName, 63, consumer_name_rules());
entry!(ScopedNamespace, 63, scoped_namespace_rules());
entry!(RequestNamespace, 63, request_namespace_rules());
entry!(ClusterResource, 317, cluster_resource_rules());
entry!(BranchPattern, 255, branch_pattern_rules());

/// An exact namespace name, where a wildcard or a variable would quietly mean everybody.
fn consumer_name_rules() -> [Rule; 3] {
    [
        Rule::new("self != '*'")
            .message("names holds exact names: write from: All to admit every namespace"),
        no_variables(
            "names holds exact names: a variable would admit every consumer; write from: All for that, \
             or from: Same for this object's own namespace",
        ),
        Rule::new(
            "self == '*' || self.contains('{') || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
        )
        .message("not a namespace name: lower-case letters, digits and inner dashes"),
    ]
}

/// A namespace of another place, which may be named after the consumer's own.
fn scoped_namespace_rules() -> [Rule; 2] {
    [
        Rule::new("!self.contains('{') || self == '{consumer.namespace}'")
            .message("the only variable here is {consumer.namespace}, and it stands alone"),
        namespace_or_star(),
    ]
}

fn request_namespace_rules() -> [Rule; 2] {
    [
        no_variables("a namespace here is written out: variables are not replaced"),
        namespace_or_star(),
    ]
}

/// Two rules, because one expression with a long pattern would cost more than the API server allows for a
/// list of this size.
fn cluster_resource_rules() -> [Rule; 2] {
    const FORM: &str = "write resource.group, a bare resource of the core group, or * alone";
    [
        Rule::new("self == '*' || !self.contains('*')").message(FORM),
        Rule::new("self.matches('^[-a-z0-9.*]+$')").message(FORM),
    ]
}

fn no_variables(message: &str) -> Rule {
    Rule::new("!self.contains('{')").message(message)
}

fn namespace_or_star() -> Rule {
    Rule::new(
        "self == '*' || self.contains('{') || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
    )
    .message("not a namespace name: lower-case letters, digits and inner dashes, or * alone")
}

/// A pattern's text without the two variables, for rules that look for what is left.
macro_rules! without_variables {
    () => {
        "self.replace('{consumer.namespace}', '').replace('{consumer.name}', '')"
    };
}

fn branch_pattern_rules() -> [Rule; 6] {
    let unknown_variable = concat!(
        "'branch pattern ' + self + ' references unknown variable ' + ",
        without_variables!(),
        r".find('\\{[^{}]*\\}?') + ",
        "'; the variables are {consumer.namespace} and {consumer.name}'"
    );
    [
        Rule::new("self != ''").message("an empty pattern matches no branch"),
        Rule::new(concat!("!", without_variables!(), ".contains('{')"))
            .message(Message::Expression(unknown_variable.to_owned())),
        Rule::new(r"!self.matches('(^|\\})[^{]*\\}')").message("a closing brace without a variable"),
        Rule::new(r"!self.matches('[^/]\\{|\\}[^/]')").message(
            "a variable is a whole path segment: at the start or after a slash, and at the end or before one",
        ),
        Rule::new("!self.contains('{consumer.name}') || self.contains('{consumer.namespace}')").message(
            "{consumer.name} needs {consumer.namespace} in the same pattern: a name alone bounds nothing",
        ),
        Rule::new(r"!self.matches('[?\\[\\\\]')")
            .message("* is the only wildcard: no ?, no character classes, no escapes"),
    ]
}
