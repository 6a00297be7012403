//! Certificate authorities and certificates made for one test.

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// A certificate with its private key, both as PEM.
#[derive(Clone, Debug)]
pub struct CertifiedKey {
    /// The certificate.
    pub certificate: String,
    /// The private key, as PKCS #8.
    pub key: String,
}

/// A certificate authority with its private key.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// Creates a self-signed authority of that common name.
    pub fn new(common_name: &str) -> Result<Self> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = subject(common_name, None);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let issuer = CertifiedIssuer::self_signed(parameters, generate_key()?)
            .with_context(|| format!("cannot create the authority {common_name}"))?;
        Ok(Self { issuer })
    }

    /// Returns the certificate of the authority itself as PEM.
    pub fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// Returns the private key of the authority as PEM.
    pub fn key(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// Issues a certificate for a server that is reached by these names or addresses.
    pub fn issue_server(&self, names: &[&str]) -> Result<CertifiedKey> {
        self.issue(server(names)?, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Issues such a certificate, which has expired.
    pub fn issue_expired_server(&self, names: &[&str]) -> Result<CertifiedKey> {
        let mut parameters = server(names)?;
        parameters.not_before = date_time_ymd(2020, 1, 1);
        parameters.not_after = date_time_ymd(2021, 1, 1);
        self.issue(parameters, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Issues a certificate for a client; Kubernetes reads the user out of the common name and a
    /// group out of the organization.
    pub fn issue_client(
        &self,
        common_name: &str,
        organization: Option<&str>,
    ) -> Result<CertifiedKey> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = subject(common_name, organization);
        self.issue(parameters, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn issue(
        &self,
        mut parameters: CertificateParams,
        purpose: ExtendedKeyUsagePurpose,
    ) -> Result<CertifiedKey> {
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![purpose];
        parameters.use_authority_key_identifier_extension = true;
        let key = generate_key()?;
        let certificate = parameters
            .signed_by(&key, &self.issuer)
            .context("cannot sign a certificate")?;
        Ok(CertifiedKey {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// Generates a private key for signing.
pub(crate) fn generate_key() -> Result<KeyPair> {
    KeyPair::generate().context("cannot generate a private key")
}

fn server(names: &[&str]) -> Result<CertificateParams> {
    let common_name = names.first().context("a server needs at least one name")?;
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut parameters = CertificateParams::new(names).context("not a name for a certificate")?;
    parameters.distinguished_name = subject(common_name, None);
    Ok(parameters)
}

fn subject(common_name: &str, organization: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    if let Some(organization) = organization {
        name.push(DnType::OrganizationName, organization);
    }
    name.push(DnType::CommonName, common_name);
    name
}
