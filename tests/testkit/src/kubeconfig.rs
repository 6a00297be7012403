//! Kubeconfig files: who somebody is, and how they reach an API server.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::pki::CertifiedKey;
use crate::workbench::replace_file;

/// A kubeconfig file that needs no other file.
#[derive(Clone, Debug)]
pub struct Kubeconfig {
    path: PathBuf,
}

impl Kubeconfig {
    /// Names a file that exists already, such as the one of a cluster that somebody else runs.
    pub fn existing(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content, which is what belongs into a Secret.
    pub fn text(&self) -> Result<String> {
        fs::read_to_string(&self.path)
            .with_context(|| format!("cannot read {}", self.path.display()))
    }

    /// Writes a file in which `user` reaches `server`.
    pub(crate) fn write(path: PathBuf, server: &Endpoint<'_>, user: Value) -> Result<Self> {
        let mut cluster = json!({ "server": server.url });
        if let Some(authority) = server.authority {
            cluster["certificate-authority-data"] = encode(authority);
        }
        let content = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "testkit", "cluster": cluster }],
            "users": [{ "name": "user", "user": user }],
            "contexts": [{ "name": "testkit", "context": { "cluster": "testkit", "user": "user" } }],
            "current-context": "testkit",
        });
        // JSON is YAML, and nobody reads these files for pleasure.
        replace_file(&path, format!("{content:#}\n").as_bytes())?;
        Ok(Self { path })
    }
}

/// Where a server is, and which authority vouches for it when it speaks TLS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint<'a> {
    pub(crate) url: &'a str,
    pub(crate) authority: Option<&'a str>,
}

/// Builds the `user` entry of somebody with a client certificate.
pub(crate) fn certificate_user(keys: &CertifiedKey) -> Value {
    json!({
        "client-certificate-data": encode(&keys.certificate),
        "client-key-data": encode(&keys.key),
    })
}

/// Builds the `user` entry of somebody with a bearer token.
pub(crate) fn token_user(token: &str) -> Value {
    json!({ "token": token })
}

fn encode(pem: &str) -> Value {
    Value::String(BASE64_STANDARD.encode(pem))
}
