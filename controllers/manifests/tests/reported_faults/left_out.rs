//! What is left out of Git, and what is not.

use manifests::{Decision, Mode, PruneMode};
use model::{LeftOut, TypeId};

use crate::support::{Bed, decision, id};

/// Plans an object into an empty folder and returns its document.
fn new_document(live: &str) -> String {
    let mut bed = Bed::new();
    bed.mirror(live);
    let [path] = &bed.paths()[..] else {
        panic!("{:?}", bed.paths());
    };
    bed.text(path).to_owned()
}

fn assert_lacks(text: &str, words: &[&str]) {
    for word in words {
        assert!(!text.contains(word), "{word} in\n{text}");
    }
}

/// A Service as a server returns it; the second argument is what a person applied of `spec`, as managed fields.
fn service(spec: &str, applied: &str) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: demo
  uid: 8a1c
  resourceVersion: '71'
  creationTimestamp: '2026-11-30T00:00:00Z'
  managedFields:
  - manager: kubectl-client-side-apply
    operation: Update
    fieldsV1: {{\"f:spec\": {applied}}}
spec: {spec}
status: {{loadBalancer: {{}}}}
"
    )
}

#[test]
fn b055_addresses_that_the_server_gave_stay_out_and_a_headless_service_stays_headless() {
    let given = "{type: ClusterIP, clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ports: [{port: 80, protocol: TCP, targetPort: 80}], selector: {app: web}}";
    let text = new_document(&service(
        given,
        r#"{"f:selector": {}, "f:ports": {}, "f:type": {}}"#,
    ));
    assert_lacks(
        &text,
        &[
            "10.96",
            "clusterIP:",
            "clusterIPs",
            "uid",
            "resourceVersion",
            "Timestamp",
            "managed",
            "status",
        ],
    );
    let headless =
        "{clusterIP: None, clusterIPs: [None], ports: [{port: 80}], selector: {app: web}}";
    let text = new_document(&service(
        headless,
        r#"{"f:clusterIP": {}, "f:selector": {}}"#,
    ));
    assert!(text.contains("  clusterIP: None\n"), "{text}");
}

#[test]
fn b055_a_node_port_stays_where_a_person_chose_it() {
    let spec = "{type: NodePort, clusterIP: 10.96.0.8, clusterIPs: [10.96.0.8], ports: [{name: a, port: 80, protocol: TCP, nodePort: 30080}, {name: b, port: 81, protocol: TCP, nodePort: 31777}]}";
    let applied = r#"{"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {"f:nodePort": {}}, "k:{\"port\":81,\"protocol\":\"TCP\"}": {"f:port": {}}}}"#;
    let text = new_document(&service(spec, applied));
    assert!(text.contains("nodePort: 30080\n"), "{text}");
    assert_lacks(&text, &["31777", "10.96"]);
}

#[test]
fn b055_a_volume_name_that_the_cluster_bound_and_a_generated_selector_stay_out() {
    let claim = "\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: demo
  annotations: {pv.kubernetes.io/bind-completed: 'yes', pv.kubernetes.io/bound-by-controller: 'yes', volume.kubernetes.io/storage-provisioner: disk.test}
  finalizers: [kubernetes.io/pvc-protection]
  managedFields:
  - {manager: kubectl, operation: Update, fieldsV1: {'f:spec': {'f:resources': {}}}}
  - {manager: kube-controller-manager, operation: Update, fieldsV1: {'f:spec': {'f:volumeName': {}}}}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  volumeMode: Filesystem
  volumeName: pvc-8a1c
status: {phase: Bound}
";
    let text = new_document(claim);
    assert_lacks(
        &text,
        &[
            "volumeName",
            "pvc-8a1c",
            "bind",
            "provisioner",
            "finalizers",
            "phase",
        ],
    );
    assert!(text.contains("storage: 1Gi\n"), "{text}");

    let job = "\
apiVersion: batch/v1
kind: Job
metadata:
  name: once
  namespace: demo
  uid: 8a1c
  labels: {app: once, controller-uid: 8a1c, batch.kubernetes.io/controller-uid: 8a1c, job-name: once}
  annotations: {batch.kubernetes.io/job-tracking: ''}
spec:
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: 8a1c}}
  template:
    metadata:
      creationTimestamp: null
      labels: {app: once, batch.kubernetes.io/controller-uid: 8a1c, batch.kubernetes.io/job-name: once, controller-uid: 8a1c, job-name: once}
    spec:
      restartPolicy: Never
      containers: [{name: once, image: 'once:1'}]
";
    let text = new_document(job);
    assert_lacks(
        &text,
        &[
            "8a1c",
            "selector",
            "job-name",
            "job-tracking",
            "creationTimestamp",
        ],
    );
    assert!(text.contains("app: once\n"), "{text}");
}

