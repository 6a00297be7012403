//! The extension API: its certificate, its server, its registration, and the views behind it.

use std::sync::Arc;
use std::time::Duration;

use aggregation::answer::VersionInfo;
use aggregation::authorize::{CachedAccess, CachedTokens};
use aggregation::kube_access::KubeAccess;
use aggregation::server::{ApiServer, Limits, Parts};
use aggregation::tls::ServingCertificate;
use aggregation::trust::{TrustPublisher, watch::watch_config_map};
use anyhow::anyhow;
use apiservice::{
    ApiName, CertificateKeeper, CertificateReader, RegistrationKeeper, RegistrationMode,
    RegistrationPlan, SecretName, ServiceName, ServingNames, TlsMode, cluster_role_owner,
};
use board::DirectoryReader;
use jiff::Timestamp;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use views::Projector;

use crate::build_info;
use crate::flags::api::Registration;
use crate::servers::{self, Check, Readiness};
use crate::settings::ApiSettings;

/// The name under which the operator writes its APIService.
const FIELD_MANAGER: &str = "gitops-reverser";
/// How long the removal of the registration may take when the process stops.
const REMOVAL: Duration = Duration::from_secs(10);
/// How long the API is served after it was deregistered, for callers who still hold the old routes.
const GRACE: Duration = Duration::from_millis(500);

/// What runs for the extension API. Nothing does when it is off.
pub(super) struct ExtensionApi {
    tasks: JoinSet<anyhow::Result<()>>,
    registration: Option<Registered>,
    leaving: CancellationToken,
    stop: CancellationToken,
}

/// The registration and the task that keeps it true.
struct Registered {
    keeper: Arc<RegistrationKeeper>,
    keeping: CancellationToken,
    task: tokio::task::JoinSet<()>,
}

impl ExtensionApi {
    /// Starts serving and, once everything is ready, registers.
    pub(super) async fn start(
        settings: &ApiSettings,
        client: kube::Client,
        directory: DirectoryReader,
        readiness: &Readiness,
    ) -> anyhow::Result<Self> {
        let mut api = Self {
            tasks: JoinSet::new(),
            registration: None,
            leaving: CancellationToken::new(),
            stop: CancellationToken::new(),
        };
        let Some(bound) = servers::bind("api", &settings.listen).await? else {
            return Ok(api);
        };
        let service = ServiceName {
            namespace: settings.service.namespace.to_string(),
            name: settings.service.name.to_string(),
            port: settings.service.port,
        };
        let certificate = Arc::new(ServingCertificate::new());
        let issued = api.keep_certificate(client.clone(), &service, Arc::clone(&certificate));
        let server = api.server(client.clone(), directory, certificate);
        let (listener, stop) = (bound.into_listener(), api.stop.clone());
        let serving = Arc::clone(&server);
        api.tasks
            .spawn(async move { Ok(serving.serve(listener, stop).await?) });
        let ready = readiness.clone();
        api.spawn_until_stop(|stop| report_readiness(server, ready, stop));
        api.register(settings, client, service, issued, readiness)
            .await;
        Ok(api)
    }

    /// Issues the serving certificate, keeps it fresh and hands it to the listener.
    fn keep_certificate(
        &mut self,
        client: kube::Client,
        service: &ServiceName,
        certificate: Arc<ServingCertificate>,
    ) -> CertificateReader {
        let secret = SecretName {
            namespace: service.namespace.clone(),
            name: format!("{}-api-tls", service.name),
        };
        let names = ServingNames::of(service, "cluster.local");
        let keeper = CertificateKeeper::new(client, secret, TlsMode::SelfManaged(names));
        let reader = keeper.reader();
        self.spawn_until_stop(|stop| keeper.run(stop));
        let installing = reader.clone();
        self.spawn_until_stop(|stop| install_certificates(installing, certificate, stop));
        reader
    }

    /// Prepares the server, and keeps what it shows and whom it trusts up to date.
    fn server(
        &mut self,
        client: kube::Client,
        directory: DirectoryReader,
        certificate: Arc<ServingCertificate>,
    ) -> Arc<ApiServer> {
        let (projector, views) = Projector::new(directory, Timestamp::now);
        self.spawn_until_stop(|stop| projector.run(stop));
        let trust = TrustPublisher::new();
        let access = KubeAccess::new(client.clone());
        let server = ApiServer::new(Parts {
            group: views::group(&views),
            version: VersionInfo {
                version: build_info::VERSION.into(),
                source_revision: build_info::COMMIT.into(),
            },
            certificate,
            trust: trust.reader(),
            access: Arc::new(CachedAccess::new(access.clone())),
            tokens: Arc::new(CachedTokens::new(access)),
            leaving: self.leaving.clone(),
            limits: Limits::STANDARD,
        });
        self.spawn_until_stop(|stop| async move { watch_config_map(client, &trust, stop).await });
        Arc::new(server)
    }

