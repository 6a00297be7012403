//! What became of a push: side-band channels around a report, and the verdict on one branch.

use std::io::Read;

use super::packet::{self, Packet, PacketError, PacketReader};

/// The most bytes of the report itself.
const LONGEST_REPORT: usize = 64 * 1024;
/// The most bytes kept of what the server says to people; more is read and dropped.
const LONGEST_WORDS: usize = 8 * 1024;

/// The answer to a push, complete or not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// `Ok` when the objects were taken, else the server's reason. `None`: the line never came.
    pub(crate) unpack: Option<Result<(), String>>,
    /// The line of each ref.
    pub(crate) refs: Vec<RefLine>,
    /// Whether the end of the report was seen.
    pub(crate) complete: bool,
    /// What the server (or its hooks) said to people, raw.
    pub(crate) words: Vec<u8>,
}

/// What the server did with one ref.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RefLine {
    pub(crate) name: String,
    pub(crate) rejected: Option<String>,
    /// A hook of the server moved another ref, or moved it elsewhere.
    pub(crate) redirected: bool,
}

/// What a report says about one ref.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was moved.
    Accepted,
    /// It was not moved, for this reason.
    Rejected(String),
    /// The objects were not taken, so nothing was moved.
    NotUnpacked(String),
    /// The report does not say.
    Unclear(&'static str),
}

/// Reads the answer. It never fails: whatever could be read is in the report, and the error says why there
/// is no more.
pub(crate) fn read_report<R: Read>(reader: R, side_band: bool) -> (Report, Option<PacketError>) {
    let mut report = Report::default();
    let mut packets = PacketReader::new(reader);
    if !side_band {
        let error = read_lines(&mut packets, &mut report).err();
        return (report, error);
    }
    let mut inner = Vec::new();
    let error = demultiplex(&mut packets, &mut inner, &mut report.words).err();
    let inner_error = read_lines(&mut PacketReader::new(inner.as_slice()), &mut report).err();
    (report, error.or(inner_error))
}

impl Report {
    /// Judges what happened to a ref. Accepted needs every sign: objects taken, our line, the end seen.
    pub(crate) fn verdict(&self, name: &str) -> Verdict {
        if !self.complete {
            return Verdict::Unclear("the server's report is not complete");
        }
        let line = self.refs.iter().find(|line| line.name == name);
        match (&self.unpack, line) {
            (None, _) => Verdict::Unclear("the report does not say whether the objects were taken"),
            (Some(Err(reason)), _) => Verdict::NotUnpacked(reason.clone()),
            (Some(Ok(())), None) => Verdict::Unclear("the report does not name our branch"),
            (Some(Ok(())), Some(line)) => match &line.rejected {
                Some(reason) => Verdict::Rejected(reason.clone()),
                None if line.redirected => {
                    Verdict::Unclear("the server moved something else than was asked")
                }
                None => Verdict::Accepted,
            },
        }
    }
}

/// Splits the bands: 1 is the report, 2 and 3 are words for people, 3 ends the conversation.
fn demultiplex<R: Read>(
    packets: &mut PacketReader<R>,
    inner: &mut Vec<u8>,
    words: &mut Vec<u8>,
) -> Result<(), PacketError> {
    loop {
        let data = match packets.next()? {
            Some(Packet::Data(data)) => data,
            Some(Packet::Flush | Packet::ResponseEnd | Packet::Delimiter) | None => return Ok(()),
        };
        match data.split_first() {
            Some((1, content)) if inner.len() + content.len() <= LONGEST_REPORT => {
                inner.extend_from_slice(content);
            }
            Some((1, _)) => return Err(PacketError::BadLength),
            Some((2, content)) => keep(words, content),
            Some((3, content)) => {
                keep(words, content);
                return Err(PacketError::ServerError(content.to_vec()));
            }
            Some(_) | None => return Err(PacketError::BadLength),
        }
    }
}

fn keep(words: &mut Vec<u8>, content: &[u8]) {
    let room = LONGEST_WORDS.saturating_sub(words.len());
    words.extend_from_slice(&content[..content.len().min(room)]);
}

fn read_lines<R: Read>(
    packets: &mut PacketReader<R>,
    report: &mut Report,
) -> Result<(), PacketError> {
    let mut read = 0;
    loop {
        let line = match packets.next()? {
            Some(Packet::Data(line)) => line,
            Some(Packet::Flush) => {
                report.complete = true;
                return Ok(());
            }
            Some(Packet::Delimiter | Packet::ResponseEnd) | None => return Ok(()),
        };
        read += line.len();
        if read > LONGEST_REPORT {
            return Err(PacketError::BadLength);
        }
        add_line(report, &String::from_utf8_lossy(packet::trimmed(&line)));
    }
}

