//! The key names under which Kubernetes, Flux and Argo CD keep a Git credential.

use model::Secret;

use super::{Credential, CredentialError, SecretData, SshKey, TlsTrust};

const SSH_KEYS: [&str; 3] = ["ssh-privatekey", "identity", "sshPrivateKey"];
/// The passphrase of an SSH key: the native name, then Flux's.
const PASSPHRASES: [&str; 2] = ["ssh-password", "password"];
/// Client certificate pairs: the Kubernetes type, Flux's older names and Argo CD's.
const CLIENT_CERTIFICATES: [&str; 6] = [
    "tls.crt",
    "tls.key",
    "certFile",
    "keyFile",
    "tlsClientCertData",
    "tlsClientCertKey",
];
const GITHUB_APP: [&str; 3] = [
    "githubAppID",
    "githubAppInstallationID",
    "githubAppPrivateKey",
];

/// Reads one credential. The order is SSH key, password, bearer token; a value that is empty counts as absent.
pub(super) fn read(data: &SecretData) -> Result<Credential, CredentialError> {
    if let Some(key) = first_present(data, &CLIENT_CERTIFICATES) {
        return Err(CredentialError::ClientCertificate { key });
    }
    if let Some(key) = first_present(data, &SSH_KEYS) {
        return ssh_key(data, key);
    }
    let username = text(data, "username")?;
    let password = text(data, "password")?;
    match (username, password) {
        (username, Some(password)) => basic(username.unwrap_or_default(), password),
        (Some(_), None) => Err(CredentialError::UsernameWithoutPassword),
        (None, None) => token(data),
    }
}

fn ssh_key(data: &SecretData, key: &'static str) -> Result<Credential, CredentialError> {
    let pem = text(data, key)?.unwrap_or_default();
    let passphrase = match first_present(data, &PASSPHRASES) {
        Some(name) => text(data, name)?,
        None => None,
    };
    SshKey::read(&pem, passphrase.as_deref(), key).map(Credential::SshKey)
}

fn basic(username: String, password: String) -> Result<Credential, CredentialError> {
    if username.contains(':') {
        return Err(CredentialError::ColonInUsername);
    }
    Ok(Credential::Basic {
        username,
        password: Secret::new(password),
    })
}

fn token(data: &SecretData) -> Result<Credential, CredentialError> {
    if let Some(token) = text(data, "bearerToken")? {
        if token.chars().any(|c| !c.is_ascii_graphic()) {
            return Err(CredentialError::NotAHeader { key: "bearerToken" });
        }
        return Ok(Credential::Bearer(Secret::new(token)));
    }
    if let Some(key) = first_present(data, &GITHUB_APP) {
        return Err(CredentialError::GitHubApp { key });
    }
    // A Secret that only adds a certificate authority leaves us anonymous, which is a complete answer.
    if matches!(TlsTrust::from_secret_data(data)?, TlsTrust::SystemAnd(_)) {
        return Ok(Credential::Anonymous);
    }
    Err(CredentialError::NoKnownKey)
}

fn first_present(data: &SecretData, keys: &[&'static str]) -> Option<&'static str> {
    keys.iter()
        .copied()
        .find(|key| data.get(*key).is_some_and(|value| !value.is_empty()))
}

/// Returns a value without the line end that files and editors add and no password has.
fn text(data: &SecretData, key: &'static str) -> Result<Option<String>, CredentialError> {
    let Some(value) = data.get(key) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(value).map_err(|_| CredentialError::NotText { key })?;
    let text = text.trim_end_matches(['\r', '\n']);
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(pairs: &[(&str, &str)]) -> SecretData {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
            .collect()
    }

    fn basic_auth(username: &str, password: &str) -> Result<Credential, CredentialError> {
        Ok(Credential::Basic {
            username: username.to_owned(),
            password: Secret::new(password.to_owned()),
        })
    }

    #[test]
    fn b023_every_dialect_is_read() {
        type Case<'a> = (
            &'a [(&'a str, &'a str)],
            Result<Credential, CredentialError>,
        );
        let cases: [Case<'_>; 14] = [
            (
                &[("username", "me"), ("password", "p")],
                basic_auth("me", "p"),
            ),
            (&[("password", "p")], basic_auth("", "p")),
            (
                &[("username", "corp\\ann@corp.test"), ("password", "p")],
                basic_auth("corp\\ann@corp.test", "p"),
            ),
            (
                &[("username", ""), ("password", "p\n")],
                basic_auth("", "p"),
            ),
            (
                &[("username", "me")],
                Err(CredentialError::UsernameWithoutPassword),
            ),
            (
                &[("username", "me"), ("password", "")],
                Err(CredentialError::UsernameWithoutPassword),
            ),
            (
                &[("username", "a:b"), ("password", "p")],
                Err(CredentialError::ColonInUsername),
            ),
            (
                &[("bearerToken", "t")],
                Ok(Credential::Bearer(Secret::new("t".to_owned()))),
            ),
            (
                &[("bearerToken", "t"), ("password", "p")],
                basic_auth("", "p"),
            ),
            (
                &[("bearerToken", "t\r\nX-Evil: 1")],
                Err(CredentialError::NotAHeader { key: "bearerToken" }),
            ),
            (
                &[("identity", "k"), ("password", "phrase")],
                Err(CredentialError::UnreadableSshKey { key: "identity" }),
            ),
            (
                &[("tls.crt", "c"), ("tls.key", "k"), ("password", "p")],
                Err(CredentialError::ClientCertificate { key: "tls.crt" }),
            ),
            (
                &[("githubAppID", "1")],
                Err(CredentialError::GitHubApp { key: "githubAppID" }),
            ),
            (
                &[("known_hosts", "h"), ("other", "x")],
                Err(CredentialError::NoKnownKey),
            ),
        ];
        for (pairs, expected) in cases {
            assert_eq!(read(&secret(pairs)), expected, "{pairs:?}");
        }
    }

    #[test]
    fn a_value_that_is_no_text_is_named_and_not_shown() {
        let data = SecretData::from([("password".to_owned(), vec![0xff, b'p', b'w'])]);
        assert_eq!(
            read(&data),
            Err(CredentialError::NotText { key: "password" })
        );
    }
}
