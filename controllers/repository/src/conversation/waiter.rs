//! Waiting for the network, within limits.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::RemoteError;

/// Waits for the network within the limits of one conversation.
#[derive(Debug, Clone)]
pub(crate) struct Waiter {
    runtime: Handle,
    cancel: CancellationToken,
    deadline: Instant,
    idle: Duration,
}

impl Waiter {
    /// Starts the clock of a conversation that may take `timeout` in all and `idle` for each step.
    pub(crate) fn new(
        runtime: Handle,
        cancel: CancellationToken,
        timeout: Duration,
        idle: Duration,
    ) -> Self {
        Self {
            runtime,
            cancel,
            deadline: Instant::now() + timeout,
            idle,
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Waits for one step of the network, at most until the conversation's deadline.
    pub(crate) fn wait<T>(
        &self,
        phase: &'static str,
        step: impl Future<Output = Result<T, RemoteError>>,
    ) -> Result<T, RemoteError> {
        self.wait_within(self.idle, phase, step)
    }

    /// Waits for one step that has a limit of its own.
    pub(crate) fn wait_within<T>(
        &self,
        limit: Duration,
        phase: &'static str,
        step: impl Future<Output = Result<T, RemoteError>>,
    ) -> Result<T, RemoteError> {
        let limit = self.deadline.min(Instant::now() + limit);
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => Err(RemoteError::Cancelled),
                ended = tokio::time::timeout_at(limit, step) => {
                    ended.unwrap_or(Err(RemoteError::TimedOut { phase }))
                }
            }
        })
    }
}
