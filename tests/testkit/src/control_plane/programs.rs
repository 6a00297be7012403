//! The programs of a control plane: their flags, their ports, and when they are ready.

use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Controllers, Pki};
use crate::kubeconfig::{Endpoint, Kubeconfig, certificate_user};
use crate::kubectl::Kubectl;
use crate::ports;
use crate::tools::{Tool, Tools};
use crate::wait;
use crate::workbench::{Process, Workbench};

/// How often a program may find that somebody else took its port in the meantime.
const ATTEMPTS: usize = 5;

/// The store.
#[derive(Debug)]
pub(super) struct Etcd {
    process: Process,
    port: u16,
    url: String,
}

impl Etcd {
    pub(super) fn start(tools: &Tools, workbench: &Workbench) -> Result<Self> {
        with_a_free_port(|port| {
            let url = format!("http://127.0.0.1:{port}");
            let peer_url = format!("http://127.0.0.1:{}", ports::free()?);
            let mut command = Command::new(tools.path(Tool::Etcd)?);
            command
                .arg(format!("--data-dir={}", workbench.path("etcd").display()))
                .arg(format!("--listen-client-urls={url}"))
                .arg(format!("--advertise-client-urls={url}"))
                .arg(format!("--listen-peer-urls={peer_url}"))
                .arg(format!("--initial-advertise-peer-urls={peer_url}"))
                .arg(format!("--initial-cluster=default={peer_url}"))
                // A test that outlives a power failure does not exist.
                .arg("--unsafe-no-fsync")
                .arg("--log-level=warn");
            let mut process = workbench.start("etcd", &mut command)?;
            let ready = wait_ready("etcd", &mut process, || {
                TcpStream::connect((Ipv4Addr::LOCALHOST, port))
                    .map(drop)
                    .context("it is silent")
            })?;
            Ok(ready.map(|()| Self { process, port, url }))
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

/// The API server, with what is needed to start it again.
#[derive(Debug)]
pub(super) struct ApiServer {
    process: Process,
    flags: Vec<String>,
    port: u16,
    url: String,
    admin: Kubeconfig,
}

impl ApiServer {
    pub(super) fn start(
        tools: &Tools,
        workbench: &Workbench,
        pki: &Pki,
        etcd: &Etcd,
        more_flags: Vec<String>,
    ) -> Result<Self> {
        let mut flags = api_server_flags(pki, etcd);
        flags.extend(more_flags);
        let keys = pki.issue_admin()?;
        let authority = pki.serving.certificate();
        with_a_free_port(|port| {
            let url = format!("https://127.0.0.1:{port}");
            let endpoint = Endpoint {
                url: &url,
                authority: Some(&authority),
            };
            let path = workbench.path("admin.kubeconfig");
            let admin = Kubeconfig::write(path, &endpoint, certificate_user(&keys))?;
            let started = start_api_server(tools, workbench, &flags, port, &admin)?;
            Ok(started.map(|process| Self {
                process,
                flags: flags.clone(),
                port,
                url,
                admin,
            }))
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn admin(&self) -> &Kubeconfig {
        &self.admin
    }

    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn stop(&mut self) {
        self.process.kill();
    }

    pub(super) fn restart(&mut self, tools: &Tools, workbench: &Workbench) -> Result<()> {
        self.process.kill();
        match start_api_server(tools, workbench, &self.flags, self.port, &self.admin)? {
            Some(process) => self.process = process,
            None => bail!("somebody else listens at {} now", self.url),
        }
        Ok(())
    }
}

fn api_server_flags(pki: &Pki, etcd: &Etcd) -> Vec<String> {
    vec![
        format!("--etcd-servers={}", etcd.url),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        // There is no address of a master that Pods could need.
        "--endpoint-reconciler-type=none".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        format!("--tls-cert-file={}", pki.certificate_path.display()),
        format!("--tls-private-key-file={}", pki.key_path.display()),
        format!("--client-ca-file={}", pki.client_path.display()),
        format!(
            "--service-account-key-file={}",
            pki.service_account_public_key_path.display()
        ),
        format!(
            "--service-account-signing-key-file={}",
            pki.service_account_key_path.display()
        ),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        // Pods would have to wait for a token that no controller makes.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--allow-privileged=true".to_owned(),
    ]
}

/// Starts the API server and waits for it; returns nothing when its port was taken.
fn start_api_server(
    tools: &Tools,
    workbench: &Workbench,
    flags: &[String],
    port: u16,
    admin: &Kubeconfig,
) -> Result<Option<Process>> {
    let kubectl = Kubectl::new(tools.path(Tool::Kubectl)?, admin, workbench.path("home"));
    let mut command = Command::new(tools.path(Tool::KubeApiserver)?);
    command.args(flags).arg(format!("--secure-port={port}"));
    let mut process = workbench.start("kube-apiserver", &mut command)?;
    let ready = wait_ready("the API server", &mut process, || {
        // kubectl costs more than a look at the port, and both of us want the same two cores.
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).context("it is silent")?;
        kubectl.get_raw("/readyz").map(drop)
    })?;
    Ok(ready.map(|()| process))
}

/// Starts the controller manager, which is ready whenever it has done its work.
pub(super) fn start_controllers(
    tools: &Tools,
    workbench: &Workbench,
    pki: &Pki,
    kubeconfig: &Kubeconfig,
    controllers: Controllers,
) -> Result<Process> {
    let mut names = vec![
        "namespace",
        "garbagecollector",
        "resourcequota",
        "serviceaccount",
        "serviceaccount-token",
        "endpointslice",
        "endpoint",
        "clusterrole-aggregation",
    ];
    if controllers == Controllers::ClusterAndWorkloads {
        names.extend([
            "deployment",
            "replicaset",
            "statefulset",
            "daemonset",
            "job",
            "cronjob",
            "horizontalpodautoscaling",
            "root-ca-cert-publisher",
        ]);
    }
    let mut command = Command::new(tools.path(Tool::KubeControllerManager)?);
    command
        .arg(format!("--kubeconfig={}", kubeconfig.path().display()))
        .arg(format!("--controllers={}", names.join(",")))
        .arg(format!("--root-ca-file={}", pki.serving_path.display()))
        .arg(format!(
            "--service-account-private-key-file={}",
            pki.service_account_key_path.display()
        ))
        .arg("--use-service-account-credentials")
        .arg("--leader-elect=false")
        .arg("--secure-port=0");
    workbench.start("kube-controller-manager", &mut command)
}

/// Starts a program at a chosen port, and chooses again while somebody else was faster.
fn with_a_free_port<T>(mut start: impl FnMut(u16) -> Result<Option<T>>) -> Result<T> {
    for _ in 0..ATTEMPTS {
        if let Some(started) = start(ports::free()?)? {
            return Ok(started);
        }
    }
    bail!("{ATTEMPTS} times in a row another process took the chosen port")
}

/// Waits until the probe succeeds; returns nothing when the program ended because of its port.
fn wait_ready(
    name: &str,
    process: &mut Process,
    mut probe: impl FnMut() -> Result<()>,
) -> Result<Option<()>> {
    let probed = wait::until_ok(format!("{name} to be ready"), wait::GENEROUS, || {
        // An ended program is an answer too, so that nobody waits for it.
        match process.ended()? {
            Some(_) => Ok(false),
            None => probe().map(|()| true),
        }
    });
    match probed {
        Ok(true) => Ok(Some(())),
        // The programs have no exit code for it, so their words have to do.
        Ok(false) if process.log().contains("address already in use") => Ok(None),
        Ok(false) => process.check_running().map(|()| None),
        // The folder goes away with this error, so the words have to come along.
        Err(error) => Err(error)
            .with_context(|| format!("the log of {name} ends with:\n{}", process.log_tail())),
    }
}
