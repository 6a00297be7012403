//! Judges and makes the serving certificate and its authority. Time is an argument; nothing is stored.

use std::time::Duration;

use jiff::Timestamp;
use model::Secret;
use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData, SanType,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, DnsName, ServerName, UnixTime};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::names::ServiceName;

/// How long an authority is valid: ten years.
const AUTHORITY_LIFE: Duration = Duration::from_secs(3650 * 86_400);
/// How long a serving certificate is valid: ninety days.
const LEAF_LIFE: Duration = Duration::from_secs(90 * 86_400);
/// Certificates are valid from a little before they are made, for clocks that are behind.
const BACKDATE: Duration = Duration::from_secs(3600);

/// The DNS names that the certificate must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingNames(Vec<String>);

impl ServingNames {
    /// Returns the names under which the Service is reached. The aggregation layer verifies
    /// `SERVICE.NAMESPACE.svc`; the others are for people and probes.
    pub fn of(service: &ServiceName, cluster_domain: &str) -> Self {
        let (name, namespace) = (&service.name, &service.namespace);
        Self(vec![
            format!("{name}.{namespace}.svc"),
            name.clone(),
            format!("{name}.{namespace}"),
            format!("{name}.{namespace}.svc.{cluster_domain}"),
            "localhost".to_owned(),
        ])
    }

    /// Returns the names.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// A serving certificate with everything needed to renew it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    /// The authorities that clients should believe, PEM; the one that signs comes first.
    pub authorities: String,
    /// The key of the signing authority, PEM.
    pub authority_key: Secret<String>,
    /// The certificate that is served, PEM.
    pub chain: String,
    /// Its key, PEM.
    pub key: Secret<String>,
}

/// What has to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// Nothing: what is stored serves on.
    None,
    /// A new serving certificate under the stored authority.
    Leaf(Reason),
    /// A new authority, and a new serving certificate under it.
    Authority(Reason),
}

/// Why something has to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There was none.
    Missing,
    /// It cannot be read, or its key does not belong to it.
    Unusable,
    /// Two thirds of its life are over.
    DueForRenewal,
    /// It does not hold all names.
    OtherNames,
    /// The stored authority did not sign it.
    OtherAuthority,
}

/// A certificate could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the {what}")]
pub struct IssueError {
    what: &'static str,
    #[source]
    source: rcgen::Error,
}

/// Decides what has to be made.
pub fn judge(stored: Option<&Material>, names: &ServingNames, now: Timestamp) -> Renewal {
    let Some(stored) = stored else {
        return Renewal::Authority(Reason::Missing);
    };
    let Some(authority) = first_certificate(&stored.authorities) else {
        return Renewal::Authority(Reason::Unusable);
    };
    if !key_belongs(&authority, &stored.authority_key) {
        return Renewal::Authority(Reason::Unusable);
    }
    if is_due(&authority, now) {
        return Renewal::Authority(Reason::DueForRenewal);
    }
    let Some(leaf) = first_certificate(&stored.chain) else {
        return Renewal::Leaf(Reason::Unusable);
    };
    if !key_belongs(&leaf, &stored.key) {
        return Renewal::Leaf(Reason::Unusable);
    }
    if is_due(&leaf, now) {
        return Renewal::Leaf(Reason::DueForRenewal);
    }
    judge_against_authority(&leaf, &authority, names, now)
}

fn judge_against_authority(
    leaf: &CertificateDer<'_>,
    authority: &CertificateDer<'_>,
    names: &ServingNames,
    now: Timestamp,
) -> Renewal {
    let Ok(anchor) = webpki::anchor_from_trusted_cert(authority) else {
        return Renewal::Authority(Reason::Unusable);
    };
    let anchors = [anchor];
    let Ok(certificate) = webpki::EndEntityCert::try_from(leaf) else {
        return Renewal::Leaf(Reason::Unusable);
    };
    let signed = certificate.verify_for_usage(
        webpki::ALL_VERIFICATION_ALGS,
        &anchors,
        &[],
        UnixTime::since_unix_epoch(since_epoch(now)),
        webpki::KeyUsage::server_auth(),
        None,
        None,
    );
    if signed.is_err() {
        return Renewal::Leaf(Reason::OtherAuthority);
    }
    let holds = |name: &String| {
        DnsName::try_from(name.as_str()).is_ok_and(|name| {
            certificate
                .verify_is_valid_for_subject_name(&ServerName::DnsName(name))
                .is_ok()
        })
    };
    if names.0.iter().all(holds) {
        Renewal::None
    } else {
        Renewal::Leaf(Reason::OtherNames)
    }
}

