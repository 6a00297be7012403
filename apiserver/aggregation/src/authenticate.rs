//! Decides who asks, from what the connection and the request present. Pure.
//!
//! In order: the front proxy's word, a client certificate of the cluster, a bearer token. Each is
//! tried when the one before did not apply or did not hold; a credential that was presented and
//! did not hold refuses the request unless another one does. Headers are believed only beside a
//! verified front-proxy certificate, and the certificate is verified here, for each request,
//! because authorities change while connections live.

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;
use rustls_pki_types::{CertificateDer, UnixTime};
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::identity::{BearerToken, UserInfo};
use crate::trust::{FrontProxyTrust, TrustConfig};

/// What was presented.
#[derive(Debug, Clone, Copy)]
pub struct Presented<'a> {
    /// The client's certificate chain, leaf first; empty if it showed none.
    pub chain: &'a [CertificateDer<'static>],
    /// The request's headers.
    pub headers: &'a HeaderMap,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authentication {
    /// A known user.
    Identified(UserInfo),
    /// Nobody yet: a token has to be reviewed first.
    TokenPresented(BearerToken),
    /// A credential was presented and none held.
    Refused(Vec<CredentialError>),
    /// No credential was presented.
    Anonymous,
}

/// Why a credential did not hold. For the log; the caller learns nothing from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// No authority is known (yet, or any more), or the front proxy named no user.
    #[error(
        "the client certificate leads to no identity: no authority knows it, or no user is named"
    )]
    NoIdentity,
    /// The certificate was not signed by the front proxy's authorities or is not valid.
    #[error("client certificate {name:?} is not one of the front proxy: {source}")]
    NotFrontProxy {
        /// The certificate's common name.
        name: String,
        /// Why not.
        source: webpki::Error,
    },
    /// The certificate is the authorities', and its name is not allowed.
    #[error("client certificate {name:?} is not allowed to act as front proxy")]
    NameNotAllowed {
        /// The certificate's common name.
        name: String,
    },
    /// The certificate was not signed by the cluster's client authorities or is not valid.
    #[error("client certificate {name:?} is not one of the cluster: {source}")]
    NotClient {
        /// The certificate's common name.
        name: String,
        /// Why not.
        source: webpki::Error,
    },
    /// A front-proxy header cannot be read.
    #[error("header {name} is not text")]
    HeaderNotText {
        /// The header.
        name: HeaderName,
    },
    /// The certificate cannot be read.
    #[error("the client certificate cannot be read")]
    Unreadable,
}

/// Decides who asks. With `direct` false only the front proxy is believed.
pub fn authenticate(
    presented: Presented<'_>,
    trust: Option<&TrustConfig>,
    direct: bool,
    now: UnixTime,
) -> Authentication {
    let mut errors = Vec::new();
    if !presented.chain.is_empty() {
        match by_certificate(presented, trust, direct, now, &mut errors) {
            Some(user) => return Authentication::Identified(user.authenticated()),
            None if errors.is_empty() => errors.push(CredentialError::NoIdentity),
            None => {}
        }
    }
    if direct && let Some(token) = bearer_token(presented.headers) {
        return Authentication::TokenPresented(token);
    }
    let refused = !errors.is_empty() || presented.headers.contains_key(AUTHORIZATION);
    if refused {
        Authentication::Refused(errors)
    } else {
        Authentication::Anonymous
    }
}

/// Removes everything that speaks about identity, so that no later code can be misled by it.
pub fn strip_identity(headers: &mut HeaderMap, trust: Option<&TrustConfig>) {
    headers.remove(AUTHORIZATION);
    let Some(proxy) = trust.and_then(|trust| trust.front_proxy.as_ref()) else {
        return;
    };
    let names: Vec<HeaderName> = headers
        .keys()
        .filter(|name| proxy.is_identity_header(name))
        .cloned()
        .collect();
    for name in names {
        headers.remove(name);
    }
}

