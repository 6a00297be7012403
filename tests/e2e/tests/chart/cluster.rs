//! The chart on a real control plane: it comes, gives exactly its rights, and goes.

use std::collections::BTreeSet;

use e2e::chart::{folder, render};
use e2e::helm::{Helm, Release};
use serde_json::{Value, json};
use testkit::{ControlPlane, Kubectl, wait};

const SERVICE_ACCOUNT: &str = "system:serviceaccount:gitops-reverser:gitops-reverser";

struct Cluster {
    control_plane: ControlPlane,
    helm: Helm,
    release: Release,
}

impl Cluster {
    /// Starts a control plane with the release's namespace in it.
    fn start() -> Self {
        let cluster = Self {
            control_plane: ControlPlane::start().unwrap(),
            helm: Helm::new().unwrap(),
            release: Release::default(),
        };
        cluster
            .admin()
            .run(&["create", "namespace", &cluster.release.namespace])
            .unwrap();
        cluster
    }

    fn admin(&self) -> Kubectl {
        self.control_plane.as_admin().unwrap()
    }

    fn install(&self, values: &Value, more: &[&str]) -> String {
        let kubeconfig = self.control_plane.admin();
        self.helm
            .install(kubeconfig, &folder(), &self.release, values, more)
            .unwrap()
    }

    fn uninstall(&self) {
        self.helm
            .uninstall(self.control_plane.admin(), &self.release)
            .unwrap();
    }
}

/// Every object of the cluster that can be listed, but for the cluster's own bookkeeping.
fn everything(kubectl: &Kubectl) -> anyhow::Result<BTreeSet<String>> {
    const PASSING: [&str; 4] = [
        "events",
        "events.events.k8s.io",
        "componentstatuses",
        "leases.coordination.k8s.io",
    ];
    let listed = kubectl.run(&["api-resources", "--verbs=list", "-o", "name"])?;
    let types: Vec<&str> = listed
        .lines()
        .filter(|name| !PASSING.contains(name))
        .collect();
    let columns = "-o=custom-columns=K:.kind,NS:.metadata.namespace,N:.metadata.name";
    let lines = kubectl.run(&["get", &types.join(","), "-A", "--no-headers", columns])?;
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(lines.lines().map(words).collect())
}