/// Makes an authority and a serving certificate under it. Authorities that were believed before stay
/// in the bundle, so that whoever still meets the old certificate can verify it.
pub fn make_all(
    previous: Option<&Material>,
    names: &ServingNames,
    now: Timestamp,
) -> Result<Material, IssueError> {
    let fail = |source| IssueError {
        what: "serving certificate authority",
        source,
    };
    let key = KeyPair::generate().map_err(fail)?;
    let certificate = authority_params(now).self_signed(&key).map_err(fail)?;
    let mut authorities = certificate.pem();
    if let Some(old) = previous.and_then(|previous| first_pem(&previous.authorities)) {
        authorities.push_str(&old);
    }
    let authority_key = Secret::new(key.serialize_pem());
    make_leaf(authorities, authority_key, names, now)
}

/// Makes a serving certificate under the first of the authorities, whose key is given.
pub fn make_leaf(
    authorities: String,
    authority_key: Secret<String>,
    names: &ServingNames,
    now: Timestamp,
) -> Result<Material, IssueError> {
    let fail = |source| IssueError {
        what: "serving certificate",
        source,
    };
    let signing_key = KeyPair::from_pem(authority_key.expose()).map_err(fail)?;
    let issuer = Issuer::from_ca_cert_pem(&authorities, signing_key).map_err(fail)?;
    let key = KeyPair::generate().map_err(fail)?;
    let certificate = leaf_params(names, now)
        .and_then(|params| params.signed_by(&key, &issuer))
        .map_err(fail)?;
    Ok(Material {
        authorities,
        authority_key,
        chain: certificate.pem(),
        key: Secret::new(key.serialize_pem()),
    })
}

/// Returns when the first certificate of a PEM text ends to be valid.
pub fn expiry(pem: &str) -> Option<Timestamp> {
    let der = first_certificate(pem)?;
    let (_, certificate) = X509Certificate::from_der(&der).ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

fn authority_params(now: Timestamp) -> CertificateParams {
    let mut params = CertificateParams::default();
    // Each authority has a name of its own, so that a bundle of two is never ambiguous.
    params.distinguished_name =
        common_name(&format!("extension API authority {}", now.as_second()));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    set_validity(&mut params, now, AUTHORITY_LIFE);
    params
}

fn leaf_params(names: &ServingNames, now: Timestamp) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = common_name(names.0.first().map_or("", String::as_str));
    for name in &names.0 {
        params
            .subject_alt_names
            .push(SanType::DnsName(Ia5String::try_from(name.as_str())?));
    }
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    set_validity(&mut params, now, LEAF_LIFE);
    Ok(params)
}

fn common_name(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn set_validity(params: &mut CertificateParams, now: Timestamp, life: Duration) {
    let now = rcgen::date_time_ymd(1970, 1, 1) + since_epoch(now);
    params.not_before = now - BACKDATE;
    params.not_after = now + life;
}

fn since_epoch(now: Timestamp) -> Duration {
    Duration::from_secs(u64::try_from(now.as_second()).unwrap_or(0))
}

fn first_certificate(pem: &str) -> Option<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).next()?.ok()
}

fn first_pem(bundle: &str) -> Option<String> {
    const END: &str = "-----END CERTIFICATE-----";
    let end = bundle.find(END)? + END.len();
    Some(format!("{}\n", bundle[..end].trim_start()))
}

fn key_belongs(certificate: &CertificateDer<'_>, key: &Secret<String>) -> bool {
    let Ok(key) = KeyPair::from_pem(key.expose()) else {
        return false;
    };
    X509Certificate::from_der(certificate)
        .is_ok_and(|(_, certificate)| certificate.public_key().raw == key.subject_public_key_info())
}

