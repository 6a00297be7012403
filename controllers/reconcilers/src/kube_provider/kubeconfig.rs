//! What a kubeconfig may do, checked before it is used and without dialling the cluster. Pure.

use crds::conditions::Reason;
use kube::config::{AuthInfo, Cluster, Kubeconfig};

use crate::settings::KubeConfigPolicy;

/// Why a kubeconfig is not used. No text holds anything of its content but the names of fields.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KubeConfigFault {
    #[error("Secret {0} does not exist; create it, and it is found by itself")]
    SecretNotFound(String),
    #[error("Secret {secret} has no key {keys}; put the kubeconfig there")]
    KeyNotFound { secret: String, keys: String },
    #[error("it is not a kubeconfig that can be used: {0}")]
    Invalid(&'static str),
    #[error(
        "it runs a program to obtain a credential ({0}); write a token or a client certificate instead"
    )]
    ExecNotAllowed(&'static str),
    #[error("it sets insecure-skip-tls-verify; write certificate-authority-data instead")]
    InsecureTlsNotAllowed,
    #[error(
        "it names a file by its path ({0}), which would be a file of the operator; embed the data instead"
    )]
    FileReferenceNotAllowed(&'static str),
}

impl KubeConfigFault {
    /// Returns the reason of `Validated`.
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::SecretNotFound(_) => Reason::KubeConfigSecretNotFound,
            Self::KeyNotFound { .. } => Reason::KubeConfigKeyNotFound,
            Self::Invalid(_) => Reason::KubeConfigInvalid,
            Self::ExecNotAllowed(_) => Reason::KubeConfigExecNotAllowed,
            Self::InsecureTlsNotAllowed => Reason::KubeConfigInsecureTlsNotAllowed,
            Self::FileReferenceNotAllowed(_) => Reason::KubeConfigFileReferenceNotAllowed,
        }
    }
}

/// Reads a kubeconfig and checks the context that it would use.
pub(crate) fn check(
    content: &[u8],
    policy: KubeConfigPolicy,
) -> Result<Kubeconfig, KubeConfigFault> {
    let text =
        std::str::from_utf8(content).map_err(|_| KubeConfigFault::Invalid("it is not text"))?;
    let parsed = Kubeconfig::from_yaml(text);
    let config =
        parsed.map_err(|_| KubeConfigFault::Invalid("it does not parse as a kubeconfig"))?;
    let (cluster, user) = in_use(&config)?;
    if let Some(field) = file_reference(cluster, user) {
        return Err(KubeConfigFault::FileReferenceNotAllowed(field));
    }
    if let Some(field) = user.and_then(program)
        && !policy.allow_exec
    {
        return Err(KubeConfigFault::ExecNotAllowed(field));
    }
    if cluster.insecure_skip_tls_verify == Some(true) && !policy.allow_insecure_tls {
        return Err(KubeConfigFault::InsecureTlsNotAllowed);
    }
    if cluster.server.as_deref().is_none_or(str::is_empty) {
        return Err(KubeConfigFault::Invalid("its cluster has no server"));
    }
    Ok(config)
}

/// Finds the cluster and the user that `current-context` names.
fn in_use(config: &Kubeconfig) -> Result<(&Cluster, Option<&AuthInfo>), KubeConfigFault> {
    let current = config.current_context.as_deref().unwrap_or_default();
    let context = config
        .contexts
        .iter()
        .find(|context| context.name == current);
    let context = context.and_then(|context| context.context.as_ref());
    let context = context.ok_or(KubeConfigFault::Invalid(
        "its current-context names no context",
    ))?;
    let cluster = config
        .clusters
        .iter()
        .find(|cluster| cluster.name == context.cluster);
    let cluster = cluster.and_then(|cluster| cluster.cluster.as_ref());
    let cluster = cluster.ok_or(KubeConfigFault::Invalid("its context names no cluster"))?;
    let Some(name) = context.user.as_deref().filter(|name| !name.is_empty()) else {
        return Ok((cluster, None));
    };
    let user = config.auth_infos.iter().find(|user| user.name == name);
    let user = user.ok_or(KubeConfigFault::Invalid("its context names no user"))?;
    Ok((cluster, user.auth_info.as_ref()))
}

