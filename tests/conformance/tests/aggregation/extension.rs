//! Runs the demo group in this process, the way a real operator would: with the rights of its own
//! account, its own certificate, and a registration that it makes and removes.

use std::sync::Arc;
use std::time::Duration;

use aggregation::answer::VersionInfo;
use aggregation::authorize::{CachedAccess, CachedTokens};
use aggregation::server::Parts;
use aggregation::trust::watch::watch_config_map;
use aggregation::{
    ApiGroup, ApiServer, KubeAccess, Limits, Revisions, ServingCertificate, SnapshotPublisher,
    TrustPublisher,
};
use anyhow::{Context, Result, ensure};
use apiservice::{
    ApiName, CertificateKeeper, RegistrationKeeper, RegistrationMode, RegistrationPlan, SecretName,
    ServiceName, ServingNames, TlsMode, cluster_role_owner,
};
use jiff::Timestamp;
use serde_json::Value;
use testkit::pki::CertifiedKey;
use testkit::{ControlPlane, Kubeconfig, Kubectl, wait};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::widgets::{GROUP, VERSION, Widgets, widget};

pub(crate) const NAMESPACE: &str = "demo-system";
pub(crate) const APISERVICE: &str = "v1.example.test";
pub(crate) const WIDGETS: &str = "/apis/example.test/v1/widgets";
const ROLE: &str = "widget-server";

