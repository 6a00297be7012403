//! A real Kubernetes control plane on loopback: etcd, the API server and, where asked for, the
//! controllers. There is no node, so Pods never run; everything else of the API is real.
//!
//! Authorization is RBAC, the aggregation layer is on, and every control plane has authorities of
//! its own, so several run side by side. Read [`ControlPlane`] for what a test can do, `programs`
//! for how the programs are started, then `people`, `front_proxy` and `audit`.

mod audit;
mod front_proxy;
mod people;
mod programs;
mod store;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use self::audit::Audit;
pub use self::audit::AuditWebhook;
pub use self::front_proxy::{ALLOWED_NAME, FrontProxy};
pub use self::people::Person;
use self::people::Registry;
use self::programs::{ApiServer, Etcd};
use crate::kubeconfig::{Endpoint, Kubeconfig, certificate_user, token_user};
use crate::kubectl::Kubectl;
use crate::pki::{self, Authority, CertifiedKey};
use crate::tools::{Tool, Tools};
use crate::workbench::{Process, Workbench};

/// Which controllers run beside the API server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controllers {
    /// None: nobody but the test writes. The roles `view`, `edit` and `admin` allow nothing then,
    /// and a deleted namespace never goes away.
    #[default]
    None,
    /// Those of namespaces, garbage collection, quota, service accounts, endpoints and aggregated
    /// roles.
    Cluster,
    /// The same, and those of workloads.
    ClusterAndWorkloads,
}

/// Describes a control plane before it is started.
#[derive(Clone, Debug, Default)]
pub struct ControlPlaneBuilder {
    controllers: Controllers,
    audit: Audit,
    api_server_flags: Vec<String>,
    kubectl: Option<PathBuf>,
}

impl ControlPlaneBuilder {
    /// Runs controllers too.
    #[must_use]
    pub fn controllers(mut self, controllers: Controllers) -> Self {
        self.controllers = controllers;
        self
    }

    /// Records audit events in a file, for [`ControlPlane::audit_events`].
    #[must_use]
    pub fn audit_log(mut self) -> Self {
        self.audit.log = true;
        self
    }

    /// Sends audit events to a receiver.
    #[must_use]
    pub fn audit_webhook(mut self, webhook: AuditWebhook) -> Self {
        self.audit.webhook = Some(webhook);
        self
    }

    /// Replaces the audit policy, which otherwise records the metadata of every request.
    #[must_use]
    pub fn audit_policy(mut self, policy: Value) -> Self {
        self.audit.policy = Some(policy);
        self
    }

    /// Adds a flag to the API server, such as `--event-ttl=1m`.
    #[must_use]
    pub fn api_server_flag(mut self, flag: &str) -> Self {
        self.api_server_flags.push(flag.to_owned());
        self
    }

    /// Uses a kubectl that is there already, instead of the one that would be built.
    #[must_use]
    pub fn kubectl(mut self, program: PathBuf) -> Self {
        self.kubectl = Some(program);
        self
    }

    /// Builds the programs that are missing, starts them, and waits until the API server is ready.
    pub fn start(self) -> Result<ControlPlane> {
        let mut wanted = vec![Tool::Etcd, Tool::KubeApiserver];
        if self.kubectl.is_none() {
            wanted.push(Tool::Kubectl);
        }
        if self.controllers != Controllers::None {
            wanted.push(Tool::KubeControllerManager);
        }
        let mut tools = Tools::ensure(&wanted)?;
        if let Some(program) = self.kubectl {
            tools.insert(Tool::Kubectl, program);
        }
        let workbench = Workbench::new("control-plane")?;
        let registry = Registry::start()?;
        let pki = Pki::new(&workbench)?;
        let front_proxy = FrontProxy::new(&workbench)?;

        let mut flags = front_proxy.flags();
        flags.extend(self.audit.flags(&workbench)?);
        flags.extend(people::flags(&workbench, &registry)?);
        flags.extend(self.api_server_flags);

        let etcd = Etcd::start(&tools, &workbench)?;
        let api_server = ApiServer::start(&tools, &workbench, &pki, &etcd, flags)?;
        let controller_manager = match self.controllers {
            Controllers::None => None,
            wanted => {
                let user = pki
                    .client
                    .issue_client("system:kube-controller-manager", None)?;
                let kubeconfig = write_kubeconfig(
                    &workbench,
                    "controller-manager",
                    &api_server,
                    &pki,
                    certificate_user(&user),
                )?;
                Some(programs::start_controllers(
                    &tools,
                    &workbench,
                    &pki,
                    &kubeconfig,
                    wanted,
                )?)
            }
        };
        Ok(ControlPlane {
            admin: api_server.admin().clone(),
            controller_manager,
            api_server: Mutex::new(api_server),
            etcd,
            registry,
            front_proxy,
            pki,
            tools,
            workbench,
        })
    }
}

