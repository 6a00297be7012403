//! Makes the extension API reachable: the certificate it serves with, and its registration with the
//! cluster's aggregation layer.
//!
//! It knows neither what is served nor how; it publishes a certificate for whoever listens, and keeps
//! one `APIService` object true. It deliberately never offers to skip verification, and never makes
//! a certificate that nobody renews.
//!
//! Reading order: [`names`]; [`certificate`] (judging and making certificates, no I/O) and [`stored`]
//! (their form in a Secret), which [`keep_certificate`] puts to work; [`registration`] (the object and
//! its judgement, no I/O), which [`keep_registration`] puts to work.

pub mod certificate;
pub mod keep_certificate;
pub mod keep_registration;
pub mod names;
pub mod registration;
pub mod stored;

pub use certificate::{Material, ServingNames};
pub use keep_certificate::{CertificateKeeper, CertificateReader, Serving, TlsMode};
pub use keep_registration::{RegistrationKeeper, RemovalError, cluster_role_owner};
pub use names::{ApiName, SecretName, ServiceName};
pub use registration::{RegistrationMode, RegistrationPlan};