fn file_reference(cluster: &Cluster, user: Option<&AuthInfo>) -> Option<&'static str> {
    let named = |path: &Option<String>| path.as_deref().is_some_and(|path| !path.is_empty());
    if named(&cluster.certificate_authority) {
        return Some("certificate-authority");
    }
    let user = user?;
    [
        ("client-certificate", &user.client_certificate),
        ("client-key", &user.client_key),
        ("tokenFile", &user.token_file),
    ]
    .into_iter()
    .find(|(_, path)| named(path))
    .map(|(field, _)| field)
}

/// An `auth-provider` can name a command of its own, so it is a program like any other.
fn program(user: &AuthInfo) -> Option<&'static str> {
    if user.exec.is_some() {
        return Some("exec");
    }
    user.auth_provider.as_ref().map(|_| "auth-provider")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kubeconfig(cluster: &str, user: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{{cluster}}}}}, {{name: unused, cluster: {{certificate-authority: /x}}}}]\n\
             users: [{{name: u, user: {{{user}}}}}]\n"
        )
    }

    fn reason(text: &str, policy: KubeConfigPolicy) -> Option<&'static str> {
        check(text.as_bytes(), policy)
            .err()
            .map(|fault| fault.reason().as_str())
    }

    const SERVER: &str = "server: 'https://k.example.com'";
    const EXEC: &str = "exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh}";

    #[test]
    fn what_would_use_the_operators_pod_is_refused() {
        let strict = KubeConfigPolicy::default();
        for (cluster, user, expected) in [
            (SERVER.to_owned(), "token: t", None),
            (SERVER.to_owned(), EXEC, Some("KubeConfigExecNotAllowed")),
            (
                SERVER.to_owned(),
                "auth-provider: {name: gcp}",
                Some("KubeConfigExecNotAllowed"),
            ),
            (
                SERVER.to_owned(),
                "tokenFile: /var/run/token",
                Some("KubeConfigFileReferenceNotAllowed"),
            ),
            (
                SERVER.to_owned(),
                "client-key: /k",
                Some("KubeConfigFileReferenceNotAllowed"),
            ),
            (
                format!("{SERVER}, certificate-authority: /ca"),
                "token: t",
                Some("KubeConfigFileReferenceNotAllowed"),
            ),
            (
                format!("{SERVER}, insecure-skip-tls-verify: true"),
                "token: t",
                Some("KubeConfigInsecureTLSNotAllowed"),
            ),
            (String::new(), "token: t", Some("KubeConfigInvalid")),
        ] {
            assert_eq!(
                reason(&kubeconfig(&cluster, user), strict),
                expected,
                "{cluster} {user}"
            );
        }
        assert_eq!(reason("- just a list", strict), Some("KubeConfigInvalid"));
        assert_eq!(
            reason("current-context: nowhere", strict),
            Some("KubeConfigInvalid")
        );
    }

    #[test]
    fn the_installation_can_allow_two_of_them_and_never_a_file() {
        let lax = KubeConfigPolicy {
            allow_exec: true,
            allow_insecure_tls: true,
        };
        assert_eq!(reason(&kubeconfig(SERVER, EXEC), lax), None);
        let insecure = format!("{SERVER}, insecure-skip-tls-verify: true");
        assert_eq!(reason(&kubeconfig(&insecure, "token: t"), lax), None);
        assert_eq!(
            reason(&kubeconfig(SERVER, "tokenFile: /t"), lax),
            Some("KubeConfigFileReferenceNotAllowed")
        );
    }

    #[test]
    fn a_fault_shows_nothing_of_the_content() {
        let text = "users: [{name: hunter2, user: {token: hunter2";
        let fault = check(text.as_bytes(), KubeConfigPolicy::default()).unwrap_err();
        assert!(!fault.to_string().contains("hunter2"), "{fault}");
    }
}