#[test]
fn b055_an_empty_creation_time_in_a_template_is_neither_added_nor_taken_away() {
    let live = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: demo}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      creationTimestamp: null
      labels: {app: web}
    spec: {containers: [{name: web, image: 'web:1'}]}
";
    assert_lacks(&new_document(live), &["creationTimestamp"]);
    let mut bed = Bed::new().with("apps/web.yaml", live);
    assert_eq!(bed.mirror(live), Vec::<String>::new());
    let without = live.replace("      creationTimestamp: null\n", "");
    assert_eq!(bed.mirror(&without), Vec::<String>::new());
    let mut bed = Bed::new().with("apps/web.yaml", &without);
    assert_eq!(bed.mirror(live), Vec::<String>::new());
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[test]
fn b056_what_was_last_applied_never_reaches_git() {
    let live = |value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: conf\n  namespace: demo\n  annotations:\n    {LAST_APPLIED}: '{{\"data\":{{\"p\":\"ZEBRA-77\"}}}}'\ndata:\n  a: '{value}'\n"
        )
    };
    let mut bed = Bed::new();
    bed.mirror(&live("1"));
    bed.mirror(&live("2"));
    for path in bed.paths() {
        assert_lacks(bed.text(&path), &["ZEBRA", "last-applied", "annotations"]);
    }
    let intent = bed.upsert(&live("3"));
    let outcome = bed.plan(&[intent], Mode::Apply);
    let told = format!("{outcome:?}{}", outcome.diff(bed.files.tree()).unwrap());
    assert_lacks(&told, &["ZEBRA"]);
}

#[test]
fn b056_what_was_last_applied_to_a_secret_is_in_no_text_at_all() {
    let key = sealing::NewIdentity::generate();
    let live = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  namespace: demo\n  annotations:\n    {LAST_APPLIED}: '{{\"data\":{{\"p\":\"WkVCUkEtNzc=\"}},\"stringData\":{{\"p\":\"ZEBRA-77\"}}}}'\ndata:\n  p: WkVCUkEtNzc=\n"
    );
    let secret = ["ZEBRA-77", "WkVCUkEtNzc", "last-applied"];
    for encryption in [None, Some(crate::support::encryption(&key))] {
        let mut bed = Bed::new();
        bed.encryption = encryption;
        let intent = bed.upsert(&live);
        let outcome = bed.plan(std::slice::from_ref(&intent), Mode::Apply);
        let told = format!("{outcome:?}{}", outcome.diff(bed.files.tree()).unwrap());
        assert_lacks(&told, &secret);
        bed.apply(&[intent]);
        for path in bed.paths() {
            assert_lacks(bed.text(&path), &secret);
        }
    }
}

#[test]
fn b057_the_stamps_of_tools_are_neither_written_nor_taken_out_of_a_document() {
    let live = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
  labels: {app: web, kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system, app.kubernetes.io/instance: shop}
  annotations: {'argocd.argoproj.io/tracking-id': 'x:apps/Deployment:demo/web', kcp.io/cluster: root, deployment.kubernetes.io/revision: '4', argocd.argoproj.io/sync-wave: '2'}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'web:1'}]}
";
    let text = new_document(live);
    assert_lacks(&text, &["fluxcd", "tracking", "kcp.io", "revision"]);
    for kept in [
        "app.kubernetes.io/instance: shop\n",
        "argocd.argoproj.io/sync-wave: \"2\"\n",
    ] {
        assert!(text.contains(kept), "{text}");
    }
    // A stamp alone is no change, and one that a person committed stays the person's.
    let stamped = text.replace(
        "  annotations:\n",
        "  annotations:\n    kcp.io/cluster: mine\n",
    );
    let mut bed = Bed::new().with("apps/web.yaml", &stamped);
    assert_eq!(bed.mirror(live), Vec::<String>::new());
    let lines = bed.mirror(&live.replace("web:1", "web:2"));
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[test]
fn b057_a_restart_is_written_as_what_a_person_asked_of_the_template() {
    let live = |annotations: &str| {
        format!(
            "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
{annotations}      labels:
        app: web
    spec:
      containers:
        - image: web:1
          name: web
"
        )
    };
    let mut bed = Bed::new().with("apps/web.yaml", &live(""));
    let restarted =
        "      annotations:\n        kubectl.kubernetes.io/restartedAt: '2026-11-30T03:00:00Z'\n";
    assert_eq!(
        bed.mirror(&live(restarted)),
        [
            "+      annotations:",
            "+        kubectl.kubernetes.io/restartedAt: \"2026-11-30T03:00:00Z\""
        ]
    );
}

#[test]
fn b059_replicas_that_an_autoscaler_sets_make_no_commit() {
    let text = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: demo}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'web:1'}]}
