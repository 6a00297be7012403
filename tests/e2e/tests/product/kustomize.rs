//! An overlay over a base elsewhere in the repository: what people do with kubectl lands in the inputs that supply
//! it, so that the pushed folder always builds to what is live.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use e2e::stage::{FOLDER, Setting, Stage, TEAM};
use serde_json::{Value, json};
use testkit::{ControlPlane, Controllers, wait};

use crate::commits::next_change;

const OVERLAY: &str = "\
# The shop in team-a.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: team-a
resources:
  - ../base   # of all teams
  - banner.yaml
labels:
  - pairs: {example.com/team: a}
images:
  - name: registry.example.com/web
    newTag: \"1.26\"   # bumped by hand
replicas:
  - {name: web, count: 2}
patches:
  - path: limits.yaml
generatorOptions:
  disableNameSuffixHash: true
configMapGenerator:
  - name: settings
    envs: [settings.env]
";

const LIMITS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: web
          resources: {limits: {memory: 64Mi}}
";

const BANNER: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: banner
data:
  text: welcome   # shown to everybody
";

const DEPLOYMENT: &str = "\
# The shop's front. Ask #web before you touch it.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: registry.example.com/web:1.25
          args: [serve]
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: {app: web}
  ports:
    - port: 80
";

const RULE: &str = r#"
apiVersion: configbutler.ai/v1alpha3
kind: WatchRule
metadata: {name: workloads, namespace: team-a}
spec:
  gitTargetRef: {name: demo}
  rules:
    - {apiGroups: [""], resources: [services]}
    - {apiGroups: [apps], resources: [deployments]}
"#;

/// A cluster to which an overlay was applied, with everything of it mirrored.
struct Shop {
    stage: Stage,
    checkout: PathBuf,
    commits: usize,
}

impl Shop {
    fn open() -> Self {
        let base = "resources: [deployment.yaml, service.yaml]\n";
        let seed = [
            ("clusters/base/kustomization.yaml", base),
            ("clusters/base/deployment.yaml", DEPLOYMENT),
            ("clusters/base/service.yaml", SERVICE),
            ("clusters/demo/kustomization.yaml", OVERLAY),
            ("clusters/demo/limits.yaml", LIMITS),
            ("clusters/demo/banner.yaml", BANNER),
            (
                "clusters/demo/settings.env",
                "# of the shop\nLOG=info\nMODE=fast\n",
            ),
        ];
        let seed = seed.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let setting = Setting {
            control_plane: ControlPlane::builder().controllers(Controllers::ClusterAndWorkloads),
            seed: seed.to_vec(),
            ..Setting::default()
        };
        let control_plane = setting.control_plane.clone().start().unwrap();
        let stage = Stage::prepare(&setting, control_plane).unwrap();
        stage.apply_mirror(&setting).unwrap();
        let checkout = stage.repository.path().with_extension("checkout");
        stage.admin.apply(RULE).unwrap();
        let mut shop = Self {
            stage,
            checkout,
            commits: 1,
        };
        let folder = shop.check_out();
        let folder = folder.to_str().unwrap();
        shop.stage.admin.run(&["apply", "-k", folder]).unwrap();
        shop.stage.start_operator().unwrap();
        shop.stage.wait_current("demo").unwrap();
        let commits = shop.stage.repository.commits("main").unwrap().len();
        assert_eq!(commits, 1, "adopting a folder that agrees makes no commit");
        shop.agrees();
        let read = [
            "get",
            "gittarget",
            "demo",
            "-o",
            "jsonpath={.status.placement}",
        ];
        let placement: Value = serde_json::from_str(&shop.kubectl(&read)).unwrap();
        assert_eq!(placement["mode"], "KustomizeOverlay");
        assert_eq!(placement["readOnlyBases"], json!(["../base"]));
        shop
    }

    /// Writes the pushed files out, and returns the mirrored folder of them.
    fn check_out(&self) -> PathBuf {
        if self.checkout.exists() {
            std::fs::remove_dir_all(&self.checkout).unwrap();
        }
        for path in self.stage.repository.files("main").unwrap() {
            let text = self.stage.repository.file("main", &path).unwrap();
            let at = self.checkout.join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        }
        self.checkout.join(FOLDER)
    }

    fn kubectl(&self, arguments: &[&str]) -> String {
        let arguments = [arguments, &["-n", TEAM]].concat();
        self.stage.admin.run(&arguments).unwrap()
    }

    /// Proves that the pushed folder builds to exactly what is live.
    fn agrees(&self) {
        let folder = self.check_out();
        let folder = folder.to_str().unwrap();
        let diff = self.stage.admin.output(&["diff", "-k", folder]).unwrap();
        let shown = String::from_utf8_lossy(&diff.stdout);
        assert!(diff.status.success() && shown.is_empty(), "{shown}");
        let built = self.stage.admin.run(&["kustomize", folder]).unwrap();
        assert_eq!(self.live(), named(&built), "the objects of the folder");
    }

