//! The body of an answer as a blocking, bounded reader.

use std::io::{self, BufRead, Read};

use bytes::{Buf, Bytes};

use super::exchange::from_reqwest;
use crate::conversation::{Answer, AnswerLimit, Failure, Waiter};
use crate::error::RemoteError;

/// Reads an answer while it arrives. At most one chunk is in memory.
pub(crate) struct AnswerReader {
    response: reqwest::Response,
    waiter: Waiter,
    chunk: Bytes,
    left: u64,
    too_large: &'static str,
    failure: Failure,
}

impl AnswerReader {
    pub(super) fn new(
        response: reqwest::Response,
        waiter: Waiter,
        (limit, too_large): AnswerLimit,
        failure: Failure,
    ) -> Self {
        Self {
            response,
            waiter,
            chunk: Bytes::new(),
            left: limit,
            too_large,
            failure,
        }
    }

    /// Fetches the next chunk; an empty one stands for the end.
    fn advance(&mut self) -> io::Result<()> {
        const PHASE: &str = "the rest of the answer";
        let response = &mut self.response;
        let chunk = async { response.chunk().await.map_err(|e| from_reqwest(&e, PHASE)) };
        let arrived = self
            .waiter
            .wait(PHASE, chunk)
            .map_err(|error| self.failure.keep(error))?;
        self.chunk = arrived.unwrap_or_default();
        let size = u64::try_from(self.chunk.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(size).ok_or_else(|| {
            let what = self.too_large;
            self.failure.keep(RemoteError::TooLarge { what })
        })?;
        Ok(())
    }
}

impl Answer for AnswerReader {
    /// Reads past the end of what was parsed, so that the connection can serve the next request. What a
    /// server sends after its last packet is not looked at, and one that goes on is hung up on.
    fn finish(mut self) {
        const PATIENCE: u64 = 64 * 1024;
        let rest = io::copy(&mut self.by_ref().take(PATIENCE), &mut io::sink());
        if rest.is_err() {
            // The parsed part is complete; that the rest fails is nobody's failure.
            drop(self.failure.take());
        }
    }
}

impl Read for AnswerReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for AnswerReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.chunk.is_empty() {
            self.advance()?;
        }
        Ok(&self.chunk)
    }

    fn consume(&mut self, count: usize) {
        self.chunk.advance(count);
    }
}
