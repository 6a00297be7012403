//! What changed between two states of a tree, in the form in which Git sends it.
//!
//! A large folder differs from its state before in a few entries. Sent whole it would cost the compression and
//! the transfer of all its entries each time, none of which compress well.

use super::ends::{common_end, common_start};

/// The most that one instruction copies, so that its size fits into two bytes.
const LONGEST_COPY: usize = 0xffff;
/// The most that one instruction inserts.
const LONGEST_INSERT: usize = 0x7f;
/// What is sent as it is, rather than compared entry by entry.
const SHORT: usize = 1024;

/// Describes a tree by the tree that it was made from. `hash` is the length of an id in bytes; `None` when they
/// differ in much and one of the two is no tree.
pub(super) fn between(base: &[u8], tree: &[u8], hash: usize) -> Option<Vec<u8>> {
    let mut delta = Delta::default();
    delta.length(base.len());
    delta.length(tree.len());
    let start = common_start(base, tree);
    let end = common_end(&base[start..], &tree[start..]);
    let middle = &tree[start..tree.len() - end];
    if middle.len() <= SHORT {
        // One entry is another one, as after most edits.
        delta.copy(0, start);
        delta.insert(middle);
        delta.copy(base.len() - end, end);
        return Some(delta.finish());
    }
    let (mut old, mut new) = (0, 0);
    while new < tree.len() {
        let entry = entry(tree, new, hash)?;
        // Entries before this one are gone; both trees have the same order.
        while old < base.len() {
            let before = self::entry(base, old, hash)?;
            if before.bytes == entry.bytes || before.name >= entry.name {
                break;
            }
            old += before.bytes.len();
        }
        let before = (old < base.len()).then(|| self::entry(base, old, hash));
        match before.flatten() {
            Some(before) if before.bytes == entry.bytes => {
                delta.copy(old, before.bytes.len());
                old += before.bytes.len();
            }
            Some(before) if before.name == entry.name => {
                delta.insert(entry.bytes);
                old += before.bytes.len();
            }
            Some(_) | None => delta.insert(entry.bytes),
        }
        new += entry.bytes.len();
    }
    Some(delta.finish())
}

struct Entry<'a> {
    bytes: &'a [u8],
    name: &'a [u8],
}

/// Returns the entry that starts there: a mode, a space, a name, a zero byte and an id.
fn entry(tree: &[u8], start: usize, hash: usize) -> Option<Entry<'_>> {
    let rest = tree.get(start..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let space = rest[..end].iter().position(|byte| *byte == b' ')?;
    Some(Entry {
        bytes: rest.get(..end + 1 + hash)?,
        name: &rest[space + 1..end],
    })
}

/// Instructions that make the new bytes out of the old ones.
#[derive(Default)]
struct Delta {
    bytes: Vec<u8>,
    /// What is to be copied and not yet written: from where, and how much.
    copy: (usize, usize),
    insert: Vec<u8>,
}

impl Delta {
    fn length(&mut self, mut length: usize) {
        while length > 0x7f {
            self.bytes.push(low_byte(length) | 0x80);
            length >>= 7;
        }
        self.bytes.push(low_byte(length));
    }

    fn copy(&mut self, from: usize, length: usize) {
        if length == 0 {
            return;
        }
        self.write_insert();
        let (start, so_far) = self.copy;
        if start + so_far == from && so_far > 0 {
            self.copy.1 += length;
        } else {
            self.write_copy();
            self.copy = (from, length);
        }
    }

    fn insert(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.write_copy();
        self.insert.extend_from_slice(bytes);
    }

    fn write_copy(&mut self) {
        let (mut from, mut length) = std::mem::take(&mut self.copy);
        while length > 0 {
            let size = length.min(LONGEST_COPY);
            let at = self.bytes.len();
            self.bytes.push(0x80);
            // A byte that is zero is left out, and its bit stays unset.
            let numbers = (0..4).map(|byte| low_byte(from >> (8 * byte)));
            let numbers = numbers.chain((0..2).map(|byte| low_byte(size >> (8 * byte))));
            for (bit, number) in numbers.enumerate().filter(|(_, number)| *number != 0) {
                self.bytes[at] |= 1 << bit;
                self.bytes.push(number);
            }
            from += size;
            length -= size;
        }
    }

