//! Lines and blanks of a text: where things start and end.

/// The mark that some editors put before the first character.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text made ready for the parser, and what has to be put back afterwards.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    /// Without byte order mark, ending with a line break of some kind.
    pub(crate) body: std::borrow::Cow<'a, str>,
    /// The line break of the text.
    pub(crate) eol: &'static str,
    /// Whether the final line break was added.
    pub(crate) padded: bool,
    marked: bool,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let (marked, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(body) => (true, body),
            None => (false, text),
        };
        let eol = match body.find('\n') {
            Some(at) if body[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        // The other characters end a line as well to the parser, though to no editor.
        let padded =
            !body.is_empty() && !body.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
        let body = if padded {
            std::borrow::Cow::Owned(format!("{body}{eol}"))
        } else {
            std::borrow::Cow::Borrowed(body)
        };
        Self {
            body,
            eol,
            padded,
            marked,
        }
    }

    /// Puts back what was taken off.
    pub(crate) fn restore(&self, mut body: String) -> String {
        if self.padded && body.ends_with('\n') {
            body.pop();
            if body.ends_with('\r') && self.eol == "\r\n" {
                body.pop();
            }
        }
        self.mark(body)
    }

    /// Puts back the byte order mark only.
    pub(crate) fn mark(&self, mut body: String) -> String {
        if self.marked {
            body.insert(0, BYTE_ORDER_MARK);
        }
        body
    }
}

/// Returns the first byte of the line that holds this one.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the end of the line that holds this byte, without its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline);
    if end > at && text.as_bytes()[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

/// Returns the first byte of the line after the one that holds this byte.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline + 1)
}

/// Returns the column of a byte in characters.
pub(crate) fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].chars().count()
}

/// Says whether only spaces stand before the byte on its line.
pub(crate) fn starts_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at]
        .bytes()
        .all(|byte| byte == b' ')
}

/// Returns the next byte that is neither blank nor part of a comment.
pub(crate) fn skip_trivia(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'#' if at == 0 || bytes[at - 1].is_ascii_whitespace() => at = line_end(text, at),
            _ => break,
        }
    }
    at
}

/// Returns the place after the last character before this byte that is not a space or tab.
pub(crate) fn trim_blanks_before(text: &str, at: usize) -> usize {
    text[..at].trim_end_matches([' ', '\t']).len()
}