    /// Returns what people made in the cluster.
    fn live(&self) -> BTreeSet<String> {
        let arguments = ["get", "configmaps,services,deployments", "-n", TEAM];
        let list = self.stage.admin.json(&arguments).unwrap();
        let items = list["items"].as_array().unwrap().iter();
        let names = items.map(title);
        names
            .filter(|name| name != "ConfigMap kube-root-ca.crt")
            .collect()
    }

    /// Expects one commit with exactly these lines, after which the folder builds to what is live.
    fn commit_shows(&mut self, expected: &[&str]) {
        let changed = next_change(&self.stage, self.commits);
        assert_eq!(changed, expected);
        self.commits += 1;
        self.agrees();
    }

    /// Waits until the target says all of these words.
    fn target_says(&self, words: &[&str]) -> String {
        let read = [
            "get",
            "gittarget",
            "demo",
            "-o",
            "jsonpath={.status.conditions[*].message}",
        ];
        let said = wait::until("the target to say why", wait::GENEROUS, || {
            let said = self.kubectl(&read);
            words.iter().all(|word| said.contains(word)).then_some(said)
        });
        said.unwrap_or_else(|error| panic!("{error}: {}", self.stage.explain("demo")))
    }
}

fn named(built: &str) -> BTreeSet<String> {
    let documents = manifests_of(built);
    documents.iter().map(title).collect()
}

fn manifests_of(text: &str) -> Vec<Value> {
    let documents = text.split("\n---\n");
    documents
        .map(|document| serde_yaml::from_str(document).unwrap())
        .collect()
}

fn title(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap();
    format!("{} {}", text("/kind"), text("/metadata/name"))
}

#[test]
fn what_people_do_with_an_overlay_lands_in_the_inputs_that_supply_it() {
    let mut shop = Shop::open();
    let image = "web=registry.example.com/web:1.27";
    shop.kubectl(&["set", "image", "deployment/web", image]);
    shop.commit_shows(&[
        "-    newTag: \"1.26\"   # bumped by hand",
        "+    newTag: \"1.27\"   # bumped by hand",
    ]);
    shop.kubectl(&["scale", "deployment", "web", "--replicas=3"]);
    shop.commit_shows(&["-  - {name: web, count: 2}", "+  - {name: web, count: 3}"]);

    let patch = |args: &str| {
        format!(
            r#"[{{"op":"replace","path":"/spec/template/spec/containers/0/args","value":["{args}"]}}]"#
        )
    };
    shop.kubectl(&[
        "patch",
        "deployment",
        "web",
        "--type=json",
        "-p",
        &patch("debug"),
    ]);
    let line = 1 + DEPLOYMENT
        .lines()
        .position(|line| line.contains("args"))
        .unwrap();
    let owner = format!("clusters/base/deployment.yaml:{line}");
    let said = shop.target_says(&[&owner, "deployments.apps team-a/web"]);
    assert!(said.contains("write-escapes-scope"), "{said}");
    shop.kubectl(&[
        "patch",
        "deployment",
        "web",
        "--type=json",
        "-p",
        &patch("serve"),
    ]);
    let commits = shop.stage.repository.commits("main").unwrap().len();
    assert_eq!(commits, shop.commits, "a refused edit makes no commit");

    let debug = r#"{"data":{"LOG":"debug"}}"#;
    shop.kubectl(&[
        "patch",
        "configmap",
        "settings",
        "--type=merge",
        "-p",
        debug,
    ]);
    shop.commit_shows(&["-LOG=info", "+LOG=debug"]);
    shop.kubectl(&["delete", "service", "web"]);
    let changed = next_change(&shop.stage, shop.commits);
    shop.commits += 1;
    assert!(
        changed.contains(&"+$patch: delete".to_owned()),
        "{changed:#?}"
    );
    assert!(
        changed.iter().all(|line| line.starts_with('+')),
        "{changed:#?}"
    );
    shop.agrees();
    let fresh = ["create", "configmap", "fresh", "--from-literal=key=value"];
    let fresh = [&fresh[..], &["--dry-run=client", "-o", "json", "-n", TEAM]].concat();
    let mut fresh = shop.stage.admin.json(&fresh).unwrap();
    fresh["metadata"]["labels"] = json!({"example.com/team": "a"});
    shop.stage.admin.apply(&fresh.to_string()).unwrap();
    let changed = next_change(&shop.stage, shop.commits);
    shop.commits += 1;
    assert!(
        changed.contains(&"+  - fresh.yaml".to_owned()),
        "{changed:#?}"
    );
    shop.agrees();
    // What was taken out comes back, and so do the files.
    let service = SERVICE.replace(
        "name: web",
        "name: web\n  namespace: team-a\n  labels: {example.com/team: a}",
    );
    shop.stage.admin.apply(&service).unwrap();
    let changed = next_change(&shop.stage, shop.commits);
    shop.commits += 1;
    assert!(
        changed.iter().all(|line| line.starts_with('-')),
        "{changed:#?}"
    );
    shop.agrees();
    let base = |path: &Path| std::fs::read_to_string(path).unwrap();
    let bases = shop.checkout.join("clusters/base");
    assert_eq!(base(&bases.join("deployment.yaml")), DEPLOYMENT);
    assert_eq!(base(&bases.join("service.yaml")), SERVICE);
}
