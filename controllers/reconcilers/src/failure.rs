//! What can go wrong while an object is reconciled.

/// The world did not cooperate; the object is looked at again soon.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The API server of the control cluster did not do what it was asked for.
    #[error("the API server did not answer {asked}")]
    Api {
        /// What it was asked for.
        asked: &'static str,
        /// What it said.
        #[source]
        source: Box<kube::Error>,
    },
    /// The fleet has ended, because the process stops.
    #[error(transparent)]
    FleetGone(#[from] fleet::FleetGone),
    /// A status cannot be written as JSON.
    #[error("the status cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// A part of this crate has ended, because the process stops.
    #[error("{0} has ended because the process stops")]
    Stopped(&'static str),
}

impl Failure {
    /// Says whether the API server answered that the operator may not.
    pub(crate) fn is_forbidden(&self) -> bool {
        match self {
            Self::Api { source, .. } => {
                matches!(&**source, kube::Error::Api(status) if status.is_forbidden())
            }
            Self::FleetGone(_) | Self::Json(_) | Self::Stopped(_) => false,
        }
    }

    /// Wraps an error of the API server.
    pub(crate) fn api(asked: &'static str) -> impl FnOnce(kube::Error) -> Self {
        move |source| Self::Api {
            asked,
            source: Box::new(source),
        }
    }
}
