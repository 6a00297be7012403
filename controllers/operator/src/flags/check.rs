//! Rules that join several flags, or a flag and the environment.

use model::Namespace;

use super::attribution::Transport;
use super::value::Listen;
use super::{Flags, ValidationError};
use crate::environment::Environment;
use crate::flags::api::TlsMode;

/// The flags that a rule reads, and what is wrong with them together.
pub(super) type JointProblem = (&'static [&'static str], ValidationError);

/// Returns every rule that is broken. `given` says whether a flag stands on the command line.
pub(super) fn problems(
    flags: &Flags,
    environment: &Environment,
    given: &dyn Fn(&str) -> bool,
) -> Vec<JointProblem> {
    [
        identity(environment),
        transport_needs_redis(flags),
        memory_serves_one_replica(flags),
        caps_are_ordered(flags),
        route_annotation_needs_attribution(flags),
        audit_needs_a_certificate(flags, given),
        metrics_need_a_guard(flags),
        api_certificate(flags),
        timeouts_are_ordered(flags),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn problem(
    reads: &'static [&'static str],
    value: impl Into<Option<String>>,
    allowed: &str,
) -> Option<JointProblem> {
    let error = ValidationError {
        field: reads[0].to_owned(),
        value: value.into(),
        allowed: allowed.to_owned(),
    };
    Some((reads, error))
}

fn identity(environment: &Environment) -> Option<JointProblem> {
    let namespace = environment.pod_namespace.clone().unwrap_or_default();
    if Namespace::new(namespace.as_str()).is_ok() {
        return None;
    }
    problem(
        &["POD_NAMESPACE"],
        namespace,
        "the namespace that the operator runs in",
    )
}

fn transport_needs_redis(flags: &Flags) -> Option<JointProblem> {
    let attribution = &flags.attribution;
    let uses_redis = attribution.author_attribution_transport == Transport::Redis;
    if !attribution.author_attribution || !uses_redis || !flags.redis.redis_addr.is_empty() {
        return None;
    }
    problem(
        &[
            "--redis-addr",
            "--author-attribution",
            "--author-attribution-transport",
        ],
        String::new(),
        "HOST:PORT while attribution is on with the redis transport (or set \
         --author-attribution-transport=memory, or --author-attribution=false)",
    )
}

fn memory_serves_one_replica(flags: &Flags) -> Option<JointProblem> {
    let attribution = &flags.attribution;
    let uses_memory = attribution.author_attribution_transport == Transport::Memory;
    if !attribution.author_attribution || !uses_memory || flags.servers.replica_count == 1 {
        return None;
    }
    problem(
        &[
            "--author-attribution-transport",
            "--author-attribution",
            "--replica-count",
        ],
        "memory".to_owned(),
        "redis with more than one replica, because memory carries facts within one process only",
    )
}

fn caps_are_ordered(flags: &Flags) -> Option<JointProblem> {
    let attribution = &flags.attribution;
    let total = attribution.author_attribution_max_facts;
    if total >= attribution.author_attribution_max_facts_per_type {
        return None;
    }
    problem(
        &[
            "--author-attribution-max-facts",
            "--author-attribution-max-facts-per-type",
        ],
        total.to_string(),
        "at least the value of --author-attribution-max-facts-per-type",
    )
}

fn route_annotation_needs_attribution(flags: &Flags) -> Option<JointProblem> {
    let attribution = &flags.attribution;
    let key = &attribution.author_attribution_audit_route_annotation_key;
    if key.is_empty() || attribution.author_attribution {
        return None;
    }
    problem(
        &[
            "--author-attribution-audit-route-annotation-key",
            "--author-attribution",
        ],
        key.clone(),
        "nothing while --author-attribution=false",
    )
}

/// Attribution is on by default and goes on without names while it cannot work, so its listener is judged
/// only when a person asked for it.
fn audit_needs_a_certificate(flags: &Flags, given: &dyn Fn(&str) -> bool) -> Option<JointProblem> {
    let ingress = &flags.ingress;
    let asked = flags.attribution.author_attribution && given("author_attribution");
    let listens = ingress.audit_bind_address != Listen::Off;
    if !asked || !listens || ingress.audit_insecure || ingress.audit_cert_path.is_some() {
        return None;
    }
    problem(
        &[
            "--audit-cert-path",
            "--author-attribution",
            "--audit-insecure",
            "--audit-bind-address",
        ],
        String::new(),
        "the folder of the listener's certificate while attribution is on (or set --audit-insecure)",
    )
}

/// Metrics over HTTPS ask every reader for a token. Until that exists, only the open form is served, and
/// only to who says that it may be open.
fn metrics_need_a_guard(flags: &Flags) -> Option<JointProblem> {
    let Listen::At(address) = &flags.servers.metrics_bind_address else {
        return None;
    };
    if flags.servers.metrics_insecure {
        return None;
    }
    problem(
        &["--metrics-bind-address", "--metrics-insecure"],
        address.to_string(),
        "0, or an address together with --metrics-insecure; metrics over HTTPS with token checks are not \
         built yet",
    )
}

fn api_certificate(flags: &Flags) -> Option<JointProblem> {
    if flags.api.api_tls_mode == TlsMode::OperatorMade || flags.api.api_bind_address == Listen::Off
    {
        return None;
    }
    problem(
        &["--api-tls-mode", "--api-bind-address"],
        "secret".to_owned(),
        "self; a certificate from a Secret is not built yet",
    )
}

fn timeouts_are_ordered(flags: &Flags) -> Option<JointProblem> {
    if flags.git.git_cycle_timeout >= flags.git.git_call_timeout {
        return None;
    }
    problem(
        &["--git-cycle-timeout", "--git-call-timeout"],
        format!("{}s", flags.git.git_cycle_timeout.as_secs_f64()),
        "at least the value of --git-call-timeout",
    )
}
