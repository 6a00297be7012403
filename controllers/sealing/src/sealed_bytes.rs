//! The bytes of a sensitive document.

use std::fmt;

/// The text of a sealed document. Only this crate makes one, after it has read the text back and proved that
/// nothing sensitive stands in it.
///
/// ```compile_fail,E0423
/// let sealed = sealing::SealedBytes(b"password: hunter2".to_vec());
/// ```
///
/// ```compile_fail,E0624
/// let sealed = sealing::SealedBytes::proved("password: hunter2".to_owned());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SealedBytes(Vec<u8>);

impl SealedBytes {
    /// Takes a text that has been proved; see [`crate::seal`].
    pub(crate) fn proved(text: String) -> Self {
        Self(text.into_bytes())
    }

    /// Returns the bytes as they go into a file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes as they go into a file.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl fmt::Debug for SealedBytes {
    /// Shows the size only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedBytes({} bytes)", self.0.len())
    }
}