fn by_certificate(
    presented: Presented<'_>,
    trust: Option<&TrustConfig>,
    direct: bool,
    now: UnixTime,
    errors: &mut Vec<CredentialError>,
) -> Option<UserInfo> {
    let trust = trust?;
    let leaf = presented.chain.first()?;
    let Ok((_, certificate)) = X509Certificate::from_der(leaf) else {
        errors.push(CredentialError::Unreadable);
        return None;
    };
    let name = common_name(&certificate);
    if let Some(proxy) = &trust.front_proxy {
        match verify_proxy(proxy, presented.chain, &name, now)
            .and_then(|()| user_in_headers(proxy, presented.headers))
        {
            Ok(Some(user)) => return Some(user),
            Ok(None) => {}
            Err(error) => errors.push(error),
        }
    }
    if !direct || trust.clients.is_empty() {
        return None;
    }
    match trust.clients.verify(presented.chain, now) {
        Ok(()) => user_in_certificate(&certificate, leaf, name),
        Err(source) => {
            errors.push(CredentialError::NotClient { name, source });
            None
        }
    }
}

fn verify_proxy(
    proxy: &FrontProxyTrust,
    chain: &[CertificateDer<'static>],
    name: &str,
    now: UnixTime,
) -> Result<(), CredentialError> {
    proxy
        .authorities
        .verify(chain, now)
        .map_err(|source| CredentialError::NotFrontProxy {
            name: name.to_owned(),
            source,
        })?;
    if proxy.allowed_names.is_empty() || proxy.allowed_names.iter().any(|allowed| allowed == name) {
        Ok(())
    } else {
        Err(CredentialError::NameNotAllowed {
            name: name.to_owned(),
        })
    }
}

fn user_in_headers(
    proxy: &FrontProxyTrust,
    headers: &HeaderMap,
) -> Result<Option<UserInfo>, CredentialError> {
    let Some(name) = first_value(&proxy.username_headers, headers)? else {
        return Ok(None);
    };
    let mut user = UserInfo {
        name,
        uid: first_value(&proxy.uid_headers, headers)?,
        ..UserInfo::default()
    };
    for header in &proxy.group_headers {
        for value in headers.get_all(header) {
            user.groups.push(text(header, value)?);
        }
    }
    for (header, value) in headers {
        let suffix = proxy
            .extra_prefixes
            .iter()
            .find_map(|prefix| header.as_str().strip_prefix(&**prefix));
        if let Some(suffix) = suffix {
            user.extra
                .entry(decoded_key(suffix))
                .or_default()
                .push(text(header, value)?);
        }
    }
    Ok(Some(user))
}

fn first_value(
    names: &[HeaderName],
    headers: &HeaderMap,
) -> Result<Option<String>, CredentialError> {
    for name in names {
        for value in headers.get_all(name) {
            if !value.is_empty() {
                return text(name, value).map(Some);
            }
        }
    }
    Ok(None)
}

/// Names of people are not always ASCII, and the front proxy sends them as they are.
fn text(name: &HeaderName, value: &HeaderValue) -> Result<String, CredentialError> {
    String::from_utf8(value.as_bytes().to_vec())
        .map_err(|_| CredentialError::HeaderNotText { name: name.clone() })
}

fn decoded_key(suffix: &str) -> String {
    match percent_decode_str(suffix).decode_utf8() {
        Ok(decoded) => decoded.into_owned(),
        Err(_) => suffix.to_owned(),
    }
}

fn user_in_certificate(
    certificate: &X509Certificate<'_>,
    leaf: &CertificateDer<'_>,
    name: String,
) -> Option<UserInfo> {
    if name.is_empty() {
        return None;
    }
    let groups = certificate
        .subject()
        .iter_organization()
        .filter_map(|organization| organization.as_str().ok().map(str::to_owned))
        .collect();
    let fingerprint: String = Sha256::digest(leaf)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let credential = (
        "authentication.kubernetes.io/credential-id".to_owned(),
        vec![format!("X509SHA256={fingerprint}")],
    );
    Some(UserInfo {
        name,
        uid: None,
        groups,
        extra: [credential].into(),
    })
}

fn common_name(certificate: &X509Certificate<'_>) -> String {
    let last = certificate.subject().iter_common_name().last();
    last.and_then(|name| name.as_str().ok())
        .unwrap_or_default()
        .to_owned()
}

fn bearer_token(headers: &HeaderMap) -> Option<BearerToken> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| BearerToken::new(token))
}
