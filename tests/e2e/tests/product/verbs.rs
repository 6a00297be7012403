//! Every verb of kubectl that people change a cluster with, on files that people wrote: each commit shows only
//! what the person changed.

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::json;
use testkit::{ControlPlane, Controllers, wait};

use crate::commits::next_change;

const WEB: &str = "\
# The shop's front. Ask #web before you touch it.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: team-a
  labels: {app: web}   # everything selects by this
spec:
  replicas: 2   # enough for the night
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example.com/web:1.25   # bumped by hand
        args:
            - -c
            - /etc/web
        env:
          - {name: MODE, value: \"on\"}
        resources:
          requests: {cpu: \"0.5\", memory: 1024Mi}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: team-a
spec:
  selector: {app: web}
  ports:
  - port: 80   # plain; TLS ends at the ingress
    targetPort: 8080
";

const DATABASE: &str = "\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: team-a}
spec:
  serviceName: db
  replicas: 3
  selector:
    matchLabels:
      app: db
  template:
    metadata:
      labels:
        app: db
    spec:
      containers:
        - name: db
          image: registry.example.com/db:16
          # The volume is gone with the Pod, on purpose.
          volumeMounts:
            - name: data
              mountPath: /data
      volumes:
        - name: data
          emptyDir: {}
";

const NIGHTLY: &str = "\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
  namespace: team-a
spec:
  schedule: \"0 3 * * *\"   # after the backup
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: run, image: registry.example.com/run:1}]
";

const ACCESS: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: team-a}
rules:
- apiGroups: ['']
  resources: [configmaps]
  # Never more than reading.
  verbs:
  - get
  - list
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: team-a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {kind: User, name: carol, apiGroup: rbac.authorization.k8s.io}
";

const EDGE: &str = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  namespace: team-a
spec:
  rules:
  - host: shop.example.com   # the old name still redirects
    http:
      paths:
      - path: /
        pathType: Prefix
        backend: {service: {name: web, port: {number: 80}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: worker, namespace: team-a}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker}
  minReplicas: 1
  maxReplicas: 5
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: team-a}
spec:
  # No replicas: the autoscaler decides.
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      containers: [{name: worker, image: registry.example.com/worker:3}]
";

const GADGET: &str = "\
apiVersion: example.com/v1
kind: Gadget
metadata: {name: one, namespace: team-a}
spec:
  id: 9007199254740993   # larger than a double holds
  ratio: 1.0
  parts:
  - {kind: wheel, count: 4}
";

const GADGETS: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              x-kubernetes-preserve-unknown-fields: true
              properties: {size: {type: string, default: medium}}
";

const RULE: &str = r#"
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {name: everything, namespace: team-a}
spec:
  gitTargetRef: {name: demo}
  rules:
    - {apiGroups: [""], resources: [services]}
    - {apiGroups: [""], resources: [secrets], objectSelector: {matchLabels: {mirrored: "true"}}}
    - {apiGroups: [apps], resources: [deployments, statefulsets]}
    - {apiGroups: [batch], resources: [cronjobs]}
    - {apiGroups: [autoscaling], resources: [horizontalpodautoscalers]}
    - {apiGroups: [networking.k8s.io], resources: [ingresses]}
    - {apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings]}
    - {apiGroups: [example.com], resources: [gadgets]}
"#;

/// A cluster whose objects were applied from files that are in Git, with everything mirrored.
struct Shop {
    stage: Stage,
    commits: usize,
}

impl Shop {
    fn open() -> Self {
        let files = [
            ("apps/web.yaml", WEB),
            ("apps/db.yaml", DATABASE),
            ("ops/nightly.yml", NIGHTLY),
            ("ops/access.yaml", ACCESS),
            ("edge.yaml", EDGE),
            ("gadgets/one.yaml", GADGET),
        ];
        let seed = files.map(|(path, text)| (format!("{FOLDER}/{path}"), text.to_owned()));
        let setting = Setting {
            control_plane: ControlPlane::builder().controllers(Controllers::ClusterAndWorkloads),
            seed: seed.to_vec(),
            ..Setting::default()
        };
        let control_plane = setting.control_plane.clone().start().unwrap();
        let mut stage = Stage::prepare(&setting, control_plane).unwrap();
        stage.apply_mirror(&setting).unwrap();
        stage.admin.apply(GADGETS).unwrap();
        let established = [
            "wait",
            "crd/gadgets.example.com",
            "--for=condition=Established",
        ];
        stage.admin.run(&established).unwrap();
        for (_, text) in files {
            stage.admin.apply(text).unwrap();
        }
        stage.admin.apply(RULE).unwrap();
        stage.start_operator().unwrap();
        stage.wait_current("demo").unwrap();
        let commits = stage.repository.commits("main").unwrap().len();
        assert_eq!(commits, 1, "adopting files that agree makes no commit");
        Self { stage, commits }
    }