fn add_line(report: &mut Report, line: &str) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "unpack" => {
            report.unpack = Some(if rest == "ok" {
                Ok(())
            } else {
                Err(rest.to_owned())
            });
        }
        "ok" => report.refs.push(RefLine {
            name: rest.to_owned(),
            rejected: None,
            redirected: false,
        }),
        "ng" => {
            let (name, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            report.refs.push(RefLine {
                name: name.to_owned(),
                rejected: Some(reason.to_owned()),
                redirected: false,
            });
        }
        "option" => {
            let changes_what_happened = ["refname ", "old-oid ", "new-oid "]
                .iter()
                .any(|option| rest.starts_with(option));
            if let Some(line) = report.refs.last_mut() {
                line.redirected |= changes_what_happened;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "refs/heads/main";

    fn lines(lines: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in lines {
            if line.is_empty() {
                packet::write_flush(&mut bytes);
            } else {
                packet::write_data(&mut bytes, line.as_bytes());
            }
        }
        bytes
    }

    /// Wraps a report into band 1, cut into pieces that do not respect its lines.
    fn in_band(report: &[u8], words: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        packet::write_data(&mut bytes, &[b"\x02", words].concat());
        for piece in report.chunks(7) {
            packet::write_data(&mut bytes, &[b"\x01", piece].concat());
        }
        packet::write_flush(&mut bytes);
        bytes
    }

    #[test]
    fn accepted_needs_every_sign() {
        let cases: [(&[&str], Verdict); 9] = [
            (
                &["unpack ok\n", "ok refs/heads/main\n", ""],
                Verdict::Accepted,
            ),
            (
                &["unpack ok", "ok refs/heads/main"],
                Verdict::Unclear("the server's report is not complete"),
            ),
            (
                &["unpack ok", "ok refs/heads/other", ""],
                Verdict::Unclear("the report does not name our branch"),
            ),
            (
                &["ok refs/heads/main", ""],
                Verdict::Unclear("the report does not say whether the objects were taken"),
            ),
            (
                &["unpack ok", "ok refs/heads/main", "option new-oid abc", ""],
                Verdict::Unclear("the server moved something else than was asked"),
            ),
            (
                &[
                    "unpack ok",
                    "ok refs/heads/main",
                    "option forced-update",
                    "",
                ],
                Verdict::Accepted,
            ),
            (
                &[
                    "unpack ok",
                    "ng refs/heads/main pre-receive hook declined",
                    "",
                ],
                Verdict::Rejected("pre-receive hook declined".to_owned()),
            ),
            (
                &[
                    "unpack index-pack failed",
                    "ng refs/heads/main unpacker error",
                    "",
                ],
                Verdict::NotUnpacked("index-pack failed".to_owned()),
            ),
            (&[], Verdict::Unclear("the server's report is not complete")),
        ];
        for (given, expected) in cases {
            let plain = lines(given);
            let (report, _) = read_report(plain.as_slice(), false);
            assert_eq!(report.verdict(MAIN), expected, "{given:?}");
            let banded = in_band(&plain, b"remote words");
            let (report, _) = read_report(banded.as_slice(), true);
            assert_eq!(report.verdict(MAIN), expected, "in a band: {given:?}");
            assert_eq!(report.words, b"remote words");
        }
    }

    #[test]
    fn a_report_cut_at_any_byte_is_never_accepted() {
        let whole = in_band(&lines(&["unpack ok\n", "ok refs/heads/main\n", ""]), b"hi");
        let accepted = |bytes: &[u8]| read_report(bytes, true).0.verdict(MAIN) == Verdict::Accepted;
        assert!(accepted(&whole));
        // The outer flush alone may be missing: the inner one has been seen by then.
        for end in 0..whole.len() - 4 {
            assert!(!accepted(&whole[..end]), "cut at {end}");
        }
    }

    #[test]
    fn words_and_report_are_bounded() {
        let mut bytes = Vec::new();
        for _ in 0..50 {
            packet::write_data(&mut bytes, &[&b"\x02"[..], &[b'x'; 1000]].concat());
        }
        let (report, _) = read_report(bytes.as_slice(), true);
        assert_eq!(report.words.len(), LONGEST_WORDS);

        let endless = lines(&["option x"; 10]).repeat(1000);
        assert!(read_report(endless.as_slice(), false).1.is_some());
        let fatal = lines(&["\u{3}no space left"]);
        let (report, error) = read_report(fatal.as_slice(), true);
        assert!(matches!(error, Some(PacketError::ServerError(_))));
        assert_eq!(report.words, b"no space left");
    }
}
