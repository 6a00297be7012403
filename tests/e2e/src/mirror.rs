//! The objects that make one mirror.

use serde_json::{Value, json};

use crate::stage::{FOLDER, GIT_PASSWORD, GIT_USER, OPERATOR_NAMESPACE, TEAM};

/// A mirror of the ConfigMaps of one namespace into one folder of one branch of one repository.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// The namespace, which holds the objects below too.
    pub namespace: String,
    /// Where the repository is.
    pub url: String,
    /// What the Secret holds that opens it.
    pub credential: Value,
    /// The branch that is written.
    pub branch: String,
    /// The branch that a missing branch is created from, if one is named.
    pub parent: Option<String>,
    /// When a commit window closes after silence, as the target spells it.
    pub idle_timeout: String,
    /// The prune mode of the target.
    pub prune: String,
}

impl Mirror {
    /// Describes a mirror of the usual namespace on `main`, with the usual credential.
    pub fn at(url: &str) -> Self {
        Self {
            namespace: TEAM.to_owned(),
            url: url.to_owned(),
            credential: json!({"username": GIT_USER, "password": GIT_PASSWORD}),
            branch: "main".to_owned(),
            parent: None,
            idle_timeout: "1s".to_owned(),
            prune: "OnEvent".to_owned(),
        }
    }

    /// Returns the namespace and the objects in it, in an order in which they can be created.
    pub fn objects(&self) -> Vec<Value> {
        let ours = "configbutler.ai/v1alpha3";
        let object = |version: &str, kind: &str, name: &str, part: &str, content: Value| {
            json!({
                "apiVersion": version, "kind": kind,
                "metadata": {"name": name, "namespace": self.namespace}, part: content,
            })
        };
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace},
        });
        let grants = [json!({"consumerNamespaces": {"from": "Same"}, "branchPatterns": ["*"]})];
        let provider = json!({
            "url": self.url, "secretRef": {"name": "git-credential"}, "allowedGitBranches": grants,
        });
        let mut branch = json!({"gitProviderRef": {"name": "platform"}, "branch": self.branch});
        if let Some(parent) = &self.parent {
            branch["parentBranch"] = json!(parent);
        }
        let target = json!({
            "gitBranchRef": {"name": "main"},
            "kubeProviderRef": {"name": "local", "namespace": OPERATOR_NAMESPACE},
            "path": FOLDER,
            "prune": {"mode": self.prune},
            "commit": {"window": {"idleTimeout": self.idle_timeout}},
        });
        let rule = json!({
            "gitTargetRef": {"name": "demo"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"]}],
        });
        let credential = self.credential.clone();
        vec![
            namespace,
            object("v1", "Secret", "git-credential", "stringData", credential),
            object(ours, "GitProvider", "platform", "spec", provider),
            object(ours, "GitBranch", "main", "spec", branch),
            object(ours, "GitTarget", "demo", "spec", target),
            object(ours, "WatchRule", "configmaps", "spec", rule),
        ]
    }
}
