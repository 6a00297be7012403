//! Parser events with byte positions: the only place that knows the parser crate.
//!
//! The parser is a port of the C library that Kubernetes' own reader was ported from, so the two agree on
//! syntax. It panics on some broken input and accepts a little that Kubernetes refuses; both are handled here.

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libyaml_safer::{Encoding, EventData, MappingStyle, Parser, ScalarStyle, SequenceStyle};

/// Text that is not YAML as Kubernetes reads it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct SyntaxError {
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong, without any of the text.
    pub problem: String,
}

/// One step of reading a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    DocumentStart {
        explicit: bool,
    },
    DocumentEnd,
    Alias(String),
    Scalar {
        properties: Properties,
        text: String,
        style: Style,
    },
    SequenceStart {
        properties: Properties,
        flow: bool,
    },
    SequenceEnd,
    MappingStart {
        properties: Properties,
        flow: bool,
    },
    MappingEnd,
    StreamEnd,
}

/// What may stand before a node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Properties {
    pub(crate) anchor: Option<String>,
    pub(crate) tag: Option<String>,
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

impl Style {
    /// Says whether the text stands in lines of its own below a header.
    pub(crate) fn is_block(self) -> bool {
        matches!(self, Self::Literal | Self::Folded)
    }
}

/// A source of events. The positions are bytes of the text that the source was made from.
pub(crate) trait Events {
    /// Returns the next event and the bytes it covers.
    fn next(&mut self) -> Result<(Event, Range<usize>), SyntaxError>;
}

/// Events from libyaml-safer.
pub(crate) struct LibyamlEvents<'a> {
    parser: Parser<Chunks<'a>>,
    text: &'a str,
    /// How many braces and brackets are open.
    open: usize,
}

/// A text handed out piece by piece: the parser decodes all that it is offered at once, at four bytes for each
/// character.
struct Chunks<'a>(&'a [u8]);

impl Chunks<'_> {
    const SIZE: usize = 4096;
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl BufRead for Chunks<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(&self.0[..self.0.len().min(Self::SIZE)])
    }

    fn consume(&mut self, amount: usize) {
        self.0 = &self.0[amount..];
    }
}

impl<'a> LibyamlEvents<'a> {
    /// Starts to read. The text has no byte order mark and ends with a line break, or is empty.
    pub(crate) fn new(text: &'a str) -> Self {
        let mut parser = Parser::new();
        parser.set_input(Chunks(text.as_bytes()));
        // Otherwise it takes a first character that begins like a byte order mark for a broken one.
        parser.set_encoding(Encoding::Utf8);
        Self {
            parser,
            text,
            open: 0,
        }
    }

    fn error(&self, offset: usize, problem: impl Into<String>) -> SyntaxError {
        SyntaxError {
            line: line_of(self.text, offset),
            problem: problem.into(),
        }
    }

    /// Asks the parser, and takes a panic of it for an error. After one it is in no known state; it is never
    /// asked again, because every caller stops at the first error.
    fn parse(&mut self) -> Result<libyaml_safer::Event, SyntaxError> {
        match catch_unwind(AssertUnwindSafe(|| self.parser.parse())) {
            Ok(Ok(event)) => Ok(event),
            Ok(Err(error)) => Err(SyntaxError {
                line: error
                    .problem_mark()
                    .map_or(1, |mark| u32::try_from(mark.line + 1).unwrap_or(u32::MAX)),
                problem: error.problem().to_owned(),
            }),
            Err(_) => Err(self.error(self.text.len(), "the parser gave up on it")),
        }
    }

    /// Counts braces and brackets; what is inside them is written with them as well.
    fn count_open(&mut self, event: &EventData) {
        let flow = match event {
            EventData::SequenceStart { style, .. } => *style == SequenceStyle::Flow,
            EventData::MappingStart { style, .. } => *style == MappingStyle::Flow,
            EventData::SequenceEnd | EventData::MappingEnd => {
                self.open = self.open.saturating_sub(1);
                false
            }
            _ => false,
        };
        self.open += usize::from(flow);
    }

