//! Readers of single flag values, in the spelling that Go programs and Kubernetes use.
//!
//! Each reader takes text and returns the value or a [`Disallowed`] that says what would be legal. Nothing
//! here knows which flag it reads for; rules that join several flags are in [`super::check`].

mod duration;
mod list;
mod listen;
mod quantity;
mod word;

pub use duration::{duration, positive_duration};
pub use list::{KubeProviderList, kube_provider_list, sensitive_types};
pub use listen::{Listen, ListenAddress, listen};
pub use quantity::{ByteSize, byte_size};
pub use word::{
    ServiceReference, database_number, go_bool, name_or_empty, positive_count, redis_address,
    redis_key_prefix, service_reference, trimmed,
};

/// Says what a flag would have accepted. The value itself is reported by the caller, who knows the flag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{allowed}")]
pub struct Disallowed {
    /// What is legal, as the end of the sentence "allowed: ...".
    pub allowed: String,
}

impl Disallowed {
    fn but(allowed: impl Into<String>) -> Self {
        Self {
            allowed: allowed.into(),
        }
    }
}