#[test]
fn it_installs_and_leaves_nothing_behind() {
    let cluster = Cluster::start();
    let kubectl = cluster.admin();
    let before = everything(&kubectl).unwrap();
    cluster.install(&json!({}), &[]);
    let installed = everything(&kubectl).unwrap();
    for object in [
        "Deployment gitops-reverser gitops-reverser",
        "ServiceAccount gitops-reverser gitops-reverser",
        "Service gitops-reverser gitops-reverser",
        "KubeProvider gitops-reverser local",
        "ClusterRole <none> gitops-reverser",
        "RoleBinding kube-system gitops-reverser-auth-reader",
        "CustomResourceDefinition <none> gittargets.configbutler.ai",
    ] {
        assert!(
            installed.contains(object),
            "{object} is missing in {installed:#?}"
        );
    }
    cluster.uninstall();
    // Helm never removes kinds, because every object of theirs would go too; a person does, at the end.
    let kinds: Vec<String> = everything(&kubectl)
        .unwrap()
        .iter()
        .filter_map(|object| object.strip_prefix("CustomResourceDefinition <none> "))
        .map(|name| format!("crd/{name}"))
        .collect();
    assert_eq!(kinds.len(), 10, "{kinds:?}");
    let delete: Vec<&str> = std::iter::once("delete")
        .chain(kinds.iter().map(String::as_str))
        .collect();
    kubectl.run(&delete).unwrap();
    wait::until_ok("only what was there before is left", wait::GENEROUS, || {
        let left = everything(&kubectl)?;
        let differ: Vec<_> = left.symmetric_difference(&before).collect();
        anyhow::ensure!(differ.is_empty(), "{differ:?}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn the_api_server_accepts_every_object_and_creates_none_in_a_dry_run() {
    let cluster = Cluster::start();
    let kubectl = cluster.admin();
    // A dry run does not install kinds, so it can look at their objects only where they exist.
    let kinds = folder().join("crds");
    kubectl
        .run(&[
            "apply".as_ref(),
            "--server-side".as_ref(),
            "-f".as_ref(),
            kinds.as_os_str(),
        ])
        .unwrap();
    kubectl
        .run(&["wait", "--for=condition=Established", "crd", "--all"])
        .unwrap();
    kubectl
        .run(&["create", "namespace", "gitops-reverser-quickstart-demo"])
        .unwrap();
    let before = everything(&kubectl).unwrap();
    let url = "https://git.example.org/demo.git";
    let claims = json!([{
        "consumerNamespaces": {"from": "All"},
        "applierNamespaces": ["flux-system"],
    }]);
    let selected = json!([{"apiGroups": [""], "resources": ["configmaps"]}]);
    let cases = [
        json!({}),
        json!({
            "quickstart": {"enabled": true, "gitProvider": {"url": url}},
            "persistence": {"enabled": true},
            "apiservice": {"registration": "chart"},
        }),
        json!({
            "service": {"type": "ExternalName", "externalName": "localhost"},
            "kubeProvider": {
                "secretRef": {"name": "kubeconfig"},
                "allowedGitTargets": [],
                "allowedApplierClaims": claims,
            },
            "rbac": {"watchTypes": {"mode": "selected", "selected": selected}},
        }),
    ];
    for values in cases {
        let printed = cluster.install(&values, &["--dry-run=server"]);
        assert!(printed.contains("kind: Deployment"), "{printed}");
        let chart = render(&cluster.helm, &cluster.release, &values).unwrap();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": chart.manifests});
        let dry = ["apply", "--dry-run=server", "--validate=strict", "-f", "-"];
        kubectl.run_with_input(&dry, &list.to_string()).unwrap();
    }
    assert_eq!(everything(&kubectl).unwrap(), before);
}

#[test]
fn absent_empty_and_written_grants_are_three_different_things() {
    let cluster = Cluster::start();
    let grants = |value: Value| {
        cluster.install(&json!({"kubeProvider": {"allowedGitTargets": value}}), &[]);
        let get = ["get", "kubeprovider", "local", "-n", "gitops-reverser"];
        let provider = cluster.admin().json(&get).unwrap();
        cluster.uninstall();
        provider["spec"]["allowedGitTargets"].clone()
    };
    let same = json!([{
        "consumerNamespaces": {"from": "Same"},
        "sourceNamespaces": ["{consumer.namespace}"],
    }]);
    assert_eq!(grants(Value::Null), same);
    assert_eq!(grants(json!([])), json!([]));
    let written = json!([{"consumerNamespaces": {"from": "All"}, "sourceNamespaces": ["team-a"]}]);
    assert_eq!(grants(written.clone()), written);
}

#[test]
fn the_operator_may_do_what_it_must_and_no_more() {
    let cluster = Cluster::start();
    let selected = json!([{"apiGroups": [""], "resources": ["configmaps"]}]);
    let watch = json!({"mode": "selected", "selected": selected});
    cluster.install(&json!({"rbac": {"watchTypes": watch}}), &[]);
    let kubectl = cluster.admin();
    let may = |question: &str| {
        let words = ["auth", "can-i"]
            .into_iter()
            .chain(question.split_whitespace());
        let arguments: Vec<&str> = words.chain(["--as", SERVICE_ACCOUNT]).collect();
        let output = kubectl.output(&arguments).unwrap();
        match String::from_utf8_lossy(&output.stdout).trim() {
            "yes" => true,
            "no" => false,
            other => panic!(
                "{question}: {other} {}",
                String::from_utf8_lossy(&output.stderr)
            ),
        }
    };
    for question in [
        "watch gittargets.configbutler.ai -A",
        "patch gitbranches.configbutler.ai --subresource=status -A",
        "patch gitbranches.configbutler.ai -A",
        "create events -A",
        "create events.events.k8s.io -A",
        "watch namespaces",
        "get secrets -A",
        "update secrets -n gitops-reverser",
        "get configmaps -A",
        "watch configmaps -A",
        "watch customresourcedefinitions.apiextensions.k8s.io",
        "create apiservices.apiregistration.k8s.io",
        "delete apiservices.apiregistration.k8s.io/v1alpha1.views.configbutler.ai",
        "create subjectaccessreviews.authorization.k8s.io",
        "create tokenreviews.authentication.k8s.io",
        "watch configmaps/extension-apiserver-authentication -n kube-system",
        "get clusterroles.rbac.authorization.k8s.io/gitops-reverser",
    ] {
        assert!(may(question), "{question} is refused");
    }
    for question in [
        "list secrets -A",
        "watch secrets -n gitops-reverser",
        "delete secrets -A",
        "list pods -A",
        "create configmaps -A",
        "delete namespaces",
        "delete gitbranches.configbutler.ai -A",
        "create kubeproviders.configbutler.ai -A",
        "patch gittargets.configbutler.ai -A",
        "patch kubeproviders.configbutler.ai -A",
        "delete apiservices.apiregistration.k8s.io/v1.apps",
        "patch apiservices.apiregistration.k8s.io/v1.apps",
        "get clusterroles.rbac.authorization.k8s.io/cluster-admin",
        "patch clusterroles.rbac.authorization.k8s.io/gitops-reverser",
        "create pods -n gitops-reverser",
        "impersonate users",
    ] {
        assert!(!may(question), "{question} is allowed");
    }
}