    async fn register(
        &mut self,
        settings: &ApiSettings,
        client: kube::Client,
        service: ServiceName,
        certificate: CertificateReader,
        readiness: &Readiness,
    ) {
        let mode = match settings.registration {
            Registration::None => return,
            Registration::Operator => RegistrationMode::SelfManaged,
            Registration::Chart => RegistrationMode::Chart,
        };
        let owner = match &settings.owner {
            None => None,
            Some(name) => cluster_role_owner(client.clone(), name.as_str())
                .await
                .inspect_err(|error| {
                    tracing::warn!(%error, cluster_role = %name, "the APIService will have no owner");
                })
                .ok()
                .flatten(),
        };
        let api = ApiName {
            group: views::GROUP.into(),
            version: views::VERSION.into(),
        };
        let plan = RegistrationPlan {
            api,
            service,
            mode,
            owner,
        };
        let keeper = Arc::new(RegistrationKeeper::new(client, plan, FIELD_MANAGER));
        let keeping = CancellationToken::new();
        let mut task = JoinSet::new();
        let (keep, cancel, ready) = (Arc::clone(&keeper), keeping.clone(), readiness.clone());
        task.spawn(async move {
            // An APIService that is not served yet would hold up every namespace deletion of the cluster.
            if cancel
                .run_until_cancelled(until_ready(&ready))
                .await
                .is_some()
            {
                keep.run(certificate, cancel).await;
            }
        });
        self.registration = Some(Registered {
            keeper,
            keeping,
            task,
        });
    }

    /// Returns once a part has ended that should have gone on.
    pub(super) async fn failed(&mut self) -> anyhow::Error {
        match self.tasks.join_next().await {
            None => std::future::pending().await,
            Some(Ok(Ok(()))) => anyhow!("a part of the extension API ended on its own"),
            Some(Ok(Err(error))) => error.context("the extension API failed"),
            Some(Err(error)) => anyhow!(error).context("a part of the extension API broke down"),
        }
    }

    /// Takes the registration away while everything is still served.
    pub(super) async fn deregister(&mut self) {
        self.leaving.cancel();
        let Some(mut registered) = self.registration.take() else {
            return;
        };
        registered.keeping.cancel();
        while registered.task.join_next().await.is_some() {}
        if let Err(error) = registered.keeper.remove(REMOVAL).await {
            tracing::error!(%error, "the APIService could not be removed; delete it by hand, because without \
                 a server behind it no namespace of the cluster can be deleted");
        }
        tokio::time::sleep(GRACE).await;
    }

    /// Stops serving.
    pub(super) async fn stop(&mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }

    fn spawn_until_stop<F>(&mut self, task: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let work = task(self.stop.clone());
        self.tasks.spawn(async move {
            work.await;
            Ok(())
        });
    }
}

/// Hands each new certificate to the listener.
async fn install_certificates(
    mut reader: CertificateReader,
    certificate: Arc<ServingCertificate>,
    stop: CancellationToken,
) {
    loop {
        let serving = reader.borrow_and_update().clone();
        if let Some(serving) = serving
            && let Err(error) = certificate.install(&serving.chain, serving.key.expose())
        {
            tracing::error!(%error, "the serving certificate cannot be used; the one before stays");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            changed = reader.changed() => if changed.is_err() { stop.cancelled().await; return },
        }
    }
}

/// Copies the server's readiness to the health port.
async fn report_readiness(server: Arc<ApiServer>, readiness: Readiness, stop: CancellationToken) {
    while !server.is_ready() {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
        }
    }
    for check in [
        Check::TlsLoaded,
        Check::AuthConfigLoadedOnce,
        Check::Discovery,
    ] {
        readiness.meet(check);
    }
    tracing::info!("the extension API is ready");
    stop.cancelled().await;
}

async fn until_ready(readiness: &Readiness) {
    let checks = [
        Check::TlsLoaded,
        Check::AuthConfigLoadedOnce,
        Check::Discovery,
    ];
    while !checks.iter().all(|check| readiness.is_met(*check)) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