";
    let scaled = |manager: &str, replicas: u32| {
        text.replace(
            "namespace: demo}",
            &format!("namespace: demo, managedFields: [{{manager: {manager}, operation: Update, subresource: scale, fieldsV1: {{'f:spec': {{'f:replicas': {{}}}}}}}}]}}"),
        )
        .replace("replicas: 2", &format!("replicas: {replicas}"))
    };
    let mut bed = Bed::new().with("apps/web.yaml", text);
    for replicas in [2, 9, 5, 3, 7] {
        let lines = bed.mirror(&scaled("kube-controller-manager", replicas));
        assert_eq!(lines, Vec::<String>::new());
    }
    assert_eq!(
        bed.mirror(&scaled("kube-controller-manager", 9).replace("web:1", "web:2")),
        [
            "-    spec: {containers: [{name: web, image: 'web:1'}]}",
            "+    spec: {containers: [{name: web, image: 'web:2'}]}"
        ]
    );
    let lines = bed.mirror(&scaled("kubectl", 4).replace("web:1", "web:2"));
    assert_eq!(lines, ["-  replicas: 2", "+  replicas: 4"]);
}

#[test]
fn b059_records_of_leader_elections_are_left_out() {
    let bed = Bed::new();
    let leader = "{apiVersion: v1, kind: ConfigMap, metadata: {name: lock, namespace: demo, annotations: {control-plane.alpha.kubernetes.io/leader: '{}'}}}";
    assert!(matches!(
        bed.left_out(leader),
        LeftOut::ClusterGenerated { .. }
    ));
}

#[test]
fn b060_what_git_already_implies_makes_no_commit() {
    let file = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: web:1
        ports:
        - containerPort: 80
";
    let live = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
  generation: 1
  annotations: {deployment.kubernetes.io/revision: '1'}
  labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}
spec:
  progressDeadlineSeconds: 600
  replicas: 1
  revisionHistoryLimit: 10
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}, type: RollingUpdate}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - image: web:1
        imagePullPolicy: IfNotPresent
        name: web
        ports: [{containerPort: 80, protocol: TCP}]
        resources: {}
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
status: {replicas: 1}
";
    let mut bed = Bed::new().with("apps/web.yaml", file);
    for _ in 0..3 {
        assert_eq!(bed.mirror(live), Vec::<String>::new());
    }
    assert_eq!(
        bed.mirror(&live.replace("image: web:1", "image: web:2")),
        ["-        image: web:1", "+        image: web:2"]
    );
}

#[test]
fn b061_what_belongs_to_another_object_is_left_out_with_its_owner() {
    let bed = Bed::new();
    for (kind, api_version, owner) in [
        ("ReplicaSet", "apps/v1", "Deployment"),
        ("Pod", "v1", "ReplicaSet"),
        ("Job", "batch/v1", "CronJob"),
        ("ConfigMap", "v1", "Widget"),
    ] {
        let live = format!(
            "{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: web-1, namespace: demo, ownerReferences: [{{apiVersion: x/v1, kind: {owner}, name: web, uid: u, controller: true}}]}}}}"
        );
        let LeftOut::ControllerOwned { owner: named } = bed.left_out(&live) else {
            panic!("{kind}");
        };
        assert_eq!(named, format!("{owner}/web"));
    }
    // An owner that does not control leaves the object the person's.
    let owned = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: demo, ownerReferences: [{apiVersion: v1, kind: Namespace, name: demo, uid: u}]}}";
    assert_lacks(&new_document(owned), &["owner"]);
}

#[test]
fn b061_documents_of_derived_objects_stay_and_the_root_ca_goes() {
    let document = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: demo\n")
    };
    let mut bed = Bed::new()
        .with("apps/derived.yaml", &document("derived"))
        .with("apps/ca.yaml", &document("kube-root-ca.crt"))
        .with("apps/gone.yaml", &document("gone"));
    bed.policy.prune = PruneMode::Always;
    let mut protected = Vec::new();
    for (name, owner) in [
        (
            "derived",
            "ownerReferences: [{kind: Widget, name: w, controller: true}], ",
        ),
        ("kube-root-ca.crt", ""),
    ] {
        let live = format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{{owner}name: {name}, namespace: demo}}}}"
        );
        if bed.left_out(&live).protects_document() {
            protected.push(id("", "configmaps", name));
        }
    }
    let sweep = bed.sweep(TypeId::new("", "configmaps"), &[], protected);
    bed.apply(&[sweep]);
    assert_eq!(bed.paths(), ["apps/derived.yaml"]);
    let event = manifests::Intent::Remove {
        id: id("", "configmaps", "unknown"),
    };
    assert_eq!(*decision(&bed.apply(&[event])), Decision::NoChange);
}
