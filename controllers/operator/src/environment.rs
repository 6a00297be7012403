//! What the process is told through its environment, read once at the edge.

use model::Secret;

/// The environment variables that the operator knows.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `POD_NAME`: the name under which this process reports events.
    pub pod_name: Option<String>,
    /// `POD_NAMESPACE`: the operator's own namespace.
    pub pod_namespace: Option<String>,
    /// `REDIS_PASSWORD`.
    pub redis_password: Option<Secret<String>>,
    /// `BRANCH_BUFFER_MAX_SIZE`: serves where the flag is not given.
    pub branch_buffer_max_size: Option<String>,
}

/// Names and meanings, in the order in which the reference shows them.
pub const VARIABLES: [(&str, &str); 4] = [
    (
        "POD_NAMESPACE",
        "The operator's own namespace. Needed to run; the chart sets it.",
    ),
    (
        "POD_NAME",
        "The name under which events are reported. The chart sets it.",
    ),
    (
        "REDIS_PASSWORD",
        "The password for Redis. There is no flag for it, so that no process list shows it.",
    ),
    (
        "BRANCH_BUFFER_MAX_SIZE",
        "Serves where `--branch-buffer-max-size` is not given.",
    ),
];

impl Environment {
    /// Reads the variables of this process.
    pub fn of_this_process() -> Self {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads the variables from any source. An empty one counts as not set.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name| lookup(name).filter(|value| !value.is_empty());
        Self {
            pod_name: given("POD_NAME"),
            pod_namespace: given("POD_NAMESPACE"),
            redis_password: given("REDIS_PASSWORD").map(Secret::new),
            branch_buffer_max_size: given("BRANCH_BUFFER_MAX_SIZE"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_not_set_and_the_password_is_not_shown() {
        let environment = Environment::read(|name| match name {
            "POD_NAMESPACE" => Some(String::new()),
            "REDIS_PASSWORD" => Some("hunter2".to_owned()),
            _ => None,
        });
        assert_eq!(environment.pod_namespace, None);
        assert!(!format!("{environment:?}").contains("hunter2"));
    }
}
