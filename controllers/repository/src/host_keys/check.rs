//! The judgement about the key that a host shows.

use russh::keys::ssh_key::certificate::CertType;
use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Algorithm, Certificate, EcdsaCurve, HashAlg, PublicKey};

use super::line::{Line, Role};
use super::{HostAddress, KnownHosts, pattern};
use crate::text;

/// What a host shows to prove who it is. That it owns the key is proved already.
pub(crate) enum Shown<'a> {
    Key(&'a PublicKey),
    Certificate(&'a Certificate),
}

/// The algorithms to ask a host for, the best first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Preference {
    pub(crate) keys: Vec<Algorithm>,
    pub(crate) certificates: Vec<Algorithm>,
}

/// A host key that is not believed. The message is safe to show and tells what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostKeyFault {
    /// Nothing at all is known about host keys.
    #[error(
        "the host key of {host} cannot be checked: no known_hosts is given; put its line into the \
         Secret's known_hosts or name a ConfigMap in spec.knownHostsRef"
    )]
    NothingKnown {
        /// The host.
        host: String,
    },
    /// No line is about the host, or none is about its kind of key.
    #[error(
        "the host key of {host} is not known: it shows {shown}, and known_hosts of {origin} {instead}; \
         compare the fingerprint with the one that the host publishes, then add its line"
    )]
    Unknown {
        /// The host, as its line must name it.
        host: String,
        /// The kind of key and its fingerprint.
        shown: String,
        /// Where the known hosts come from.
        origin: String,
        /// What is known instead.
        instead: String,
    },
    /// The host had another key of this kind.
    #[error(
        "the host key of {host} is not the known one: it shows {shown}, which is not the key in line \
         {line} of known_hosts of {origin}; somebody may stand in between, or the host changed its key: \
         then replace the line"
    )]
    Changed {
        /// The host.
        host: String,
        /// The kind of key and its fingerprint.
        shown: String,
        /// Where the known hosts come from.
        origin: String,
        /// The line with the other key.
        line: usize,
    },
    /// The key, or the authority that signed it, is revoked.
    #[error(
        "the host key of {host} is revoked: line {line} of known_hosts of {origin} revokes {shown}"
    )]
    Revoked {
        /// The host.
        host: String,
        /// The kind of key and its fingerprint.
        shown: String,
        /// Where the known hosts come from.
        origin: String,
        /// The line that revokes it.
        line: usize,
    },
    /// The host's certificate comes from a known authority and is still not good.
    #[error("the host certificate of {host} is not accepted: {problem}")]
    Certificate {
        /// The host.
        host: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// Every kind of host key that is safe enough. RSA never signs with SHA-1.
const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::Ed25519,
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP256,
    },
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP384,
    },
    Algorithm::Ecdsa {
        curve: EcdsaCurve::NistP521,
    },
    Algorithm::Rsa {
        hash: Some(HashAlg::Sha512),
    },
    Algorithm::Rsa {
        hash: Some(HashAlg::Sha256),
    },
];

impl Preference {
    /// Returns what to ask for when nothing is known.
    pub(crate) fn any() -> Self {
        Self {
            keys: ALGORITHMS.to_vec(),
            certificates: Vec::new(),
        }
    }
}

impl KnownHosts {
    /// Says which key a host should show: one of a kind that is known, if it has one. Certificates are asked
    /// for only where an authority could vouch for one.
    pub(crate) fn preference(&self, host: &HostAddress) -> Preference {
        let names = host.names();
        let known: Vec<&KeyData> = self
            .about(&names, Role::Host)
            .map(|line| line.key.key_data())
            .collect();
        let mut keys = ALGORITHMS.to_vec();
        // The sort is stable, so that the order of safety stands within each half.
        keys.sort_by_key(|algorithm| !known.iter().any(|key| is_kind(key, algorithm)));
        let certificates = match self.about(&names, Role::Authority).next() {
            Some(_) => ALGORITHMS.to_vec(),
            None => Vec::new(),
        };
        Preference { keys, certificates }
    }

    /// Judges what a host shows. `now` is in seconds since 1970.
    pub(crate) fn check(
        &self,
        host: &HostAddress,
        shown: &Shown<'_>,
        now: u64,
    ) -> Result<(), HostKeyFault> {
        match shown {
            Shown::Key(key) => {
                self.refuse_revoked(host, &[key.key_data()])?;
                self.check_key(host, key.key_data())
            }
            Shown::Certificate(certificate) => {
                let authority = certificate.signature_key();
                self.refuse_revoked(host, &[certificate.public_key(), authority])?;
                let vouched = self
                    .about(&host.names(), Role::Authority)
                    .any(|line| line.key.key_data() == authority);
                if !vouched {
                    // As good as a bare key, which may be known by itself.
                    return self.check_key(host, certificate.public_key());
                }
                check_certificate(host, certificate, now).map_err(|problem| {
                    HostKeyFault::Certificate {
                        host: host.name(),
                        problem,
                    }
                })
            }
        }
    }

