//! Packs the objects that a remote does not have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::Kind;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Status};
use gix_pack::data::Version;
use gix_pack::data::output::{Entry, bytes::FromEntriesIter, entry};

use super::delta;
use super::objects::{Base, NewObject, Objects};
use crate::error::StoreError;

/// A tree of this size is sent as what changed in it; a smaller one costs little anyway.
const LARGE_TREE: usize = 4 << 10;

/// New objects, ready to be sent. Cloning shares them.
#[derive(Clone)]
pub struct Pack {
    dir: Arc<std::path::Path>,
    hash: gix::hash::Kind,
    count: u32,
    objects: Arc<[(ObjectId, NewObject)]>,
}

/// What the receiver of a pack is known to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// The objects that the new ones were made from, so that a large tree may be sent as what changed in it.
    HasBases,
    /// Nothing that may be built on.
    WantsAll,
}

impl Pack {
    /// Takes all new objects.
    pub(super) fn of_new(objects: &Objects) -> Result<Self, StoreError> {
        Self::of(objects, objects.new_objects())
    }

    /// Takes all accepted objects.
    pub(super) fn of_accepted(objects: &Objects) -> Result<Self, StoreError> {
        Self::of(objects, objects.accepted())
    }

    fn of(objects: &Objects, new: &BTreeMap<ObjectId, NewObject>) -> Result<Self, StoreError> {
        let count = u32::try_from(new.len())
            .map_err(|_| objects.damage("an attempt has more objects than a pack can hold"))?;
        let of_kind = |kind| new.iter().filter(move |(_, object)| object.kind == kind);
        let mut in_order = Vec::with_capacity(new.len());
        for kind in [Kind::Commit, Kind::Tree, Kind::Blob] {
            in_order.extend(of_kind(kind).map(|(id, object)| (*id, object.clone())));
        }
        Ok(Self {
            dir: objects.dir().into(),
            hash: objects.hash_kind(),
            count,
            objects: in_order.into(),
        })
    }

    /// Returns how many objects it holds.
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// Says whether some object is sent as what changed in another.
    pub(crate) fn builds_on_bases(&self) -> bool {
        self.objects
            .iter()
            .any(|(_, object)| large_base(object).is_some())
    }

    /// Returns the pack as it is sent.
    pub(crate) fn encode(&self, to: Receiver) -> Result<Vec<u8>, StoreError> {
        let ids: BTreeSet<&ObjectId> = self.objects.iter().map(|(id, _)| id).collect();
        // One for all of them: to make one costs more than to compress a small object with it.
        let mut compressor = Compress::new(Compression::DEFAULT);
        let entries = self.objects.iter().map(|(id, object)| {
            // An object of this pack is one that everybody has who reads it.
            let has_base = |base: &ObjectId| to == Receiver::HasBases || ids.contains(base);
            entry_of(id, object, &mut compressor, has_base).map(|entry| vec![entry])
        });
        let mut bytes = Vec::new();
        let writer = FromEntriesIter::new(entries, &mut bytes, self.count, Version::V2, self.hash);
        for written in writer {
            written.map_err(|error| {
                super::damaged(&self.dir, format!("a pack cannot be made: {error}"))
            })?;
        }
        Ok(bytes)
    }

    #[cfg(test)]
    pub(crate) fn empty() -> Self {
        Self {
            dir: std::path::Path::new("").into(),
            hash: gix::hash::Kind::Sha1,
            count: 0,
            objects: Arc::from([]),
        }
    }
}

/// Returns the tree that a large one was made from.
fn large_base(object: &NewObject) -> Option<&Base> {
    let base = object.base.as_ref();
    base.filter(|_| object.bytes.len() >= LARGE_TREE)
}

/// Encodes an object: whole, or, where it is a large tree, as what changed in the tree that it was made from.
fn entry_of(
    id: &ObjectId,
    object: &NewObject,
    compressor: &mut Compress,
    has_base: impl Fn(&ObjectId) -> bool,
) -> gix::Result<Entry> {
    let base = large_base(object).filter(|base| has_base(&base.id));
    let delta = base.and_then(|base| {
        let hash = id.kind().len_in_bytes();
        Some((base.id, delta::between(&base.bytes, &object.bytes, hash)?))
    });
    let data = delta.as_ref().map_or(&*object.bytes, |(_, delta)| delta);
    let compressed_data = compressed(data, compressor)?;
    let kind = match &delta {
        Some((id, _)) => entry::Kind::DeltaOid { id: *id },
        None => entry::Kind::Base(object.kind),
    };
    Ok(Entry {
        id: *id,
        kind,
        decompressed_size: data.len(),
        compressed_data,
    })
}

/// Compresses the data of one object.
fn compressed(data: &[u8], compressor: &mut Compress) -> gix::Result<Vec<u8>> {
    compressor.reset();
    let mut read = 0;
    let mut compressed = Vec::new();
    loop {
        let start = compressed.len();
        // Most objects need one round; what does not compress is as long as it was, and a little longer.
        compressed.resize(start + (data.len() - read) / 2 + 64, 0);
        let (before, written) = (compressor.total_in(), compressor.total_out());
        let status = compressor.compress(
            &data[read..],
            &mut compressed[start..],
            FlushCompress::Finish,
        )?;
        read += length(compressor.total_in() - before);
        compressed.truncate(start + length(compressor.total_out() - written));
        if matches!(status, Status::StreamEnd) {
            return Ok(compressed);
        }
    }
}

/// What was counted in memory fits a length.
fn length(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

impl std::fmt::Debug for Pack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack")
            .field("objects", &self.objects.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_any_length_is_compressed_to_one_whole_stream() {
        let mut compressor = Compress::new(Compression::DEFAULT);
        // What does not compress: the digits of a generator.
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_be_bytes()[0]
        })
        .take(100_000)
        .collect();
        for data in [&b""[..], b"x", &[b'x'; 100_000], &noise] {
            let stream = compressed(data, &mut compressor).unwrap();
            let mut again = vec![0; data.len() + 1];
            let (status, read, written) = gix::zlib::Inflate::default()
                .once(&stream, &mut again)
                .unwrap();
            assert_eq!(status, Status::StreamEnd);
            assert_eq!((read, &again[..written]), (stream.len(), data));
        }
    }
}
