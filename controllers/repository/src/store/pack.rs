//! Packs the objects that a remote does not have.

use std::sync::Arc;

use gix::objs::{Data, Kind};
use gix_pack::data::Version;
use gix_pack::data::output::{Count, Entry, bytes::FromEntriesIter};

use super::objects::Objects;
use crate::error::StoreError;

/// Objects in the form in which they are sent. Cloning shares them.
#[derive(Clone)]
pub struct Pack {
    bytes: Arc<[u8]>,
    objects: usize,
}

impl Pack {
    /// Packs all new objects: whole, without deltas, so that every server takes them.
    pub(super) fn of(objects: &Objects) -> Result<Self, StoreError> {
        let new = objects.new_objects();
        let kinds = [Kind::Commit, Kind::Tree, Kind::Blob];
        let in_order = kinds.into_iter().flat_map(|kind| {
            new.iter()
                .filter(move |(_, object)| object.kind == kind)
                .map(move |(id, object)| {
                    let data = Data {
                        kind,
                        object_hash: id.kind(),
                        data: &object.bytes,
                    };
                    Entry::from_data(
                        &Count::from_data(*id, None),
                        &data,
                        gix::zlib::Compression::DEFAULT,
                    )
                    .map(|entry| vec![entry])
                })
        });
        let count = u32::try_from(new.len())
            .map_err(|_| objects.damage("an attempt has more objects than a pack can hold"))?;
        let mut bytes = Vec::new();
        let writer = FromEntriesIter::new(
            in_order,
            &mut bytes,
            count,
            Version::V2,
            objects.hash_kind(),
        );
        for written in writer {
            written.map_err(|error| objects.damage(format!("a pack cannot be made: {error}")))?;
        }
        Ok(Self {
            bytes: bytes.into(),
            objects: new.len(),
        })
    }

    /// Returns the pack as it is sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns how many objects it holds.
    pub fn objects(&self) -> usize {
        self.objects
    }

    #[cfg(test)]
    pub(crate) fn empty() -> Self {
        Self {
            bytes: Arc::from([]),
            objects: 0,
        }
    }
}

impl std::fmt::Debug for Pack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack")
            .field("objects", &self.objects)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}
