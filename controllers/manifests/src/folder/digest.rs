//! What a document means, as a short hash, so that a folder need not hold what its documents say.

use std::fmt;
use std::io;

use model::ObjectDigest;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// A hash of a value. Equal hashes mean equal values; different ones may still mean the same to Kubernetes, as
/// `1` and `1.0` do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 16]);

struct Hashing(Sha256);

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Digest {
    /// Hashes a JSON value or map. Maps are sorted by key, so the order of a document has no effect.
    pub(crate) fn of(value: &impl Serialize) -> Self {
        let mut hashing = io::BufWriter::new(Hashing(Sha256::new()));
        let written = serde_json::to_writer(&mut hashing, value);
        debug_assert!(written.is_ok(), "a value of JSON can be written as JSON");
        let hash = hashing
            .into_inner()
            .map_or_else(|_| Sha256::new(), |hashing| hashing.0)
            .finalize();
        let mut short = [0; 16];
        short.copy_from_slice(&hash[..16]);
        Self(short)
    }
}

impl From<ObjectDigest> for Digest {
    /// Takes the digest of an object's value, which is made in the same way.
    fn from(digest: ObjectDigest) -> Self {
        Self(*digest.as_bytes())
    }
}

impl fmt::Debug for Digest {
    /// Shows nothing: the hash of a short secret would give it away.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_have_equal_digests() {
        let map = json!({"b": [1, "x"], "a": null});
        assert_eq!(
            Digest::of(&map),
            Digest::of(&json!({"a": null, "b": [1, "x"]}))
        );
        assert_eq!(Digest::of(&map), Digest::of(map.as_object().unwrap()));
        assert_ne!(
            Digest::of(&map),
            Digest::of(&json!({"a": null, "b": [1, "y"]}))
        );
    }
}
