//! Where parts of a node end that the parser does not tell apart.

use super::text::{line_end, skip_trivia};

/// Returns the end of the anchor and tag that start here, in either order.
pub(crate) fn properties_end(text: &str, start: usize) -> usize {
    let mut end = start;
    let mut at = start;
    for _ in 0..2 {
        let rest = &text[at..];
        let length = if rest.starts_with("!<") {
            rest.find('>').map_or(rest.len(), |close| close + 1)
        } else if let Some(name) = rest.strip_prefix('&') {
            let ends = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
            1 + name.find(ends).unwrap_or(name.len())
        } else if rest.starts_with('!') {
            rest.find(|c: char| c.is_whitespace() || ",[]{}".contains(c))
                .unwrap_or(rest.len())
        } else {
            break;
        };
        end = at + length;
        at = skip_trivia(text, end);
    }
    end
}

/// Returns the end of a block scalar: its last line of content, or of blank lines that `+` keeps.
pub(crate) fn block_scalar_end(text: &str, start: usize, raw_end: usize) -> usize {
    let header_end = line_end(text, start);
    if raw_end <= header_end {
        return header_end;
    }
    let header = text[start..header_end]
        .split('#')
        .next()
        .unwrap_or_default();
    let body = &text[header_end..raw_end];
    let kept = if header.contains('+') {
        body.strip_suffix("\r\n")
            .or_else(|| body.strip_suffix('\n'))
            .unwrap_or(body)
    } else {
        body.trim_end_matches([' ', '\t', '\n', '\r'])
    };
    header_end + kept.len()
}
