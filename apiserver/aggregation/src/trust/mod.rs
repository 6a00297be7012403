//! Whom the server believes: certificate authorities and header names, read from the cluster's
//! authentication `ConfigMap` and replaced whenever it changes.

pub mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderName;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};

/// What the `ConfigMap` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustConfig {
    /// Authorities of client certificates that name a user directly; often there are none.
    pub clients: Authorities,
    /// The front proxy; `None` when the cluster has no aggregation layer.
    pub front_proxy: Option<FrontProxyTrust>,
}

/// How the front proxy proves itself, and where it writes whom it speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontProxyTrust {
    /// Authorities of the proxy's client certificate. Several while they are being replaced.
    pub authorities: Authorities,
    /// Common names the certificate may have; empty allows any that the authorities signed.
    pub allowed_names: Vec<String>,
    /// Headers with the user name; the first that has a value counts.
    pub username_headers: Vec<HeaderName>,
    /// Headers with the user's id. Never assumed: an older front proxy would let a caller set it.
    pub uid_headers: Vec<HeaderName>,
    /// Headers with groups; all values count.
    pub group_headers: Vec<HeaderName>,
    /// Prefixes, in lower case, of headers with further facts.
    pub extra_prefixes: Vec<String>,
}

impl FrontProxyTrust {
    /// Tells whether a header speaks about identity.
    pub fn is_identity_header(&self, name: &HeaderName) -> bool {
        [
            &self.username_headers,
            &self.uid_headers,
            &self.group_headers,
        ]
        .iter()
        .any(|headers| headers.contains(name))
            || self
                .extra_prefixes
                .iter()
                .any(|prefix| name.as_str().starts_with(&**prefix))
    }
}

/// Certificate authorities that certificates are checked against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authorities(Vec<TrustAnchor<'static>>);

impl Authorities {
    /// Checks that a chain leads to one of the authorities, is valid now, and may identify a client.
    pub fn verify(&self, chain: &[CertificateDer<'_>], now: UnixTime) -> Result<(), webpki::Error> {
        let (leaf, intermediates) = chain.split_first().ok_or(webpki::Error::UnknownIssuer)?;
        webpki::EndEntityCert::try_from(leaf)?.verify_for_usage(
            webpki::ALL_VERIFICATION_ALGS,
            &self.0,
            intermediates,
            now,
            webpki::KeyUsage::client_auth(),
            None,
            None,
        )?;
        Ok(())
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn parse(key: &'static str, pem: &str) -> Result<Self, TrustError> {
        let mut anchors = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|source| TrustError::Pem { key, source })?;
            let anchor = webpki::anchor_from_trusted_cert(&certificate)
                .map_err(|source| TrustError::Certificate { key, source })?;
            anchors.push(anchor.to_owned());
        }
        if anchors.is_empty() {
            Err(TrustError::NoCertificate { key })
        } else {
            Ok(Self(anchors))
        }
    }
}

/// The `ConfigMap` holds something that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A bundle is not PEM.
    #[error("key {key} of the authentication ConfigMap is not a PEM bundle")]
    Pem {
        /// The key.
        key: &'static str,
        /// What the parser says.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// A bundle holds something that is no usable certificate.
    #[error("key {key} of the authentication ConfigMap holds an unusable certificate")]
    Certificate {
        /// The key.
        key: &'static str,
        /// What the parser says.
        #[source]
        source: webpki::Error,
    },
    /// A bundle is present and empty.
    #[error("key {key} of the authentication ConfigMap holds no certificate")]
    NoCertificate {
        /// The key.
        key: &'static str,
    },
    /// A list is not a JSON array of strings.
    #[error("key {key} of the authentication ConfigMap is not a JSON array of strings")]
    List {
        /// The key.
        key: &'static str,
        /// What the parser says.
        #[source]
        source: serde_json::Error,
    },
    /// A list names something that cannot be a header.
    #[error("key {key} of the authentication ConfigMap names {name:?}, which is no header name")]
    HeaderName {
        /// The key.
        key: &'static str,
        /// The name.
        name: String,
    },
    /// There is a front proxy authority and no header to read the user from.
    #[error("the authentication ConfigMap has a front proxy authority and names no user header")]
    NoUserHeader,
}

impl TrustConfig {
    /// Reads the `ConfigMap`'s data. Both authorities may be absent; a list that is absent is empty.
    pub fn parse(data: &BTreeMap<String, String>) -> Result<Self, TrustError> {
        let bundle = |key: &'static str| {
            let text = data.get(key).filter(|text| !text.trim().is_empty());
            text.map(|text| Authorities::parse(key, text)).transpose()
        };
        let front_proxy = match bundle("requestheader-client-ca-file")? {
            None => None,
            Some(authorities) => Some(front_proxy(data, authorities)?),
        };
        Ok(Self {
            clients: bundle("client-ca-file")?.unwrap_or_default(),
            front_proxy,
        })
    }
}

fn front_proxy(
    data: &BTreeMap<String, String>,
    authorities: Authorities,
) -> Result<FrontProxyTrust, TrustError> {
    let list = |key: &'static str| match data.get(key).filter(|text| !text.trim().is_empty()) {
        None => Ok(Vec::new()),
        Some(text) => serde_json::from_str::<Vec<String>>(text)
            .map_err(|source| TrustError::List { key, source }),
    };
    let headers = |key: &'static str| -> Result<Vec<HeaderName>, TrustError> {
        let as_header = |name: String| {
            HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| TrustError::HeaderName { key, name })
        };
        list(key)?.into_iter().map(as_header).collect()
    };
    let username_headers = headers("requestheader-username-headers")?;
    if username_headers.is_empty() {
        return Err(TrustError::NoUserHeader);
    }
    let prefixes = list("requestheader-extra-headers-prefix")?;
    Ok(FrontProxyTrust {
        authorities,
        allowed_names: list("requestheader-allowed-names")?,
        username_headers,
        uid_headers: headers("requestheader-uid-headers")?,
        group_headers: headers("requestheader-group-headers")?,
        extra_prefixes: prefixes
            .into_iter()
            .map(|prefix| prefix.to_ascii_lowercase())
            .filter(|prefix| !prefix.is_empty())
            .collect(),
    })
}

/// What is believed at the moment.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The configuration; `None` before it was read and after it was deleted.
    pub config: Option<Arc<TrustConfig>>,
    /// Whether it was ever read, which readiness waits for.
    pub loaded_once: bool,
}

/// Publishes what is believed.
#[derive(Debug)]
pub struct TrustPublisher(tokio::sync::watch::Sender<Trust>);

impl Default for TrustPublisher {
    fn default() -> Self {
        Self::new()
    }
}

impl TrustPublisher {
    /// Returns a publisher that believes nobody yet.
    pub fn new() -> Self {
        Self(tokio::sync::watch::Sender::new(Trust::default()))
    }

    /// Returns a reader.
    pub fn reader(&self) -> TrustReader {
        TrustReader(self.0.subscribe())
    }

    /// Believes a new configuration.
    pub fn set(&self, config: TrustConfig) {
        self.0.send_replace(Trust {
            config: Some(Arc::new(config)),
            loaded_once: true,
        });
    }

    /// Believes nobody any more.
    pub fn revoke(&self) {
        self.0.send_modify(|trust| trust.config = None);
    }
}

/// Reads what is believed.
#[derive(Debug, Clone)]
pub struct TrustReader(tokio::sync::watch::Receiver<Trust>);

impl TrustReader {
    /// Returns what is believed now.
    pub fn now(&self) -> Trust {
        self.0.borrow().clone()
    }
}
