//! Whatever bytes a server sends: an answer or an error, within bounds, and never a push that is taken for accepted.

use std::io::Read;

use proptest::prelude::*;

use super::packet::{write_data, write_flush};
use super::refs::{Greeting, read_greeting, read_ls_refs};
use super::report::{Verdict, read_report};
use crate::advertisement::ObjectFormat;

const MAIN: &str = "refs/heads/main";
const SERVICE: &str = "git-receive-pack";
const MOST_REFS: usize = 10;

/// A real conversation, to be spoiled.
fn transcripts() -> Vec<Vec<u8>> {
    let id = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let mut refs = Vec::new();
    write_data(&mut refs, b"# service=git-receive-pack\n");
    write_flush(&mut refs);
    let first = format!("{id} {MAIN}\0report-status side-band-64k object-format=sha1 agent=x\n");
    write_data(&mut refs, first.as_bytes());
    write_data(&mut refs, format!("{id} refs/heads/next\n").as_bytes());
    write_data(&mut refs, format!("{id} refs/tags/v1^{{}}\n").as_bytes());
    write_flush(&mut refs);
    let mut capabilities = Vec::new();
    for line in ["version 2\n", "ls-refs=unborn\n", "fetch=shallow\n"] {
        write_data(&mut capabilities, line.as_bytes());
    }
    write_flush(&mut capabilities);
    let mut listed = Vec::new();
    let head = format!("{id} HEAD symref-target:{MAIN}\n");
    for line in [head, format!("{id} {MAIN}\n")] {
        write_data(&mut listed, line.as_bytes());
    }
    write_flush(&mut listed);
    vec![refs, capabilities, listed, report(false), report(true)]
}

/// The answer to a push that was accepted.
fn report(side_band: bool) -> Vec<u8> {
    let mut plain = Vec::new();
    write_data(&mut plain, b"unpack ok\n");
    write_data(&mut plain, format!("ok {MAIN}\n").as_bytes());
    write_flush(&mut plain);
    if !side_band {
        return plain;
    }
    let mut banded = Vec::new();
    write_data(&mut banded, b"\x02checking\n");
    for piece in plain.chunks(9) {
        write_data(&mut banded, &[b"\x01", piece].concat());
    }
    write_flush(&mut banded);
    banded
}

/// What happens to the bytes on their way.
#[derive(Debug, Clone)]
enum Spoil {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index),
}

impl Spoil {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Self::Set(at, byte) => *at.get_mut(bytes) = *byte,
            Self::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = at.index(bytes.len());
                let end = bytes.len().min(at + count);
                bytes.drain(at..end);
            }
            Self::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Self::Repeat(at) => {
                let tail = bytes[at.index(bytes.len())..].to_vec();
                bytes.extend(tail);
            }
        }
    }
}

fn spoil() -> impl Strategy<Value = Spoil> {
    let at = any::<prop::sample::Index>;
    // What a parser may take for its own: lengths, ends, words, bands.
    let telling = prop::sample::select(b"0123456789abcdef \n\0\x01\x02\x03\xff".as_slice());
    prop_oneof![
        (at(), telling.clone()).prop_map(|(at, byte)| Spoil::Set(at, byte)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Spoil::Set(at, byte)),
        (at(), prop::collection::vec(telling, 1..9)).prop_map(|(at, more)| Spoil::Insert(at, more)),
        (at(), 1..40_usize).prop_map(|(at, count)| Spoil::Remove(at, count)),
        at().prop_map(Spoil::Cut),
        at().prop_map(Spoil::Repeat),
    ]
}

/// Hands out a few bytes at a time, as a network does.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0
            .take(count as u64)
            .read(buffer)
            .inspect(|read| self.0 = &self.0[*read..])
    }
}

proptest! {
    #[test]
    fn case_30_any_bytes_are_an_answer_or_an_error_within_bounds(
        from in 0..5_usize,
        spoils in prop::collection::vec(spoil(), 0..6),
        step in 1..30_usize,
    ) {
        let mut bytes = transcripts().swap_remove(from);
        for spoil in &spoils {
            spoil.apply(&mut bytes);
        }
        if let Ok(Greeting::Refs(refs, _)) = read_greeting(bytes.as_slice(), SERVICE, MOST_REFS) {
            prop_assert!(refs.branches.len() + refs.other_refs <= MOST_REFS);
        }
        for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
            if let Ok(refs) = read_ls_refs(bytes.as_slice(), format, MOST_REFS) {
                prop_assert!(refs.branches.len() + refs.other_refs <= MOST_REFS);
            }
        }
        for side_band in [false, true] {
            let (whole, _) = read_report(bytes.as_slice(), side_band);
            let (trickled, _) = read_report(Trickle(&bytes, step), side_band);
            prop_assert_eq!(&whole, &trickled, "how bytes arrive makes no difference");
            if whole.verdict(MAIN) == Verdict::Accepted {
                // Without bands the words stand in the bytes as they are.
                let says = |words: &str| bytes.windows(words.len()).any(|at| at == words.as_bytes());
                prop_assert!(side_band || (says("unpack ok") && says("ok refs/heads/main")));
            }
        }
    }

    #[test]
    fn case_30_no_bytes_at_all_make_sense_by_chance(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (report, _) = read_report(bytes.as_slice(), true);
        prop_assert!(!matches!(report.verdict(MAIN), Verdict::Accepted));
        prop_assert!(read_greeting(bytes.as_slice(), SERVICE, MOST_REFS).is_err());
    }
}

#[test]
fn case_3_a_report_that_is_cut_anywhere_says_nothing() {
    for side_band in [false, true] {
        let whole = report(side_band);
        for end in 0..whole.len() {
            let (report, _) = read_report(&whole[..end], side_band);
            let verdict = report.verdict(MAIN);
            // The end of the outer stream is no part of the report, which has an end of its own.
            let is_whole = side_band && end >= whole.len() - 4;
            let is_right = match verdict {
                Verdict::Accepted => is_whole,
                Verdict::Unclear(_) => !is_whole,
                Verdict::Rejected(_) | Verdict::NotUnpacked(_) => false,
            };
            assert!(is_right, "{end} of {} bytes: {verdict:?}", whole.len());
        }
        let (report, error) = read_report(whole.as_slice(), side_band);
        assert!(error.is_none() && report.verdict(MAIN) == Verdict::Accepted);
    }
}
