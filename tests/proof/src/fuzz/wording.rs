//! Bytes as a template of a commit message: it is read or refused, prints the same each time, and never too much.

use super::ensure;
use crate::dice::Dice;
use crate::wording::{Commit, PIECES, commit};

/// The most that a template may print.
const MOST: usize = 1 << 21;

/// Reads and executes a template made from the bytes.
///
/// # Errors
/// Returns what is wrong.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let as_it_is = String::from_utf8_lossy(bytes);
    let from_pieces: String = bytes
        .iter()
        .map(|byte| PIECES[usize::from(*byte) % PIECES.len()])
        .collect();
    let commit = commit(&mut Dice::of(bytes));
    try_one(&as_it_is, &commit)?;
    try_one(&from_pieces, &commit)
}

fn try_one(source: &str, commit: &Commit) -> Result<(), String> {
    let (once, again) = (commit.word(source), commit.word(source));
    ensure(once == again, || {
        format!("{source:?} prints {once:?} and then {again:?}")
    })?;
    let length = once.as_ref().map_or(0, String::len);
    ensure(length <= MOST, || {
        format!("{source:?} prints {length} bytes")
    })
}