    fn check_key(&self, host: &HostAddress, key: &KeyData) -> Result<(), HostKeyFault> {
        let names = host.names();
        let lines: Vec<&Line> = self.about(&names, Role::Host).collect();
        if lines.iter().any(|line| line.key.key_data() == key) {
            return Ok(());
        }
        let (host_name, shown) = (host.name(), describe(key));
        let origin = self.origin.to_string();
        let same_kind = lines
            .iter()
            .find(|line| line.key.key_data().algorithm() == key.algorithm());
        Err(match same_kind {
            Some(line) => HostKeyFault::Changed {
                host: host_name,
                shown,
                origin,
                line: line.number,
            },
            None => HostKeyFault::Unknown {
                host: host_name,
                shown,
                origin,
                instead: self.known_instead(host, &lines),
            },
        })
    }

    fn refuse_revoked(&self, host: &HostAddress, keys: &[&KeyData]) -> Result<(), HostKeyFault> {
        // Here a line without the port counts too: it can only take trust away.
        let mut names = host.names();
        names.push(host.host().to_owned());
        let revoking = self
            .about(&names, Role::Revoked)
            .find(|line| keys.contains(&line.key.key_data()));
        match revoking {
            None => Ok(()),
            Some(line) => Err(HostKeyFault::Revoked {
                host: host.name(),
                shown: describe(line.key.key_data()),
                origin: self.origin.to_string(),
                line: line.number,
            }),
        }
    }

    fn about<'a>(&'a self, names: &'a [String], role: Role) -> impl Iterator<Item = &'a Line> {
        self.lines
            .iter()
            .filter(move |line| line.role == role && pattern::matches(&line.hosts, names))
    }

    fn known_instead(&self, host: &HostAddress, lines: &[&Line]) -> String {
        let mut text = if let Some(line) = lines.first() {
            format!("knows only its {} key", line.key.algorithm().as_str())
        } else if self
            .about(&[host.host().to_owned()], Role::Host)
            .next()
            .is_some()
        {
            let (host, name) = (host.host(), host.name());
            format!("knows {host} only without the port, where this one is {name}")
        } else if self.about(&host.names(), Role::Authority).next().is_some() {
            "wants a certificate of a known authority".to_owned()
        } else {
            "does not name it".to_owned()
        };
        if let Some(line) = self.skipped.first() {
            text.push_str(&format!(" (line {line} cannot be read)"));
        }
        text
    }
}

/// Judges a certificate that names a known authority. Its signature comes first: until then its words are
/// anybody's.
fn check_certificate(
    host: &HostAddress,
    certificate: &Certificate,
    now: u64,
) -> Result<(), String> {
    if certificate.signature().algorithm() == (Algorithm::Rsa { hash: None }) {
        return Err("its signature uses SHA-1".to_owned());
    }
    let authority = certificate.signature_key().fingerprint(HashAlg::Sha256);
    // At its own first second, so that only the signature can be at fault.
    certificate
        .validate_at(certificate.valid_after(), [&authority])
        .map_err(|_| "its signature is wrong".to_owned())?;
    if certificate.cert_type() != CertType::Host {
        return Err("it is a certificate for users".to_owned());
    }
    let principals = certificate.valid_principals();
    if !principals
        .iter()
        .any(|name| pattern::matches_wildcards(&name.to_lowercase(), host.host()))
    {
        let named = text::shown(principals.join(", ").as_bytes());
        return Err(format!("it is not for {}, but for [{named}]", host.host()));
    }
    if let Some((option, _)) = certificate.critical_options().iter().next() {
        let option = text::shown(option.as_bytes());
        return Err(format!("it has the unknown critical option {option:?}"));
    }
    if now < certificate.valid_after() {
        return Err("it is not valid yet".to_owned());
    }
    if now >= certificate.valid_before() {
        return Err("it has expired".to_owned());
    }
    Ok(())
}

/// Says whether a key signs with an algorithm.
fn is_kind(key: &KeyData, algorithm: &Algorithm) -> bool {
    match algorithm {
        Algorithm::Rsa { .. } => key.is_rsa(),
        _ => key.algorithm() == *algorithm,
    }
}

fn describe(key: &KeyData) -> String {
    let algorithm = key.algorithm();
    format!(
        "{} {}",
        algorithm.as_str(),
        key.fingerprint(HashAlg::Sha256)
    )
}
