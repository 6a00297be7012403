//! Certificate authorities and certificates, made for each test.

use std::collections::BTreeMap;

use aggregation::TrustConfig;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

pub(crate) struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) chain_pem: String,
    pub(crate) key_pem: String,
}

impl Identity {
    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        use rustls_pki_types::pem::PemObject;
        PrivateKeyDer::from_pem_slice(self.key_pem.as_bytes()).unwrap()
    }
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name = subject(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(crate) fn der(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    pub(crate) fn client(&self, name: &str, organizations: &[&str]) -> Identity {
        self.issue(name, organizations, ExtendedKeyUsagePurpose::ClientAuth)
    }

    pub(crate) fn server(&self, name: &str) -> Identity {
        self.issue(name, &[], ExtendedKeyUsagePurpose::ServerAuth)
    }

    fn issue(
        &self,
        name: &str,
        organizations: &[&str],
        usage: ExtendedKeyUsagePurpose,
    ) -> Identity {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.distinguished_name = subject(name, organizations);
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Identity {
            chain: vec![certificate.der().clone()],
            chain_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        }
    }
}

fn subject(name: &str, organizations: &[&str]) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    // The encoder keeps one value of each type, so several organizations are one certificate's
    // business that these tests leave to the cluster.
    for organization in organizations {
        subject.push(DnType::OrganizationName, *organization);
    }
    subject
}

/// The data of the authentication `ConfigMap`, as the cluster writes it.
pub(crate) fn trust_data(
    front_proxies: &[&Authority],
    clients: Option<&Authority>,
) -> BTreeMap<String, String> {
    let bundle: String = front_proxies
        .iter()
        .map(|authority| authority.pem())
        .collect();
    let mut data = BTreeMap::from(
        [
            ("requestheader-client-ca-file", bundle.as_str()),
            ("requestheader-allowed-names", r#"["front-proxy-client"]"#),
            (
                "requestheader-username-headers",
                r#"["X-Remote-User","X-Second-User"]"#,
            ),
            ("requestheader-group-headers", r#"["X-Remote-Group"]"#),
            (
                "requestheader-extra-headers-prefix",
                r#"["X-Remote-Extra-"]"#,
            ),
            ("requestheader-uid-headers", r#"["X-Remote-Uid"]"#),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    if let Some(clients) = clients {
        data.insert("client-ca-file".to_owned(), clients.pem());
    }
    data
}

pub(crate) fn trust(front_proxies: &[&Authority], clients: Option<&Authority>) -> TrustConfig {
    TrustConfig::parse(&trust_data(front_proxies, clients)).unwrap()
}