/// A running control plane, which is stopped and removed when this value is dropped.
///
/// When the drop happens because a test failed, the folder with the logs stays and its path is
/// printed; `TESTKIT_KEEP=1` keeps it always.
#[derive(Debug)]
pub struct ControlPlane {
    // The order of the fields is the order in which the programs are stopped.
    controller_manager: Option<Process>,
    api_server: Mutex<ApiServer>,
    etcd: Etcd,
    registry: Registry,
    admin: Kubeconfig,
    front_proxy: FrontProxy,
    pki: Pki,
    tools: Tools,
    workbench: Workbench,
}

impl ControlPlane {
    /// Starts a control plane without controllers and without audit.
    pub fn start() -> Result<Self> {
        Self::builder().start()
    }

    /// Describes a control plane that differs from that.
    pub fn builder() -> ControlPlaneBuilder {
        ControlPlaneBuilder::default()
    }

    /// Returns the address of the API server.
    pub fn url(&self) -> String {
        self.lock_api_server().url().to_owned()
    }

    /// Returns the authority of the API server's certificate as PEM.
    pub fn serving_authority(&self) -> String {
        self.pki.serving.certificate()
    }

    /// Returns the authority of client certificates, which can issue more of them.
    pub fn client_authority(&self) -> &Authority {
        &self.pki.client
    }

    /// Returns the files with which the API server proves itself to extension API servers.
    pub fn front_proxy(&self) -> &FrontProxy {
        &self.front_proxy
    }

    /// Returns the kubeconfig of an administrator, whom no rule refuses anything.
    pub fn admin(&self) -> &Kubeconfig {
        &self.admin
    }

    /// Writes a kubeconfig with a token that stands for the person, `extra` included.
    pub fn person(&self, person: &Person) -> Result<Kubeconfig> {
        let token = self.registry.issue(person);
        self.write_kubeconfig(person.name(), token_user(&token))
    }

    /// Writes a kubeconfig in which the administrator impersonates the person.
    pub fn impersonating(&self, person: &Person) -> Result<Kubeconfig> {
        let admin = self.pki.issue_admin()?;
        let mut user = certificate_user(&admin);
        person.impersonate(&mut user);
        self.write_kubeconfig(&format!("as-{}", person.name()), user)
    }

    /// Writes a kubeconfig with a client certificate for that user and group.
    pub fn certificate_user(&self, user: &str, group: Option<&str>) -> Result<Kubeconfig> {
        let keys = self.pki.client.issue_client(user, group)?;
        self.write_kubeconfig(&format!("certificate-{user}"), certificate_user(&keys))
    }

    /// Writes a kubeconfig with a token of a service account, which has to exist.
    pub fn service_account(
        &self,
        namespace: &str,
        name: &str,
        lifetime: Option<Duration>,
    ) -> Result<Kubeconfig> {
        let token = self.service_account_token(namespace, name, lifetime)?;
        self.write_kubeconfig(&format!("sa-{namespace}-{name}"), token_user(&token))
    }

    /// Requests a token of a service account; without a lifetime it is valid for an hour.
    pub fn service_account_token(
        &self,
        namespace: &str,
        name: &str,
        lifetime: Option<Duration>,
    ) -> Result<String> {
        let mut arguments = vec!["create".to_owned(), "token".to_owned(), name.to_owned()];
        arguments.push(format!("--namespace={namespace}"));
        if let Some(lifetime) = lifetime {
            arguments.push(format!("--duration={}s", lifetime.as_secs()));
        }
        Ok(self.as_admin()?.run(&arguments)?.trim().to_owned())
    }

    /// Returns kubectl in the hands of the user of that kubeconfig.
    pub fn kubectl(&self, kubeconfig: &Kubeconfig) -> Result<Kubectl> {
        let program = self.tools.path(Tool::Kubectl)?;
        Ok(Kubectl::new(
            program,
            kubeconfig,
            self.workbench.path("home"),
        ))
    }

