//! The TLS side of the listener: a certificate that can be replaced at any time, and clients that
//! may show any certificate.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};

/// The serving certificate in use. New connections take whatever was installed last; living ones
/// keep what they have.
#[derive(Debug, Default)]
pub struct ServingCertificate(ArcSwapOption<CertifiedKey>);

/// A certificate or key that cannot be served with.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The chain is not PEM or holds no certificate.
    #[error("the serving certificate chain is not a PEM bundle")]
    Chain,
    /// The key is not PEM. The cause is left out: it could quote the key.
    #[error("the serving key is not a PEM private key")]
    Key,
    /// The two do not belong together, or are of a kind that is not supported.
    #[error("the serving certificate cannot be used with its key")]
    Pair(#[source] rustls::Error),
}

impl ServingCertificate {
    /// Returns a holder without a certificate; handshakes fail until one is installed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Installs a chain and its key, both PEM.
    pub fn install(&self, chain_pem: &str, key_pem: &str) -> Result<(), CertificateError> {
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(chain_pem.as_bytes())
                .collect::<Result<_, _>>()
                .map_err(|_| CertificateError::Chain)?;
        if chain.is_empty() {
            return Err(CertificateError::Chain);
        }
        let key =
            PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).map_err(|_| CertificateError::Key)?;
        let certified = CertifiedKey::from_der(chain, key, &ring::default_provider())
            .map_err(CertificateError::Pair)?;
        self.0.store(Some(Arc::new(certified)));
        Ok(())
    }

    /// Tells whether a certificate is installed.
    pub fn is_installed(&self) -> bool {
        self.0.load().is_some()
    }
}

impl ResolvesServerCert for ServingCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.load_full()
    }
}

/// Returns the configuration of the listener: TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1, client
/// certificates asked for and not required.
pub fn server_config(certificate: Arc<ServingCertificate>) -> Result<ServerConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(AnyClientCertificate(provider.clone()));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(certificate);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Accepts any chain, but only from who holds its key: the handshake signature is checked. Which
/// authorities count may change while the connection lives, so the chain is judged for each request.
#[derive(Debug)]
struct AnyClientCertificate(Arc<CryptoProvider>);

impl ClientCertVerifier for AnyClientCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
