//! An installation with the operator running: it has the rights that it needs, and it goes without a trace.

use e2e::chart::{folder, outside_the_cluster, overlay, render};
use e2e::helm::{Helm, Release};
use e2e::operator;
use serde_json::json;
use testkit::{ControlPlane, Controllers, Kubectl, Process, Workbench, ports, wait};

const API_SERVICE: &str = "v1alpha1.views.configbutler.ai";

struct Installation {
    operator: Process,
    helm: Helm,
    release: Release,
    control_plane: ControlPlane,
    // Last, because the process writes into it.
    _workbench: Workbench,
}

impl Installation {
    /// Installs with the narrowest rights, starts the operator, and waits until its API is reachable.
    fn running() -> Self {
        let control_plane = ControlPlane::builder()
            .controllers(Controllers::Cluster)
            .start()
            .unwrap();
        let (helm, release) = (Helm::new().unwrap(), Release::default());
        let kubectl = control_plane.as_admin().unwrap();
        kubectl
            .run(&["create", "namespace", &release.namespace])
            .unwrap();
        let selected = json!([{"apiGroups": [""], "resources": ["configmaps"]}]);
        let narrow = json!({"rbac": {"watchTypes": {"mode": "selected", "selected": selected}}});
        let values = overlay(outside_the_cluster(ports::free().unwrap()), &narrow);
        helm.install(control_plane.admin(), &folder(), &release, &values, &[])
            .unwrap();
        let chart = render(&helm, &release, &values).unwrap();
        let account =
            control_plane.service_account(&release.namespace, &chart.service_account, None);
        let workbench = Workbench::new("lifetime").unwrap();
        let mut operator = operator::start(
            &operator::program().unwrap(),
            "operator",
            &workbench,
            &chart,
            &account.unwrap(),
            &[],
        )
        .unwrap();
        wait::until_ok("the extension API is reachable", wait::GENEROUS, || {
            operator.check_running()?;
            let service = kubectl.json(&["get", "apiservice", API_SERVICE])?;
            let conditions = service["status"]["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let available = conditions
                .iter()
                .any(|it| it["type"] == "Available" && it["status"] == "True");
            anyhow::ensure!(available, "{conditions:?}");
            Ok(())
        })
        .unwrap();
        Self {
            operator,
            helm,
            release,
            control_plane,
            _workbench: workbench,
        }
    }

    fn admin(&self) -> Kubectl {
        self.control_plane.as_admin().unwrap()
    }

    fn uninstall(&self) {
        self.helm
            .uninstall(self.control_plane.admin(), &self.release)
            .unwrap();
    }

    /// Deletes the release's namespace, which works only while no API is registered and unreachable.
    fn delete_namespace(&self) {
        let arguments = [
            "delete",
            "namespace",
            &self.release.namespace,
            "--timeout=120s",
        ];
        self.admin().run(&arguments).unwrap();
    }
}

#[test]
fn it_needs_no_right_that_it_lacks_and_takes_its_registration_along() {
    let mut installation = Installation::running();
    let kubectl = installation.admin();
    kubectl
        .run(&["get", "branchstatuses", "--all-namespaces"])
        .unwrap();
    let provider = [
        "get",
        "kubeprovider",
        "local",
        "--namespace",
        "gitops-reverser",
    ];
    wait::until_ok("the chart's provider is ready", wait::GENEROUS, || {
        let text = kubectl.run(&provider)?;
        anyhow::ensure!(text.contains("True"), "{text}");
        Ok(())
    })
    .unwrap();
    let ended = installation.operator.terminate(wait::GENEROUS).unwrap();
    let log = installation.operator.log();
    assert!(ended.success(), "{ended}: {log}");
    assert!(!log.to_lowercase().contains("forbidden"), "{log}");
    assert!(!log.contains("\"level\":\"ERROR\""), "{log}");
    let refusal = kubectl
        .refused(&["get", "apiservice", API_SERVICE])
        .unwrap();
    assert!(refusal.contains("NotFound"), "{refusal}");
    installation.uninstall();
    installation.delete_namespace();
}

#[test]
fn the_registration_of_a_killed_operator_goes_with_the_release() {
    let mut installation = Installation::running();
    let kubectl = installation.admin();
    installation.operator.kill();
    kubectl.run(&["get", "apiservice", API_SERVICE]).unwrap();
    installation.uninstall();
    wait::until_ok("the registration is collected", wait::GENEROUS, || {
        let refusal = kubectl.refused(&["get", "apiservice", API_SERVICE])?;
        anyhow::ensure!(refusal.contains("NotFound"), "{refusal}");
        Ok(())
    })
    .unwrap();
    installation.delete_namespace();
}
