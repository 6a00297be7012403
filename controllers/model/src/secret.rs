//! Values that must not be printed.

use std::fmt;

/// Holds a value that neither `Debug` nor `Display` shows, so it cannot slip into a log or a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps the value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value. The caller must not let it reach a log, status, event, metric or error.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl<T> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
