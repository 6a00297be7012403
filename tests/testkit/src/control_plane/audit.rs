//! What the API server records, and where it sends it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::kubeconfig::{Endpoint, Kubeconfig, certificate_user};
use crate::pki::CertifiedKey;
use crate::workbench::Workbench;

/// A receiver of audit events, which does not have to listen yet.
#[derive(Clone, Debug)]
pub struct AuditWebhook {
    /// The address, with scheme, host, port and path.
    pub url: String,
    /// The authority of the receiver's certificate, as PEM, when it speaks TLS.
    pub server_authority: Option<String>,
    /// The certificate with which the API server proves itself to the receiver.
    pub client: Option<CertifiedKey>,
}

/// What to record and where to put it.
#[derive(Clone, Debug, Default)]
pub(super) struct Audit {
    pub(super) policy: Option<Value>,
    pub(super) webhook: Option<AuditWebhook>,
    pub(super) log: bool,
}

impl Audit {
    /// Writes the files and returns the flags that name them.
    pub(super) fn flags(&self, workbench: &Workbench) -> Result<Vec<String>> {
        if self.webhook.is_none() && !self.log {
            return Ok(Vec::new());
        }
        let policy = self.policy.clone().unwrap_or_else(default_policy);
        let policy_path = workbench.write("audit-policy.json", policy.to_string())?;
        let mut flags = vec![format!("--audit-policy-file={}", policy_path.display())];
        if self.log {
            flags.push(format!(
                "--audit-log-path={}",
                log_path(workbench).display()
            ));
        }
        if let Some(webhook) = &self.webhook {
            let path = write_receiver(workbench, webhook)?;
            flags.push(format!("--audit-webhook-config-file={}", path.display()));
            flags.push("--audit-webhook-batch-max-wait=100ms".to_owned());
        }
        Ok(flags)
    }
}

/// Records every request once, when it is answered, and long ones also when the answer starts.
fn default_policy() -> Value {
    json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{ "level": "Metadata" }],
    })
}

fn write_receiver(workbench: &Workbench, webhook: &AuditWebhook) -> Result<PathBuf> {
    let endpoint = Endpoint {
        url: &webhook.url,
        authority: webhook.server_authority.as_deref(),
    };
    let user = webhook
        .client
        .as_ref()
        .map_or_else(|| json!({}), certificate_user);
    let path = workbench.path("audit-webhook.kubeconfig");
    Ok(Kubeconfig::write(path, &endpoint, user)?.path().to_owned())
}

pub(super) fn log_path(workbench: &Workbench) -> PathBuf {
    workbench.path("audit-events.jsonl")
}

/// Reads the events recorded so far; a last line that is still being written is left out.
pub(super) fn read_log(path: &Path) -> Result<Vec<Value>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete
        .lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("not an event: {line}")))
        .collect()
}