    /// Refuses what the parser takes and Kubernetes does not.
    fn check(&self, event: &EventData, range: &Range<usize>) -> Result<(), SyntaxError> {
        match event {
            EventData::DocumentStart {
                version_directive: Some(version),
                ..
            } if (version.major, version.minor) != (1, 1) => {
                Err(self.error(range.start, "only %YAML 1.1 is understood"))
            }
            EventData::Scalar {
                style: ScalarStyle::DoubleQuoted,
                ..
            } if has_slash_escape(self.text.get(range.clone()).unwrap_or_default()) => {
                Err(self.error(range.start, "the escape \\/ is not understood"))
            }
            EventData::Scalar {
                style: ScalarStyle::Plain,
                value,
                ..
            } if self.open > 0 && value.contains('?') => Err(self.error(
                range.start,
                "a question mark inside braces or brackets stands outside quotes",
            )),
            _ => Ok(()),
        }
    }
}

impl Events for LibyamlEvents<'_> {
    fn next(&mut self) -> Result<(Event, Range<usize>), SyntaxError> {
        loop {
            let event = self.parse()?;
            let offset = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
            let start = offset(event.start_mark.index).min(self.text.len());
            let range = start..offset(event.end_mark.index).min(self.text.len()).max(start);
            self.check(&event.data, &range)?;
            self.count_open(&event.data);
            if let Some(event) = convert(event.data) {
                return Ok((event, range));
            }
        }
    }
}

/// Turns the crate's event into ours; the start of the stream says nothing.
fn convert(event: EventData) -> Option<Event> {
    Some(match event {
        EventData::StreamStart { .. } => return None,
        EventData::StreamEnd => Event::StreamEnd,
        EventData::DocumentStart { implicit, .. } => Event::DocumentStart {
            explicit: !implicit,
        },
        EventData::DocumentEnd { .. } => Event::DocumentEnd,
        EventData::Alias { anchor } => Event::Alias(anchor),
        EventData::Scalar {
            anchor,
            tag,
            value,
            style,
            ..
        } => Event::Scalar {
            properties: Properties { anchor, tag },
            text: value,
            style: style_of(style),
        },
        EventData::SequenceStart {
            anchor, tag, style, ..
        } => Event::SequenceStart {
            properties: Properties { anchor, tag },
            flow: style == SequenceStyle::Flow,
        },
        EventData::SequenceEnd => Event::SequenceEnd,
        EventData::MappingStart {
            anchor, tag, style, ..
        } => Event::MappingStart {
            properties: Properties { anchor, tag },
            flow: style == MappingStyle::Flow,
        },
        EventData::MappingEnd => Event::MappingEnd,
    })
}

/// Counts lines of a text that is gone through once, from front to back.
pub(crate) struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
        }
    }

    /// Returns the line of a byte that does not lie before the last one asked for.
    pub(crate) fn line_of(&mut self, offset: usize) -> u32 {
        let offset = offset.clamp(self.at, self.text.len());
        self.line += line_of(&self.text[self.at..offset], offset - self.at) - 1;
        self.at = offset;
        self.line
    }

    /// Returns the line of a byte without going there.
    pub(crate) fn ahead(&self, offset: usize) -> u32 {
        let offset = offset.clamp(self.at, self.text.len());
        self.line + line_of(&self.text[self.at..offset], offset - self.at) - 1
    }
}

/// Returns the line of a byte, counted from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> u32 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let breaks = before.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(breaks + 1).unwrap_or(u32::MAX)
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Any | ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
        _ => Style::Plain,
    }
}

fn has_slash_escape(quoted: &str) -> bool {
    let mut bytes = quoted.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && bytes.next() == Some(b'/') {
            return true;
        }
    }
    false
}
