//! The names of the objects this crate touches.

use std::fmt;

/// The group and version that are registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiName {
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
}

impl ApiName {
    /// Returns the name that an `APIService` for this group and version must have.
    pub fn object_name(&self) -> String {
        format!("{}.{}", self.version, self.group)
    }
}

/// The Service through which the cluster reaches the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceName {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The port of the Service, not of the container.
    pub port: u16,
}

/// The Secret that holds the serving certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretName {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for SecretName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}
