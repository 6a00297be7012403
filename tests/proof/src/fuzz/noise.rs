//! Texts with something wrong with them.

use crate::change::{AWKWARD, LINES};
use crate::corpus::{Text, trees};
use crate::dice::Dice;

/// Pieces that the syntax has a use for.
const TOKENS: [&str; 44] = [
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "  ",
    "#",
    " # x",
    ":",
    ": ",
    "- ",
    "-",
    "? ",
    "---\n",
    "...\n",
    "--- ",
    "%YAML 1.1\n",
    "%TAG ! x\n",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!!binary ",
    "!t ",
    "|",
    "|+\n",
    "|2-\n",
    ">",
    ">-\n",
    "'",
    "\"",
    "\\",
    "\\/",
    "{",
    "}",
    "[",
    "]",
    ",",
    "{}",
    "[]",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\0",
];

/// A source of noise over pieces of a corpus.
#[derive(Debug)]
pub struct Noise {
    texts: Vec<Text>,
    dice: Dice,
}

impl Noise {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        let mut texts = trees::platform(3, seed);
        texts.extend(trees::apps(1, seed));
        texts.extend(trees::rendered(1, seed));
        Self {
            texts,
            dice: Dice::new(seed),
        }
    }

    /// Makes the next text.
    pub fn next_text(&mut self) -> Vec<u8> {
        let mut bytes = self.piece();
        if self.dice.once_in(8) {
            bytes.extend(self.piece());
        }
        for _ in 0..self.dice.below(5) {
            self.disturb(&mut bytes);
        }
        bytes
    }

    /// Cuts some lines out of the corpus, with their indentation or without.
    fn piece(&mut self) -> Vec<u8> {
        let text = &self.texts[self.dice.below(self.texts.len())].bytes;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let start = self.dice.below(lines.len());
        let end = (start + 1 + self.dice.below(16)).min(lines.len());
        let first = lines[start];
        let indent = match self.dice.below(4) {
            0 => 0,
            _ => first.len() - first.trim_start_matches(' ').len(),
        };
        let shorten = |line: &&str| {
            line.get(indent.min(line.len() - line.trim_start_matches(' ').len())..)
                .unwrap_or_default()
                .to_owned()
        };
        lines[start..end]
            .iter()
            .map(shorten)
            .collect::<String>()
            .into_bytes()
    }

    fn disturb(&mut self, bytes: &mut Vec<u8>) {
        let at = self.dice.below(bytes.len() + 1);
        match self.dice.below(10) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => {
                bytes.remove(at);
            }
            2 if at < bytes.len() => {
                bytes[at] = self.dice.one(b" :-#\n\t'\"[]{},&*!|>%@?azA0");
            }
            3 | 4 => self.insert(bytes, at, &TOKENS),
            5 => self.insert(bytes, at, &AWKWARD),
            6 => self.insert(bytes, at, &LINES),
            7 => self.lines(bytes),
            8 => {
                // Deeper or flatter from one line on.
                let start = bytes[..at]
                    .iter()
                    .rposition(|byte| *byte == b'\n')
                    .map_or(0, |at| at + 1);
                if bytes.get(start) == Some(&b' ') {
                    bytes.remove(start);
                } else {
                    bytes.insert(start, b' ');
                }
            }
            _ => {
                let end = (at + self.dice.below(12)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = self.dice.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
        }
    }

    fn insert<const N: usize>(&mut self, bytes: &mut Vec<u8>, at: usize, from: &[&str; N]) {
        let token = self.dice.one(from).bytes();
        bytes.splice(at..at, token);
    }

    /// Drops, doubles or moves a line.
    fn lines(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        if lines.is_empty() {
            return;
        }
        let line = lines.remove(self.dice.below(lines.len()));
        for _ in 0..self.dice.below(3) {
            lines.insert(self.dice.below(lines.len() + 1), line.clone());
        }
        *bytes = lines.concat();
    }
}