/// What the account needs, and nothing else.
const RIGHTS: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: demo-system}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: widget-server, namespace: demo-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: widget-server}
rules:
- {apiGroups: [apiregistration.k8s.io], resources: [apiservices], verbs: [create]}
- apiGroups: [apiregistration.k8s.io]
  resources: [apiservices]
  resourceNames: [v1.example.test]
  verbs: [get, watch, patch, delete]
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [widget-server], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: widget-server}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: widget-server}
subjects: [{kind: ServiceAccount, name: widget-server, namespace: demo-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: widget-server-delegator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: 'system:auth-delegator'}
subjects: [{kind: ServiceAccount, name: widget-server, namespace: demo-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: widget-server-auth-reader, namespace: kube-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: extension-apiserver-authentication-reader}
subjects: [{kind: ServiceAccount, name: widget-server, namespace: demo-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: widget-server, namespace: demo-system}
rules:
- {apiGroups: [''], resources: [secrets], verbs: [create]}
- {apiGroups: [''], resources: [secrets], resourceNames: [widget-serving], verbs: [get, update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: widget-server, namespace: demo-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: widget-server}
subjects: [{kind: ServiceAccount, name: widget-server, namespace: demo-system}]
";

/// The running demo server.
pub(crate) struct Extension {
    pub(crate) admin: Kubectl,
    pub(crate) port: u16,
    pub(crate) ca_bundle: String,
    runtime: Runtime,
    tasks: JoinSet<()>,
    registration: Arc<RegistrationKeeper>,
    registering: CancellationToken,
    leaving: CancellationToken,
    stop: CancellationToken,
    background: CancellationToken,
}

impl Extension {
    /// Installs the rights and the Service, starts the server, and registers it. Returns once the
    /// aggregation layer calls it available.
    pub(crate) fn start(control_plane: &ControlPlane) -> Result<Self> {
        Self::start_registered_by(control_plane, RegistrationMode::SelfManaged)
    }

    /// Starts the server beside a registration that a chart rendered and a certificate that is only
    /// read, from the Secret that an earlier start left.
    pub(crate) fn start_under_a_chart(control_plane: &ControlPlane) -> Result<Self> {
        Self::start_registered_by(control_plane, RegistrationMode::Chart)
    }

    fn start_registered_by(control_plane: &ControlPlane, mode: RegistrationMode) -> Result<Self> {
        let admin = control_plane.as_admin()?;
        admin.apply(RIGHTS)?;
        let account = control_plane.service_account(NAMESPACE, ROLE, None)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let extension = runtime.block_on(Running::start(&admin, &account, mode))?;
        let Running {
            port,
            ca_bundle,
            tasks,
            registration,
            tokens,
        } = extension;
        let this = Self {
            admin,
            port,
            ca_bundle,
            runtime,
            tasks,
            registration,
            registering: tokens.registering,
            leaving: tokens.leaving,
            stop: tokens.stop,
            background: tokens.background,
        };
        this.admin.run(&[
            "wait",
            "--for=condition=Available",
            &format!("apiservice/{APISERVICE}"),
            "--timeout=120s",
        ])?;
        Ok(this)
    }

    /// Stops in the right order: not registered any more, then not ready, then gone.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.deregister()?;
        self.leaving.cancel();
        self.stop.cancel();
        self.background.cancel();
        let tasks = &mut self.tasks;
        self.runtime.block_on(async {
            while let Some(ended) = tasks.join_next().await {
                ended?;
            }
            Ok(())
        })
    }

    /// Ends the registration, as a stopping process does first.
    pub(crate) fn deregister(&mut self) -> Result<()> {
        self.registering.cancel();
        let within = Duration::from_secs(30);
        Ok(self.runtime.block_on(self.registration.remove(within))?)
    }

    /// Lets everything fall, as a killed process does.
    pub(crate) fn kill(self) {
        self.runtime.shutdown_background();
    }

    /// Asks the server's own port, past the aggregation layer.
    pub(crate) fn ask_directly(
        &self,
        who: Option<&CertifiedKey>,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<(u16, String)> {
        let roots = reqwest::Certificate::from_pem_bundle(self.ca_bundle.as_bytes())?;
        let mut builder = reqwest::Client::builder().tls_certs_only(roots).no_proxy();
        if let Some(who) = who {
            let pem = format!("{}{}", who.certificate, who.key);
            builder = builder.identity(reqwest::Identity::from_pem(pem.as_bytes())?);
        }
        let mut request = builder
            .build()?
            .get(format!("https://localhost:{}{path}", self.port));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.runtime.block_on(async {
            let response = request.send().await?;
            let code = response.status().as_u16();
            Ok((code, response.text().await?))
        })
    }
}

struct Tokens {
    registering: CancellationToken,
    leaving: CancellationToken,
    stop: CancellationToken,
    background: CancellationToken,
}

struct Running {
    port: u16,
    ca_bundle: String,
    tasks: JoinSet<()>,
    registration: Arc<RegistrationKeeper>,
    tokens: Tokens,
}

impl Running {
    async fn start(admin: &Kubectl, account: &Kubeconfig, mode: RegistrationMode) -> Result<Self> {
        // The first caller installs it; that somebody already did is no failure.
        let _already = rustls::crypto::ring::default_provider().install_default();
        let client = client(account).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        admin.apply(&service_manifest(port))?;
        let tls = match mode {
            RegistrationMode::SelfManaged => None,
            RegistrationMode::Chart => {
                admin.apply(&registration_manifest(port))?;
                Some(TlsMode::FromSecret)
            }
        };
        let service = ServiceName {
            namespace: NAMESPACE.to_owned(),
            name: ROLE.to_owned(),
            port,
        };
        let tokens = Tokens {
            registering: CancellationToken::new(),
            leaving: CancellationToken::new(),
            stop: CancellationToken::new(),
            background: CancellationToken::new(),
        };
        let mut tasks = JoinSet::new();

        let secret = SecretName {
            namespace: NAMESPACE.to_owned(),
            name: "widget-serving".to_owned(),
        };
        let names = ServingNames::of(&service, "cluster.local");
        let tls = tls.unwrap_or(TlsMode::SelfManaged(names));
        let keeper = CertificateKeeper::new(client.clone(), secret, tls);
        let mut certificate_reader = keeper.reader();
        tasks.spawn(keeper.run(tokens.background.clone()));

        let certificate = Arc::new(ServingCertificate::new());
        let serving = certificate_reader
            .wait_for(Option::is_some)
            .await?
            .clone()
            .context("a certificate was published")?;
        certificate.install(&serving.chain, serving.key.expose())?;

        let trust = TrustPublisher::new();
        let server = server(&client, &trust, certificate, tokens.leaving.clone());
        let (watching, cancel) = (client.clone(), tokens.background.clone());
        tasks.spawn(async move { watch_config_map(watching, &trust, cancel).await });
        let (serving_server, stop) = (server.clone(), tokens.stop.clone());
        tasks.spawn(async move { serving_server.serve(listener, stop).await.unwrap() });
        wait::until("the server to be ready", wait::GENEROUS, || {
            server.is_ready().then_some(())
        })?;

        let owner = cluster_role_owner(client.clone(), ROLE).await?;
        ensure!(
            owner.is_some(),
            "the role that owns the registration is found"
        );
        let plan = RegistrationPlan {
            api: ApiName {
                group: GROUP.to_owned(),
                version: VERSION.to_owned(),
            },
            service,
            mode,
            owner,
        };
        let registration = Arc::new(RegistrationKeeper::new(client, plan, "widget-server"));
        let (keeping, cancel) = (registration.clone(), tokens.registering.clone());
        tasks.spawn(async move { keeping.run(certificate_reader, cancel).await });
        let ca_bundle = serving
            .ca_bundle
            .clone()
            .context("a bundle was published")?;
        Ok(Self {
            port,
            ca_bundle,
            tasks,
            registration,
            tokens,
        })
    }
}

fn server(
    client: &kube::Client,
    trust: &TrustPublisher,
    certificate: Arc<ServingCertificate>,
    leaving: CancellationToken,
) -> Arc<ApiServer> {
    let now = Timestamp::now();
    let mut widgets = SnapshotPublisher::new(Arc::new(Revisions::new()), now);
    let reader = widgets.reader();
    widgets.publish(
        vec![
            widget("blue", "only", 1, "white"),
            widget("red", "first", 3, "black"),
            widget("red", "second", 2, "white"),
        ],
        now,
    );
    let access = KubeAccess::new(client.clone());
    Arc::new(ApiServer::new(Parts {
        group: ApiGroup::new(GROUP, VERSION, vec![Arc::new(Widgets::new(reader))]),
        version: VersionInfo {
            version: "0.0.1".to_owned(),
            source_revision: String::new(),
        },
        certificate,
        trust: trust.reader(),
        access: Arc::new(CachedAccess::new(access.clone())),
        tokens: Arc::new(CachedTokens::new(access)),
        leaving,
        limits: Limits::STANDARD,
    }))
}

async fn client(account: &Kubeconfig) -> Result<kube::Client> {
    let kubeconfig = kube::config::Kubeconfig::from_yaml(&account.text()?)?;
    let config = kube::Config::from_custom_kubeconfig(
        kubeconfig,
        &kube::config::KubeConfigOptions::default(),
    )
    .await?;
    Ok(kube::Client::try_from(config)?)
}

/// A Service that leads to this machine; the port is the listener's own.
fn service_manifest(port: u16) -> String {
    format!(
        "
apiVersion: v1
kind: Service
metadata: {{name: {ROLE}, namespace: {NAMESPACE}}}
spec: {{type: ExternalName, externalName: localhost, ports: [{{port: {port}}}]}}
"
    )
}

/// What a chart renders: everything but the bundle.
fn registration_manifest(port: u16) -> String {
    format!(
        "
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {{name: {APISERVICE}}}
spec:
  group: {GROUP}
  version: {VERSION}
  groupPriorityMinimum: 200
  versionPriority: 20
  service: {{name: {ROLE}, namespace: {NAMESPACE}, port: {port}}}
"
    )
}

/// Returns the registration as it is in the cluster.
pub(crate) fn registration(admin: &Kubectl) -> Result<Value> {
    admin.json(&["get", "apiservice", APISERVICE])
}