    fn write_insert(&mut self) {
        for part in self.insert.chunks(LONGEST_INSERT) {
            self.bytes.push(low_byte(part.len()));
            self.bytes.extend_from_slice(part);
        }
        self.insert.clear();
    }

    fn finish(mut self) -> Vec<u8> {
        self.write_copy();
        self.write_insert();
        self.bytes
    }
}

fn low_byte(number: usize) -> u8 {
    u8::try_from(number & 0xff).expect("because a masked number fits into a byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(names: &[(&str, u8)]) -> Vec<u8> {
        let entry = |(name, id): &(&str, u8)| {
            let mut bytes = format!("100644 {name}\0").into_bytes();
            bytes.extend([*id; 20]);
            bytes
        };
        names.iter().flat_map(entry).collect()
    }

    /// Follows the instructions as a server does.
    fn apply(base: &[u8], delta: &[u8]) -> Vec<u8> {
        let mut rest = delta.iter().copied();
        let mut length = || {
            let (mut length, mut shift) = (0, 0);
            loop {
                let byte = rest.next().unwrap();
                length |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    return length;
                }
            }
        };
        assert_eq!(length(), base.len());
        let wanted = length();
        let mut made = Vec::new();
        while let Some(instruction) = rest.next() {
            if instruction & 0x80 == 0 {
                made.extend(rest.by_ref().take(usize::from(instruction)));
                continue;
            }
            let mut number = |bits: std::ops::Range<u8>| {
                bits.clone()
                    .filter(|bit| instruction & (1 << bit) != 0)
                    .map(|bit| usize::from(rest.next().unwrap()) << (8 * (bit - bits.start)))
                    .sum::<usize>()
            };
            let (from, size) = (number(0..4), number(4..7));
            made.extend_from_slice(&base[from..from + size]);
        }
        assert_eq!(made.len(), wanted);
        made
    }

    fn check(base: &[u8], new: &[u8]) -> usize {
        let delta = between(base, new, 20).unwrap();
        assert_eq!(apply(base, &delta), new);
        delta.len()
    }

    #[test]
    fn a_change_in_a_large_tree_is_small() {
        let names: Vec<String> = (0..10_000).map(|number| format!("n{number:05}")).collect();
        let mut entries: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let base = tree(&entries);
        entries[5_000].1 = 2;
        entries[9_999].1 = 3;
        let size = check(&base, &tree(&entries));
        assert!(size < 200, "{size} bytes for two of 10,000 entries");
    }

    #[test]
    fn ends_that_overlap_are_copied_once() {
        let (one, three) = (tree(&[("a", 1)]), tree(&[("a", 1), ("a", 1), ("a", 1)]));
        check(&one, &three);
        check(&three, &one);
        check(&[b'x'; 600], &[b'x'; 1_200]);
    }

    #[test]
    fn entries_come_and_go_anywhere() {
        let states = [
            tree(&[]),
            tree(&[("a", 1)]),
            tree(&[("a", 1), ("b", 1), ("c", 1)]),
            tree(&[("b", 2), ("c", 1), ("d", 1)]),
            tree(&[("a", 1), ("c", 1)]),
            // In the order of folders, which is not that of the bytes of their names.
            tree(&[("a-b", 1), ("a", 2), ("c", 1)]),
            tree(&[("a-b", 2), ("a", 2)]),
        ];
        for base in &states {
            for new in &states {
                check(base, new);
            }
        }
    }

    #[test]
    fn what_is_no_tree_has_no_delta_unless_little_differs() {
        let (long, other) = ([b'x'; 2 * SHORT], [b'y'; 2 * SHORT]);
        assert_eq!(between(&long, &other, 20), None);
        check(b"no tree", &tree(&[("a", 1)]));
        check(&tree(&[("a", 1)]), b"no tree");
    }
}