    /// Returns kubectl in the hands of the administrator.
    pub fn as_admin(&self) -> Result<Kubectl> {
        self.kubectl(&self.admin)
    }

    /// Returns the audit events recorded so far, if [`ControlPlaneBuilder::audit_log`] was asked
    /// for.
    pub fn audit_events(&self) -> Result<Vec<Value>> {
        audit::read_log(&audit::log_path(&self.workbench))
    }

    /// Writes an object into the store behind the API server's back: no validation, no admission, no field
    /// managers. Reading it back shows what the API server makes of it by itself.
    ///
    /// The path is the one in the store, such as `deployments/default/web`.
    pub fn plant(&self, path: &str, object: &Value) -> Result<()> {
        store::put(
            self.etcd.port(),
            &format!("/registry/{path}"),
            object.to_string().as_bytes(),
        )
    }

    /// Kills the API server, which ends every connection to it.
    pub fn stop_api_server(&self) {
        self.lock_api_server().stop();
    }

    /// Starts the API server again, at the same address, and waits until it is ready.
    pub fn restart_api_server(&self) -> Result<()> {
        self.lock_api_server().restart(&self.tools, &self.workbench)
    }

    /// Returns the folder with the logs, the keys and the kubeconfigs.
    pub fn folder(&self) -> &Path {
        self.workbench.folder()
    }

    /// Returns the folder in which kubectl keeps what it learned, for use as a home directory.
    pub fn home(&self) -> PathBuf {
        self.workbench.path("home")
    }

    /// Returns the process ids of the programs.
    pub fn process_ids(&self) -> Vec<u32> {
        let mut ids = vec![self.etcd.id(), self.lock_api_server().id()];
        ids.extend(self.controller_manager.as_ref().map(Process::id));
        ids
    }

    fn write_kubeconfig(&self, name: &str, user: Value) -> Result<Kubeconfig> {
        write_kubeconfig(
            &self.workbench,
            name,
            &self.lock_api_server(),
            &self.pki,
            user,
        )
    }

    fn lock_api_server(&self) -> MutexGuard<'_, ApiServer> {
        self.api_server
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_kubeconfig(
    workbench: &Workbench,
    name: &str,
    api_server: &ApiServer,
    pki: &Pki,
    user: Value,
) -> Result<Kubeconfig> {
    let authority = pki.serving.certificate();
    let endpoint = Endpoint {
        url: api_server.url(),
        authority: Some(&authority),
    };
    let file_name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
    // Two people may have the same name, and one person two tokens.
    let unique = format!("{file_name}-{:08x}.kubeconfig", rand::random::<u32>());
    Kubeconfig::write(workbench.path("kubeconfigs").join(unique), &endpoint, user)
}

/// The authorities and keys of one control plane, except those of the front proxy.
#[derive(Debug)]
struct Pki {
    serving: Authority,
    serving_path: PathBuf,
    client: Authority,
    client_path: PathBuf,
    certificate_path: PathBuf,
    key_path: PathBuf,
    service_account_key_path: PathBuf,
    service_account_public_key_path: PathBuf,
}

impl Pki {
    fn new(workbench: &Workbench) -> Result<Self> {
        let serving = Authority::new("serving-ca")?;
        let client = Authority::new("client-ca")?;
        let server = serving.issue_server(&[
            "localhost",
            "127.0.0.1",
            "10.0.0.1",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
        ])?;
        let service_account_key = pki::generate_key()?;
        Ok(Self {
            serving_path: workbench.write("serving-ca.crt", serving.certificate())?,
            client_path: workbench.write("client-ca.crt", client.certificate())?,
            certificate_path: workbench.write("api-server.crt", server.certificate)?,
            key_path: workbench.write("api-server.key", server.key)?,
            service_account_key_path: workbench
                .write("service-account.key", service_account_key.serialize_pem())?,
            service_account_public_key_path: workbench
                .write("service-account.pub", service_account_key.public_key_pem())?,
            serving,
            client,
        })
    }

    fn issue_admin(&self) -> Result<CertifiedKey> {
        self.client
            .issue_client("administrator", Some("system:masters"))
            .context("cannot issue the administrator's certificate")
    }
}
