//! How one record lies in a file: a mark, its length, a checksum, a kind and its bytes.
//!
//! The mark begins with a byte that no text holds, so a reader that lost its way in a damaged record finds the next
//! one. The checksum covers everything behind itself and the length.

use std::ops::Range;

const MARK: [u8; 4] = *b"\xf7grj";
/// Mark, length and checksum.
const HEAD: usize = 12;
/// Longer records are taken for damage; the largest object of an API server is far below.
const LONGEST: usize = 64 << 20;

/// One record as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// What kind of record it is.
    pub(super) kind: u8,
    /// Where its bytes are.
    pub(super) body: Range<usize>,
    /// Where the whole of it is.
    pub(super) span: Range<usize>,
}

/// What a file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// Every record that can be read, in order.
    pub(super) frames: Vec<Frame>,
    /// What lies between two records and is none.
    pub(super) damaged: Vec<Range<usize>>,
    /// What follows the last record and is none: a record that was being written when the process ended.
    pub(super) torn: usize,
}

/// Appends a record.
pub(super) fn put(into: &mut Vec<u8>, kind: u8, body: &[u8]) {
    let length = u32::try_from(body.len() + 1).unwrap_or(u32::MAX);
    let mut checked = crc32fast::Hasher::new();
    checked.update(&length.to_le_bytes());
    checked.update(&[kind]);
    checked.update(body);
    into.extend_from_slice(&MARK);
    into.extend_from_slice(&length.to_le_bytes());
    into.extend_from_slice(&checked.finalize().to_le_bytes());
    into.push(kind);
    into.extend_from_slice(body);
}

/// Reads what can be read.
pub(super) fn read(bytes: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(frame) = frame_at(bytes, at) {
            at = frame.span.end;
            reading.frames.push(frame);
            continue;
        }
        let next = (at + 1..bytes.len()).find(|start| frame_at(bytes, *start).is_some());
        match next {
            Some(next) => reading.damaged.push(at..next),
            None => reading.torn = bytes.len() - at,
        }
        at = next.unwrap_or(bytes.len());
    }
    reading
}

fn frame_at(bytes: &[u8], at: usize) -> Option<Frame> {
    let head = bytes.get(at..at + HEAD)?;
    let (mark, numbers) = head.split_first_chunk::<4>()?;
    let (length, checksum) = numbers.split_first_chunk::<4>()?;
    if *mark != MARK {
        return None;
    }
    let size = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if size == 0 || size > LONGEST {
        return None;
    }
    let checked = bytes.get(at + HEAD..at + HEAD + size)?;
    let mut found = crc32fast::Hasher::new();
    found.update(length);
    found.update(checked);
    let intact = found.finalize().to_le_bytes() == *checksum;
    intact.then(|| Frame {
        kind: checked[0],
        body: at + HEAD + 1..at + HEAD + size,
        span: at..at + HEAD + size,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(records: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut file = Vec::new();
        for (kind, body) in records {
            put(&mut file, *kind, body);
        }
        file
    }

    fn found(file: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let frames = read(file).frames.into_iter();
        frames
            .map(|frame| (frame.kind, file[frame.body].to_vec()))
            .collect()
    }

    fn records() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
        let body = proptest::collection::vec(any::<u8>(), 0..40);
        proptest::collection::vec((any::<u8>(), body), 0..12)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(records in records()) {
            let file = written(&records);
            let reading = read(&file);
            prop_assert_eq!(found(&file), records);
            prop_assert_eq!((reading.damaged, reading.torn), (Vec::new(), 0));
        }

        /// Bytes that are overwritten cost the records that they belong to and no other.
        #[test]
        fn damage_costs_the_records_that_it_hits(
            records in records(),
            at in any::<prop::sample::Index>(),
            noise in proptest::collection::vec(1_u8.., 1..30),
        ) {
            let mut file = written(&records);
            prop_assume!(!file.is_empty());
            let at = at.index(file.len());
            let whole = read(&file).frames;
            for (byte, noise) in file[at..].iter_mut().zip(&noise) {
                *byte ^= noise;
            }
            let hit = at..(at + noise.len()).min(file.len());
            let untouched: Vec<_> = records.iter().zip(&whole)
                .filter(|(_, frame)| frame.span.end <= hit.start || hit.end <= frame.span.start)
                .map(|(record, _)| record.clone())
                .collect();
            prop_assert_eq!(found(&file), untouched);
        }
    }

    #[test]
    fn a_file_that_was_cut_holds_every_record_before_the_cut() {
        let records: Vec<_> = (0..5_u8)
            .map(|n| (n, vec![n; usize::from(n) * 3]))
            .collect();
        let file = written(&records);
        let ends: Vec<_> = read(&file)
            .frames
            .iter()
            .map(|frame| frame.span.end)
            .collect();
        for cut in 0..=file.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(found(&file[..cut]), records[..whole], "cut at {cut}");
            let kept = ends[..whole].last().copied().unwrap_or_default();
            assert_eq!(read(&file[..cut]).torn, cut - kept);
        }
    }
}