    fn kubectl(&self, arguments: &[&str]) {
        let arguments = [arguments, &["-n", TEAM]].concat();
        self.stage.admin.run(&arguments).unwrap();
    }

    /// Expects one commit with exactly these lines.
    fn commit_shows(&mut self, expected: &[&str]) {
        let changed = next_change(&self.stage, self.commits);
        assert_eq!(changed, expected);
        self.commits += 1;
    }

    fn edit(&self, object: &str, sed: &str) {
        let mut edit = self.stage.admin.command();
        let output = edit
            .args(["edit", object, "-n", TEAM])
            .env("KUBE_EDITOR", format!("sed -i {sed}"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn what_people_do_with_workloads_shows_only_what_they_changed() {
    let mut shop = Shop::open();
    let image = "web=registry.example.com/web:1.26";
    shop.kubectl(&["set", "image", "deployment/web", image]);
    shop.commit_shows(&[
        "-        image: registry.example.com/web:1.25   # bumped by hand",
        "+        image: registry.example.com/web:1.26   # bumped by hand",
    ]);
    shop.kubectl(&["scale", "deployment", "web", "--replicas=4"]);
    shop.commit_shows(&[
        "-  replicas: 2   # enough for the night",
        "+  replicas: 4   # enough for the night",
    ]);
    shop.kubectl(&["label", "deployment", "web", "tier=front"]);
    shop.commit_shows(&[
        "-  labels: {app: web}   # everything selects by this",
        "+  labels: {app: web, tier: front}   # everything selects by this",
    ]);
    shop.kubectl(&["label", "deployment", "web", "tier-"]);
    shop.commit_shows(&[
        "-  labels: {app: web, tier: front}   # everything selects by this",
        "+  labels: {app: web}   # everything selects by this",
    ]);
    shop.kubectl(&["annotate", "service", "web", "example.com/owner=web-team"]);
    shop.commit_shows(&["+  annotations:", "+    example.com/owner: web-team"]);
    shop.kubectl(&["set", "env", "deployment/web", "MODE=off"]);
    shop.commit_shows(&[
        "-          - {name: MODE, value: \"on\"}",
        "+          - {name: MODE, value: \"off\"}",
    ]);
    shop.kubectl(&["set", "env", "deployment/web", "LEVEL=debug"]);
    shop.commit_shows(&["+          - {name: LEVEL, value: debug}"]);
    shop.kubectl(&[
        "set",
        "resources",
        "deployment/web",
        "--requests=cpu=750m,memory=1Gi",
    ]);
    shop.commit_shows(&[
        "-          requests: {cpu: \"0.5\", memory: 1024Mi}",
        "+          requests: {cpu: \"750m\", memory: 1024Mi}",
    ]);
    shop.kubectl(&["scale", "statefulset", "db", "--replicas=0"]);
    shop.commit_shows(&["-  replicas: 3", "+  replicas: 0"]);
    let least = r#"{"spec":{"minReplicas":2}}"#;
    shop.kubectl(&["patch", "hpa", "worker", "--type=merge", "-p", least]);
    shop.commit_shows(&["-  minReplicas: 1", "+  minReplicas: 2"]);
    let scaled = [
        "get",
        "deployment",
        "worker",
        "-n",
        TEAM,
        "-o",
        "jsonpath={.spec.replicas}",
    ];
    wait::until("the autoscaler to scale", wait::GENEROUS, || {
        (shop.stage.admin.run(&scaled).ok()? == "2").then_some(())
    })
    .unwrap();
    // Whatever the autoscaler did would be in this commit.
    shop.kubectl(&["label", "deployment", "worker", "tier=back"]);
    shop.commit_shows(&[
        "-metadata: {name: worker, namespace: team-a}",
        "+metadata: {name: worker, namespace: team-a, labels: {tier: back}}",
    ]);
}

#[test]
fn what_people_do_with_everything_else_shows_only_what_they_changed() {
    let mut shop = Shop::open();
    shop.edit("ingress/shop", "s/shop.example.com/store.example.com/");
    shop.commit_shows(&[
        "-  - host: shop.example.com   # the old name still redirects",
        "+  - host: store.example.com   # the old name still redirects",
    ]);
    let later = r#"{"spec":{"schedule":"30 3 * * *"}}"#;
    shop.kubectl(&["patch", "cronjob", "nightly", "--type=merge", "-p", later]);
    shop.commit_shows(&[
        "-  schedule: \"0 3 * * *\"   # after the backup",
        "+  schedule: \"30 3 * * *\"   # after the backup",
    ]);
    let watch = r#"[{"op":"add","path":"/rules/0/verbs/-","value":"watch"}]"#;
    shop.kubectl(&["patch", "role", "reader", "--type=json", "-p", watch]);
    shop.commit_shows(&["+  - watch"]);
    let subject = ["set", "subject", "rolebinding/reader", "--user=dave"];
    shop.kubectl(&subject);
    // The API server fills the group in, here as in what nobody wrote down.
    shop.commit_shows(&["+- {kind: User, name: dave}"]);
    let port = r#"{"spec":{"ports":[{"port":80,"name":"http","targetPort":8080}]}}"#;
    shop.kubectl(&["patch", "service", "web", "-p", port]);
    shop.commit_shows(&["+    name: http"]);
    let count = r#"{"spec":{"parts":[{"kind":"wheel","count":3}]}}"#;
    shop.kubectl(&["patch", "gadget", "one", "--type=merge", "-p", count]);
    shop.commit_shows(&[
        "-  - {kind: wheel, count: 4}",
        "+  - {kind: wheel, count: 3}",
    ]);
    shop.kubectl(&["delete", "role", "reader"]);
    let changed = next_change(&shop.stage, shop.commits);
    shop.commits += 1;
    assert!(
        changed.iter().all(|line| line.starts_with('-')),
        "{changed:#?}"
    );
    let (_, binding) = ACCESS.split_once("---\n").unwrap();
    let left = shop.stage.wait_file("ops/access.yaml", |_| true).unwrap();
    assert_eq!(left, format!("{binding}- {{kind: User, name: dave}}\n"));
    shop.kubectl(&["delete", "cronjob", "nightly"]);
    let nightly = NIGHTLY.replace("0 3 *", "30 3 *");
    let removed: Vec<_> = nightly.lines().map(|line| format!("-{line}")).collect();
    shop.commit_shows(&removed.iter().map(String::as_str).collect::<Vec<_>>());

    let age = json!({"enabled": true, "recipients": {"extractFromSecret": true, "generateWhenMissing": true}});
    let spec = json!({"encryption": {"secretRef": {"name": "age"}, "age": age}});
    let patch = json!({"spec": spec}).to_string();
    shop.kubectl(&["patch", "gittarget", "demo", "--type=merge", "-p", &patch]);
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "login", "namespace": TEAM, "labels": {"mirrored": "true"}},
        "stringData": {"user": "shop", "password": "one"},
    });
    shop.stage.admin.apply(&secret.to_string()).unwrap();
    let sealed = next_change(&shop.stage, shop.commits);
    shop.commits += 1;
    assert!(
        sealed.iter().all(|line| line.starts_with('+')),
        "{sealed:#?}"
    );
    let password = r#"{"stringData":{"password":"two"}}"#;
    shop.kubectl(&["patch", "secret", "login", "-p", password]);
    let changed = next_change(&shop.stage, shop.commits);
    let mut keys: Vec<_> = changed
        .iter()
        .filter_map(|line| line.strip_prefix('+')?.trim_start().split_once(':'))
        .map(|(key, _)| key)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let expected = ["gitops_reverser", "lastmodified", "mac", "password"];
    assert_eq!(keys, expected, "{changed:#?}");
}