/// Tells whether two thirds of a certificate's life are over, or it is not valid yet or any more.
fn is_due(certificate: &CertificateDer<'_>, now: Timestamp) -> bool {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else {
        return true;
    };
    let validity = certificate.validity();
    let (start, end) = (
        validity.not_before.timestamp(),
        validity.not_after.timestamp(),
    );
    let now = now.as_second();
    now < start || now - start >= (end - start) / 3 * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> ServingNames {
        let service = ServiceName {
            namespace: "n".to_owned(),
            name: "s".to_owned(),
            port: 443,
        };
        ServingNames::of(&service, "cluster.local")
    }

    fn day(day: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + day * 86_400).unwrap()
    }

    #[test]
    fn the_name_that_the_cluster_verifies_comes_first() {
        assert_eq!(
            names().as_slice(),
            ["s.n.svc", "s", "s.n", "s.n.svc.cluster.local", "localhost"]
        );
    }

    #[test]
    fn what_was_made_is_usable_until_two_thirds_of_its_life() {
        let made = make_all(None, &names(), day(0)).unwrap();
        for (at, expected) in [
            (0, Renewal::None),
            (59, Renewal::None),
            (61, Renewal::Leaf(Reason::DueForRenewal)),
            (100, Renewal::Leaf(Reason::DueForRenewal)),
            (2500, Renewal::Authority(Reason::DueForRenewal)),
            (-30, Renewal::Authority(Reason::DueForRenewal)),
        ] {
            assert_eq!(judge(Some(&made), &names(), day(at)), expected, "day {at}");
        }
        assert_eq!(expiry(&made.chain), Some(day(90)));
    }

    #[test]
    fn what_does_not_fit_together_is_made_anew() {
        let made = make_all(None, &names(), day(0)).unwrap();
        let other = make_all(None, &names(), day(0)).unwrap();
        let with = |change: &dyn Fn(&mut Material)| {
            let mut material = made.clone();
            change(&mut material);
            judge(Some(&material), &names(), day(1))
        };
        assert_eq!(
            judge(None, &names(), day(0)),
            Renewal::Authority(Reason::Missing)
        );
        let unusable = Renewal::Authority(Reason::Unusable);
        assert_eq!(with(&|material| material.authorities.clear()), unusable);
        assert_eq!(
            with(&|material| material.authority_key = other.key.clone()),
            unusable
        );
        let unusable = Renewal::Leaf(Reason::Unusable);
        assert_eq!(with(&|material| material.chain.clear()), unusable);
        assert_eq!(with(&|material| material.key = other.key.clone()), unusable);
        let foreign = with(&|material| {
            material.chain = other.chain.clone();
            material.key = other.key.clone();
        });
        assert_eq!(foreign, Renewal::Leaf(Reason::OtherAuthority));
        let service = ServiceName {
            namespace: "m".to_owned(),
            name: "s".to_owned(),
            port: 443,
        };
        let renamed = ServingNames::of(&service, "cluster.local");
        assert_eq!(
            judge(Some(&made), &renamed, day(1)),
            Renewal::Leaf(Reason::OtherNames)
        );
    }

    #[test]
    fn a_renewed_leaf_keeps_the_authority_and_a_new_authority_keeps_the_old_one_believed() {
        let first = make_all(None, &names(), day(0)).unwrap();
        let renewed = make_leaf(
            first.authorities.clone(),
            first.authority_key.clone(),
            &names(),
            day(61),
        )
        .unwrap();
        assert_eq!(renewed.authorities, first.authorities);
        assert_eq!(judge(Some(&renewed), &names(), day(62)), Renewal::None);

        let rotated = make_all(Some(&renewed), &names(), day(2500)).unwrap();
        assert_eq!(judge(Some(&rotated), &names(), day(2501)), Renewal::None);
        assert!(rotated.authorities.ends_with(&first.authorities));
        assert_eq!(rotated.authorities.matches("BEGIN CERTIFICATE").count(), 2);
        let again = make_all(Some(&rotated), &names(), day(5000)).unwrap();
        assert_eq!(again.authorities.matches("BEGIN CERTIFICATE").count(), 2);
    }

    #[test]
    fn keys_are_never_printed() {
        let made = make_all(None, &names(), day(0)).unwrap();
        assert!(!format!("{made:?}").contains("PRIVATE KEY"));
    }
}
