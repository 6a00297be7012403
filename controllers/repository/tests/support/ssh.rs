//! The same repository behind `sshd`.

use repository::{
    Credential, Endpoint, HostKeyTrust, KnownHosts, Limits, Remote, SecretData, SshRemote, Store,
};
use testkit::{GitServer, SshKey, SshServer, SshSetup};

use super::{Bench, CommitId, tip_of};

/// A bench whose repository is reached over SSH.
pub(crate) struct SshBench {
    pub(crate) bench: Bench,
    pub(crate) host: SshServer,
}

impl SshBench {
    /// Starts with one commit of these files on `main`.
    pub(crate) fn seeded(files: &[(&str, &str)]) -> Self {
        Self::with(files, &SshSetup::default())
    }

    pub(crate) fn with(files: &[(&str, &str)], setup: &SshSetup) -> Self {
        let server = GitServer::start().unwrap();
        let origin = server.create_repository("app").unwrap();
        if !files.is_empty() {
            origin.seed(files).unwrap();
        }
        Self::of(Bench::with(server, origin), setup)
    }

    pub(crate) fn of(bench: Bench, setup: &SshSetup) -> Self {
        let host = SshServer::with(&bench.server, setup).unwrap();
        Self { bench, host }
    }

    /// Returns the right endpoint, with limits that a broken test does not wait out.
    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint {
            credential: key(self.host.client_key()),
            host_keys: known(&self.host.known_hosts()),
            limits: Limits {
                idle_timeout: std::time::Duration::from_secs(60),
                ..Limits::RECOMMENDED
            },
            ..super::endpoint(&self.host.url("app"))
        }
    }

    /// Returns the right endpoint at another port, whose host key is known there too.
    pub(crate) fn endpoint_at(&self, port: u16) -> Endpoint {
        let (here, there) = (self.host.port().to_string(), port.to_string());
        Endpoint {
            url: super::endpoint(&self.host.url("app").replace(&here, &there)).url,
            host_keys: known(&self.host.known_hosts().replace(&here, &there)),
            ..self.endpoint()
        }
    }

    pub(crate) fn remote(&self) -> SshRemote {
        self.remote_at(&self.endpoint())
    }

    pub(crate) fn remote_at(&self, endpoint: &Endpoint) -> SshRemote {
        let runtime = self.bench.runtime.handle().clone();
        SshRemote::new(endpoint, runtime, self.bench.cancel.clone()).unwrap()
    }

    /// Returns a remote, and a store that has what `main` is at.
    pub(crate) fn fetched(&self) -> (SshRemote, Store, CommitId) {
        let mut remote = self.remote();
        let mut store = self.bench.store();
        let tip = tip_of(&remote.look().unwrap(), "main");
        remote.fetch(&mut store, &tip, None).unwrap();
        (remote, store, tip)
    }
}

/// Makes the credential of a Secret with these entries.
pub(crate) fn secret(entries: &[(&str, &str)]) -> Result<Credential, repository::CredentialError> {
    let data = entries
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
    Credential::from_secret_data(&data.collect::<SecretData>())
}

pub(crate) fn key(key: &SshKey) -> Credential {
    secret(&[("ssh-privatekey", key.private())]).unwrap()
}

pub(crate) fn known(lines: &str) -> HostKeyTrust {
    HostKeyTrust::Known(KnownHosts::parse(lines.as_bytes(), "Secret ns/git-creds").unwrap())
}
