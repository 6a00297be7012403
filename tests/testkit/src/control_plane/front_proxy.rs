//! What the API server proves itself with when it forwards a request to an extension API server.
//!
//! The API server reads these files again when they change, and tells extension API servers the
//! new authority through a ConfigMap, so a test can rotate them while everything runs.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};

use crate::pki::{Authority, CertifiedKey};
use crate::workbench::{Workbench, replace_file};

/// The only common name that the API server tells extension API servers to accept.
pub const ALLOWED_NAME: &str = "front-proxy-client";

/// The authority for forwarded requests, and the files in which the API server finds it.
///
/// A rotation is [`trust_new_authority`](Self::trust_new_authority), then
/// [`switch_certificate`](Self::switch_certificate), then
/// [`drop_old_authority`](Self::drop_old_authority). Each returns at once; whether the new state
/// has arrived is seen in the ConfigMap `kube-system/extension-apiserver-authentication`. There
/// the API server only ever adds authorities: the old one stays until somebody deletes the
/// ConfigMap, which the API server then writes anew.
#[derive(Debug)]
pub struct FrontProxy {
    bundle_path: PathBuf,
    certificate_path: PathBuf,
    key_path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    generation: u32,
    current: Authority,
    next: Option<Authority>,
}

impl FrontProxy {
    pub(super) fn new(workbench: &Workbench) -> Result<Self> {
        let this = Self {
            bundle_path: workbench.path("front-proxy-ca.crt"),
            certificate_path: workbench.path("front-proxy-client.crt"),
            key_path: workbench.path("front-proxy-client.key"),
            state: Mutex::new(State {
                generation: 1,
                current: authority(1)?,
                next: None,
            }),
        };
        let state = this.lock();
        this.write_bundle(&state)?;
        this.write_client(&state.current)?;
        drop(state);
        Ok(this)
    }

    /// Returns the authorities that are trusted now, as PEM.
    pub fn bundle(&self) -> String {
        bundle(&self.lock())
    }

    /// Issues a client certificate of the current authority, also for a name that is not allowed.
    pub fn issue_client(&self, common_name: &str) -> Result<CertifiedKey> {
        self.lock().current.issue_client(common_name, None)
    }

    /// Creates a new authority and has it trusted beside the current one.
    pub fn trust_new_authority(&self) -> Result<()> {
        let mut state = self.lock();
        if state.next.is_some() {
            bail!("a rotation of the front proxy's authority is under way already");
        }
        state.generation += 1;
        state.next = Some(authority(state.generation)?);
        self.write_bundle(&state)
    }

    /// Gives the API server a client certificate of the new authority.
    pub fn switch_certificate(&self) -> Result<()> {
        match &self.lock().next {
            Some(next) => self.write_client(next),
            None => bail!("there is no new authority to switch to"),
        }
    }

    /// Trusts the new authority alone.
    pub fn drop_old_authority(&self) -> Result<()> {
        let mut state = self.lock();
        let Some(next) = state.next.take() else {
            bail!("there is no new authority to keep");
        };
        state.current = next;
        self.write_bundle(&state)
    }

    pub(super) fn flags(&self) -> Vec<String> {
        vec![
            format!(
                "--requestheader-client-ca-file={}",
                self.bundle_path.display()
            ),
            format!("--requestheader-allowed-names={ALLOWED_NAME}"),
            "--requestheader-username-headers=X-Remote-User".to_owned(),
            "--requestheader-group-headers=X-Remote-Group".to_owned(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
            format!(
                "--proxy-client-cert-file={}",
                self.certificate_path.display()
            ),
            format!("--proxy-client-key-file={}", self.key_path.display()),
        ]
    }

    fn write_bundle(&self, state: &State) -> Result<()> {
        replace_file(&self.bundle_path, bundle(state).as_bytes())
    }

    /// Replaces both files; the API server keeps the old pair while the two do not match.
    fn write_client(&self, authority: &Authority) -> Result<()> {
        let client = authority.issue_client(ALLOWED_NAME, None)?;
        replace_file(&self.key_path, client.key.as_bytes())?;
        replace_file(&self.certificate_path, client.certificate.as_bytes())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn authority(generation: u32) -> Result<Authority> {
    Authority::new(&format!("front-proxy-ca-{generation}"))
}

fn bundle(state: &State) -> String {
    let mut bundle = state.current.certificate();
    if let Some(next) = &state.next {
        bundle.push_str(&next.certificate());
    }
    bundle
}
