//! Every value that is a setting reaches its flag, and the operator reads what is rendered.

use std::collections::BTreeSet;

use e2e::chart::{RenderedChart, folder, objects, render};
use e2e::helm::{Helm, Release};
use operator::environment::Environment;
use operator::flags::{self, Parsed};
use serde_json::{Value, json};

/// A value other than the default, and the argument that it must become.
const REACHES: [(&str, &str, &str); 45] = [
    (
        "controllerManager.inClusterKubeProviders",
        r#"["team-a/own"]"#,
        "--in-cluster-kube-providers=team-a/own,gitops-reverser/here",
    ),
    (
        "controllerManager.additionalSensitiveResources",
        r#"["example.com/tokens","vaults"]"#,
        "--additional-sensitive-resources=example.com/tokens,vaults",
    ),
    (
        "controllerManager.commitRequestTTL",
        r#""0""#,
        "--commit-request-ttl=0",
    ),
    (
        "controllerManager.branchBufferMaxSize",
        r#""16Mi""#,
        "--branch-buffer-max-size=16Mi",
    ),
    (
        "controllerManager.insecureAllowGitHTTP",
        "true",
        "--insecure-allow-git-http=true",
    ),
    (
        "controllerManager.defaultKnownHostsConfigMap",
        r#""hosts""#,
        "--default-known-hosts-configmap=hosts",
    ),
    (
        "controllerManager.insecureAllowMissingKnownHosts",
        "true",
        "--insecure-allow-missing-known-hosts=true",
    ),
    (
        "controllerManager.insecureKubeconfigExec",
        "true",
        "--insecure-kubeconfig-exec=true",
    ),
    (
        "controllerManager.insecureKubeconfigTLS",
        "true",
        "--insecure-kubeconfig-tls=true",
    ),
    (
        "controllerManager.recordSteps",
        r#""/tmp/steps""#,
        "--record-steps=/tmp/steps",
    ),
    (
        "git.refreshInterval",
        r#""1h30m""#,
        "--git-refresh-interval=1h30m",
    ),
    ("git.callTimeout", r#""30s""#, "--git-call-timeout=30s"),
    ("git.cycleTimeout", r#""90s""#, "--git-cycle-timeout=90s"),
    (
        "apiservice.registration",
        r#""none""#,
        "--api-registration=none",
    ),
    (
        "service.ports.api",
        "8443",
        "--api-service=gitops-reverser/gitops-reverser:8443",
    ),
    ("servers.enableHTTP2", "true", "--enable-http2=true"),
    (
        "servers.api.bindAddress",
        r#""127.0.0.1:10251""#,
        "--api-bind-address=127.0.0.1:10251",
    ),
    (
        "servers.healthProbe.bindAddress",
        r#"":9081""#,
        "--health-probe-bind-address=:9081",
    ),
    (
        "servers.metrics.bindAddress",
        r#"":9080""#,
        "--metrics-bind-address=:9080",
    ),
    (
        "servers.audit.bindAddress",
        r#"":9445""#,
        "--audit-bind-address=:9445",
    ),
    (
        "servers.audit.maxRequestBodyBytes",
        "20971520",
        "--audit-max-request-body-bytes=20971520",
    ),
    (
        "servers.audit.timeouts.read",
        r#""16s""#,
        "--audit-read-timeout=16s",
    ),
    (
        "servers.audit.timeouts.write",
        r#""31s""#,
        "--audit-write-timeout=31s",
    ),
    (
        "servers.audit.timeouts.idle",
        r#""61s""#,
        "--audit-idle-timeout=61s",
    ),
    (
        "attribution.transport",
        r#""memory""#,
        "--author-attribution-transport=memory",
    ),
    (
        "attribution.ttl",
        r#""11m""#,
        "--author-attribution-ttl=11m",
    ),
    (
        "attribution.grace",
        r#""4s""#,
        "--author-attribution-grace=4s",
    ),
    (
        "attribution.maxFactsPerType",
        "5000000",
        "--author-attribution-max-facts-per-type=5000000",
    ),
    (
        "attribution.maxFacts",
        "60000000",
        "--author-attribution-max-facts=60000000",
    ),
    (
        "attribution.collectionWindow",
        r#""31s""#,
        "--author-attribution-collection-window=31s",
    ),
    (
        "attribution.collectionUIDCap",
        "20000",
        "--author-attribution-collection-uid-cap=20000",
    ),
    (
        "queue.redis.addr",
        r#""valkey:6380""#,
        "--redis-addr=valkey:6380",
    ),
    (
        "queue.redis.auth.username",
        r#""reverser""#,
        "--redis-username=reverser",
    ),
    ("queue.redis.db", "3", "--redis-db=3"),
    (
        "queue.redis.keyPrefix",
        r#""team-a""#,
        "--redis-key-prefix=team-a",
    ),
    ("queue.redis.tls.enabled", "true", "--redis-insecure=false"),
    (
        "kubeProvider.name",
        r#""here""#,
        "--in-cluster-kube-providers=team-a/own,gitops-reverser/here",
    ),
    ("logging.level", r#""debug""#, "--zap-log-level=debug"),
    ("logging.development", "true", "--zap-devel=true"),
    ("logging.encoder", r#""console""#, "--zap-encoder=console"),
    (
        "logging.stacktraceLevel",
        r#""panic""#,
        "--zap-stacktrace-level=panic",
    ),
    (
        "logging.timeEncoding",
        r#""epoch""#,
        "--zap-time-encoding=epoch",
    ),
    (
        "fullnameOverride",
        r#""gitops-reverser""#,
        "--api-owner=gitops-reverser",
    ),
    ("replicaCount", "1", "--replica-count=1"),
    ("tls.mode", r#""self""#, "--api-tls-mode=self"),
];

/// Values that shape objects and not the operator, or that ask for what is not built.
const NO_FLAGS: [&str; 38] = [
    "affinity",
    "applierAccess",
    "attribution.auditRouteAnnotationKey",
    "attribution.enabled",
    "deploymentStrategy",
    "env",
    "image",
    "imagePullSecrets",
    "kubeProvider.allowedApplierClaims",
    "kubeProvider.allowedGitTargets",
    "kubeProvider.create",
    "kubeProvider.secretRef",
    "monitoring",
    "nameOverride",
    "nodeSelector",
    "persistence",
    "podAnnotations",
    "podDisruptionBudget",
    "podLabels",
    "podSecurityContext",
    "priorityClassName",
    "queue.redis.auth.existingSecret",
    "queue.redis.auth.existingSecretKey",
    "quickstart",
    "rbac",
    "resources",
    "securityContext",
    "servers.api.port",
    "servers.healthProbe.port",
    "servers.metrics.port",
    "servers.metrics.tls",
    "servers.receiver",
    "service",
    "serviceAccount",
    "terminationGracePeriodSeconds",
    "tolerations",
    "volumeMounts",
    "volumes",
];

/// Values that hold a piece of a Pod as Kubernetes defines it.
const IN_KUBERNETES_FORM: [&str; 3] = ["podSecurityContext", "resources", "securityContext"];

/// Flags that the chart does not pass, because what they belong to is not built.
const NOT_FROM_THE_CHART: [&str; 9] = [
    "audit-cert-key",
    "audit-cert-name",
    "audit-cert-path",
    "audit-client-ca-name",
    "audit-client-ca-path",
    "audit-insecure",
    "metrics-cert-key",
    "metrics-cert-name",
    "metrics-cert-path",
];

fn rendered(values: &Value) -> RenderedChart {
    render(&Helm::new().unwrap(), &Release::default(), values).unwrap()
}

fn parsed(chart: &RenderedChart) -> Parsed {
    let environment = Environment::read(|name| chart.env.get(name).cloned());
    flags::parse(chart.args.iter().cloned(), &environment)
}

/// Every value of the table in one tree.
fn every_value() -> Value {
    let mut tree = json!({});
    for (path, value, _) in REACHES {
        let mut place = &mut tree;
        for part in path.split('.') {
            place = &mut place[part];
        }
        *place = serde_json::from_str(value).unwrap();
    }
    tree
}

/// The paths of everything that can be set. A list and an empty map count as one value.
fn paths(value: &Value, prefix: &str, found: &mut Vec<String>) {
    match value.as_object().filter(|map| !map.is_empty()) {
        Some(map) => {
            for (key, value) in map {
                let path = if prefix.is_empty() {
                    key.clone()
                } else {
                    format!("{prefix}.{key}")
                };
                paths(value, &path, found);
            }
        }
        None => found.push(prefix.to_owned()),
    }
}

#[test]
fn the_default_values_ask_for_nothing_that_is_not_built() {
    match parsed(&rendered(&json!({}))) {
        Parsed::Act(_, not_built) => assert_eq!(not_built, []),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_value_reaches_its_flag_and_the_operator_reads_it() {
    let chart = rendered(&every_value());
    for (path, _, argument) in REACHES {
        assert!(
            chart.args.iter().any(|found| found == argument),
            "{path}: {:#?}",
            chart.args
        );
    }
    assert!(
        matches!(parsed(&chart), Parsed::Act(..)),
        "{:#?}",
        parsed(&chart)
    );
}

#[test]
fn no_value_is_forgotten_by_the_table_or_by_the_documentation() {
    let text = std::fs::read_to_string(folder().join("values.yaml")).unwrap();
    let documentation = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let mut all = Vec::new();
    paths(&objects(&text).unwrap()[0], "", &mut all);
    assert!(all.len() > 100, "{all:?}");
    for path in all {
        let lies_in = |group: &str| path == group || path.starts_with(&format!("{group}."));
        let listed = REACHES.iter().any(|(reaches, _, _)| path == *reaches);
        let known = listed || NO_FLAGS.iter().any(|group| lies_in(group));
        assert!(
            known,
            "{path} neither reaches a flag nor is known to need none"
        );
        // Three groups have the form of Kubernetes' own objects and are documented as a whole.
        let part = path.split('.').next().unwrap_or_default();
        let shown = if IN_KUBERNETES_FORM.contains(&part) {
            part
        } else {
            path.as_str()
        };
        assert!(
            documentation.contains(&format!("| `{shown}` |")),
            "{path} is not documented"
        );
    }
}

#[test]
fn no_flag_is_forgotten_by_the_chart() {
    let chart = rendered(&every_value());
    let passed: BTreeSet<&str> = chart
        .args
        .iter()
        .filter_map(|argument| argument.strip_prefix("--")?.split_once('='))
        .map(|(flag, _)| flag)
        .collect();
    assert_eq!(
        passed.len(),
        chart.args.len(),
        "a flag is passed twice: {:#?}",
        chart.args
    );
    let command = flags::command();
    let known: BTreeSet<&str> = command
        .get_arguments()
        .filter(|argument| argument.get_help_heading().is_some())
        .filter_map(|argument| argument.get_long())
        .filter(|flag| !NOT_FROM_THE_CHART.contains(flag))
        .collect();
    assert_eq!(passed, known);
}

#[test]
fn a_provider_that_is_not_the_own_cluster_gets_no_right_to_its_identity() {
    let list = |values: Value| {
        let flag = "--in-cluster-kube-providers=";
        let args = rendered(&values).args;
        args.iter()
            .find_map(|argument| argument.strip_prefix(flag))
            .unwrap()
            .to_owned()
    };
    assert_eq!(list(json!({})), "gitops-reverser/local");
    assert_eq!(list(json!({"kubeProvider": {"create": false}})), "");
    assert_eq!(
        list(json!({"kubeProvider": {"secretRef": {"name": "kubeconfig"}}})),
        ""
    );
}

#[test]
fn the_redis_password_comes_from_a_secret_and_is_no_argument() {
    let auth = json!({"existingSecret": "valkey-auth", "existingSecretKey": "word"});
    let values = json!({"queue": {"redis": {"addr": "valkey:6379", "auth": auth}}});
    let chart = rendered(&values);
    let deployment = chart.object("Deployment", "gitops-reverser").unwrap();
    let env = &deployment["spec"]["template"]["spec"]["containers"][0]["env"];
    let entry = env
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["name"] == "REDIS_PASSWORD");
    let source = &entry.unwrap()["valueFrom"]["secretKeyRef"];
    assert_eq!(*source, json!({"name": "valkey-auth", "key": "word"}));
    assert!(
        !chart
            .args
            .iter()
            .any(|argument| argument.contains("valkey-auth"))
    );
}
