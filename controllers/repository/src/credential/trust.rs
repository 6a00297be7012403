//! Certificate authorities beyond those of the system (D37).

use std::sync::Arc;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::{CredentialError, SecretData};

/// The key that Kubernetes and Flux use, then Flux's older one.
const CA_KEYS: [&str; 2] = ["ca.crt", "caFile"];

/// Whom we believe when a server shows its certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsTrust {
    /// The authorities of the system.
    System,
    /// Those and the ones of a Secret.
    SystemAnd(CaBundle),
}

/// Certificate authorities from a Secret, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaBundle(Arc<[CertificateDer<'static>]>);

impl TlsTrust {
    /// Reads the certificate authorities of a Secret.
    ///
    /// # Errors
    /// Returns the key whose value holds no certificate.
    pub fn from_secret_data(data: &SecretData) -> Result<Self, CredentialError> {
        for key in CA_KEYS {
            match data.get(key) {
                Some(pem) if !pem.is_empty() => {
                    return CaBundle::from_pem(pem)
                        .map(Self::SystemAnd)
                        .ok_or(CredentialError::BadCertificate { key });
                }
                Some(_) | None => {}
            }
        }
        Ok(Self::System)
    }
}

impl CaBundle {
    /// Parses PEM text; `None` when it holds no certificate or a broken one.
    pub fn from_pem(pem: &[u8]) -> Option<Self> {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .ok()?;
        let readable = |certificate: &CertificateDer<'static>| {
            rustls::RootCertStore::empty()
                .add(certificate.clone())
                .is_ok()
        };
        if certificates.is_empty() || !certificates.iter().all(readable) {
            return None;
        }
        Some(Self(certificates.into()))
    }

    pub(crate) fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d37_a_value_without_a_certificate_is_refused_by_name() {
        let data = |key: &str, value: &str| {
            SecretData::from([(key.to_owned(), value.as_bytes().to_vec())])
        };
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for key in CA_KEYS {
            for value in ["hello", broken] {
                assert_eq!(
                    TlsTrust::from_secret_data(&data(key, value)),
                    Err(CredentialError::BadCertificate { key })
                );
            }
            assert_eq!(
                TlsTrust::from_secret_data(&data(key, "")),
                Ok(TlsTrust::System)
            );
        }
    }
}
