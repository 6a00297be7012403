//! How we identify ourselves to a Git host, and which certificates we believe.
//!
//! Pure: a Secret's data goes in, a [`Credential`] or the rule that it breaks comes out. Which keys are
//! read stands in `dialect`, SSH keys in `ssh_key`, certificates in `trust`.

mod dialect;
mod ssh_key;
mod trust;

use std::collections::BTreeMap;

use model::{RepositoryUrl, Scheme, Secret};

pub use ssh_key::SshKey;
pub use trust::{CaBundle, TlsTrust};

/// The decoded `data` of a Kubernetes Secret.
pub type SecretData = BTreeMap<String, Vec<u8>>;

/// What we show to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// Nothing.
    Anonymous,
    /// A user, who may have the empty name, and a password.
    Basic {
        /// The user's name. Empty is legal: Azure DevOps takes an access token without one.
        username: String,
        /// The password or access token.
        password: Secret<String>,
    },
    /// A token that stands for itself.
    Bearer(Secret<String>),
    /// A private key, for SSH.
    SshKey(SshKey),
}

/// A credential that cannot be used. The message is safe to show and tells what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// A user without a password is a mistake, not a credential.
    #[error("the Secret has a username but no password")]
    UsernameWithoutPassword,
    /// The Secret has none of the keys that are read.
    #[error(
        "the Secret holds no Git credential: it needs password (and username), bearerToken, or an SSH \
         key as ssh-privatekey, identity or sshPrivateKey"
    )]
    NoKnownKey,
    /// The value is no private key, or in a form that is not read.
    #[error(
        "the Secret's {key} holds no private SSH key that can be read: it needs the file that ssh-keygen \
         writes (OpenSSH or PEM), not the .pub file"
    )]
    UnreadableSshKey {
        /// The key of the Secret.
        key: &'static str,
    },
    /// A key that cannot be used without a device, or that is not safe.
    #[error(
        "the Secret's {key} holds a key of type {kind}, which cannot be used: make one with \
         ssh-keygen -t ed25519"
    )]
    UnusableSshKey {
        /// The key of the Secret.
        key: &'static str,
        /// The kind of the private key.
        kind: String,
    },
    /// An encrypted key without its passphrase.
    #[error(
        "the Secret's {key} holds an encrypted SSH key and no passphrase: add ssh-password (or password)"
    )]
    PassphraseMissing {
        /// The key of the Secret.
        key: &'static str,
    },
    /// The key is made to take very long to decrypt.
    #[error(
        "the SSH key in {key} takes too many rounds to be decrypted: write it anew with ssh-keygen -p -a 100"
    )]
    SlowSshKey {
        /// The key of the Secret.
        key: &'static str,
    },
    /// An encrypted key that does not open.
    #[error(
        "the Secret's passphrase does not open the SSH key in {key}: correct ssh-password (or password), \
         or rewrite the key with ssh-keygen -p"
    )]
    PassphraseWrong {
        /// The key of the Secret.
        key: &'static str,
    },
    /// A client certificate, which is not supported.
    #[error(
        "the Secret holds a client certificate in {key}, which is not supported: remove the pair"
    )]
    ClientCertificate {
        /// The key of the Secret.
        key: &'static str,
    },
    /// The private key of a GitHub App, which is not supported.
    #[error(
        "the Secret holds a GitHub App credential in {key}, which is not supported: use a token"
    )]
    GitHubApp {
        /// The key of the Secret.
        key: &'static str,
    },
    /// The value is not text.
    #[error("the Secret's {key} is not UTF-8 text")]
    NotText {
        /// The key of the Secret.
        key: &'static str,
    },
    /// The value cannot be sent in a header.
    #[error("the Secret's {key} holds a control character or a space, which no token has")]
    NotAHeader {
        /// The key of the Secret.
        key: &'static str,
    },
    /// A user's name with a colon, which would be read as the start of the password.
    #[error("the Secret's username holds a colon, which HTTP basic authentication cannot carry")]
    ColonInUsername,
    /// The value holds no certificate.
    #[error("the Secret's {key} holds no readable PEM certificate")]
    BadCertificate {
        /// The key of the Secret.
        key: &'static str,
    },
    /// The credential would cross the network in clear text.
    #[error(
        "a credential is not sent over http://: use https, or start the operator with \
         --insecure-allow-git-http"
    )]
    PlainHttp,
    /// SSH knows nobody by a password here.
    #[error(
        "an SSH URL needs an SSH private key: name a Secret with ssh-privatekey, identity or sshPrivateKey \
         in spec.secretRef"
    )]
    NoSshKey,
    /// An SSH key does not open an HTTP session, and its passphrase must not be sent as a password.
    #[error(
        "the Secret holds an SSH key, which an http or https URL cannot use: write the repository's SSH \
         URL, or name a Secret with a password or bearerToken"
    )]
    SshKeyForHttp,
}

impl Credential {
    /// Reads the credential from a Secret in the dialect of Kubernetes, Flux or Argo CD.
    ///
    /// # Errors
    /// Returns the rule that the Secret breaks; no value of it is shown.
    pub fn from_secret_data(data: &SecretData) -> Result<Self, CredentialError> {
        dialect::read(data)
    }
}

/// Says whether the credential may be used with the URL.
///
/// # Errors
/// Returns why not.
pub fn check(
    url: &RepositoryUrl,
    credential: &Credential,
    allow_http: bool,
) -> Result<(), CredentialError> {
    match (url.scheme(), credential) {
        (Scheme::Ssh, Credential::SshKey(_)) => Ok(()),
        (Scheme::Ssh, _) => Err(CredentialError::NoSshKey),
        (Scheme::Http | Scheme::Https, Credential::SshKey(_)) => {
            Err(CredentialError::SshKeyForHttp)
        }
        (Scheme::Http, Credential::Basic { .. } | Credential::Bearer(_)) if !allow_http => {
            Err(CredentialError::PlainHttp)
        }
        (Scheme::Http | Scheme::Https, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_not_sent_in_clear_text_unless_allowed() {
        let http = RepositoryUrl::new("http://git.example/x").unwrap();
        let https = RepositoryUrl::new("https://git.example/x").unwrap();
        let ssh = RepositoryUrl::new("git@git.example:x").unwrap();
        let token = Credential::Bearer(Secret::new("t".to_owned()));
        let cases = [
            (&http, &token, false, Err(CredentialError::PlainHttp)),
            (&http, &token, true, Ok(())),
            (&http, &Credential::Anonymous, false, Ok(())),
            (&https, &token, false, Ok(())),
            (&ssh, &token, true, Err(CredentialError::NoSshKey)),
            (
                &ssh,
                &Credential::Anonymous,
                true,
                Err(CredentialError::NoSshKey),
            ),
        ];
        for (url, credential, allow_http, expected) in cases {
            assert_eq!(
                check(url, credential, allow_http),
                expected,
                "{url} {credential:?}"
            );
        }
    }

    #[test]
    fn a_credential_is_never_printed() {
        let basic = Credential::Basic {
            username: "me".to_owned(),
            password: Secret::new("hunter2".to_owned()),
        };
        assert!(!format!("{basic:?}").contains("hunter2"));
    }
}
