//! How much a store has grown. Every fetch adds a pack, each of which is asked for every object that is looked up.

use std::fs;
use std::path::Path;

/// So many packs are asked before a new store is better.
const MANY_PACKS: u32 = 100;
/// So many times the largest pack, which is that of the first fetch, may all of them take.
const MANY_TIMES: u64 = 8;
/// Below so many bytes a store is small whatever it began with.
const SMALL: u64 = 64 << 20;

/// The packs of a store: how many, and how large.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wear {
    packs: u32,
    bytes: u64,
    largest: u64,
}

impl Wear {
    /// Counts the packs in a directory. What cannot be read counts as nothing: a store that is broken is noticed
    /// elsewhere.
    pub(super) fn of(packs: &Path) -> Self {
        let mut wear = Self::default();
        for entry in fs::read_dir(packs).into_iter().flatten().flatten() {
            let is_pack = entry.path().extension().is_some_and(|it| it == "pack");
            if let (true, Ok(metadata)) = (is_pack, entry.metadata()) {
                wear.note_pack(metadata.len());
            }
        }
        wear
    }

    /// Counts one more pack.
    pub(super) fn note_pack(&mut self, bytes: u64) {
        self.packs += 1;
        self.bytes += bytes;
        self.largest = self.largest.max(bytes);
    }

    /// Says whether a new store is better.
    pub(super) fn is_much(self) -> bool {
        let large = SMALL.max(self.largest.saturating_mul(MANY_TIMES));
        self.packs > MANY_PACKS || self.bytes > large
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wear(packs: &[(u32, u64)]) -> Wear {
        let mut wear = Wear::default();
        for (count, bytes) in packs {
            (0..*count).for_each(|_| wear.note_pack(*bytes));
        }
        wear
    }

    #[test]
    fn many_packs_or_many_bytes_wear_a_store_out() {
        assert!(!Wear::default().is_much());
        assert!(!wear(&[(1, 1000), (99, 10)]).is_much());
        assert!(wear(&[(1, 1000), (100, 10)]).is_much());
        assert!(!wear(&[(1, 1 << 20), (60, 1 << 20)]).is_much(), "small");
        assert!(!wear(&[(1, 50 << 20), (30, 10 << 20)]).is_much());
        assert!(wear(&[(1, 50 << 20), (40, 10 << 20)]).is_much());
        assert!(!wear(&[(1, 4 << 30)]).is_much(), "the first fetch");
    }

    #[test]
    fn a_store_that_is_opened_again_is_as_worn_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in [("a.pack", 5), ("a.idx", 100), ("b.pack", 7)] {
            fs::write(dir.path().join(name), vec![0; bytes]).unwrap();
        }
        assert_eq!(Wear::of(dir.path()), wear(&[(1, 5), (1, 7)]));
        assert_eq!(Wear::of(&dir.path().join("none")), Wear::default());
    }
}
