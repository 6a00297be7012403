//! Strings as YAML scalars on one line, and what a block can hold.

use super::event::Style;
use super::layout::Quote;
use super::scalar::is_ambiguous;

/// Where a scalar stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    Block,
    Flow,
}

/// Writes a string on one line: in the quotes it had, else plain if every reader takes it for the same string,
/// else in the quotes that the document prefers.
pub(crate) fn write(
    text: &str,
    had: Option<Style>,
    favourite: Option<Quote>,
    context: Context,
) -> String {
    match had {
        Some(Style::Double) => return double(text),
        Some(Style::Single) if fits_single(text) => return single(text),
        _ => {}
    }
    let ambiguous = is_ambiguous(text);
    if !ambiguous && is_plain(text, context) {
        return text.to_owned();
    }
    let fallback = if ambiguous {
        Quote::Double
    } else {
        Quote::Single
    };
    quoted(text, favourite.unwrap_or(fallback))
}

/// Writes a string in quotes, in double ones where single ones cannot hold it.
pub(crate) fn quoted(text: &str, quote: Quote) -> String {
    match quote {
        Quote::Single if fits_single(text) => single(text),
        Quote::Single | Quote::Double => double(text),
    }
}

/// Says whether a literal block can hold the string and give it back unchanged.
pub(crate) fn fits_block(text: &str) -> bool {
    let readable = |c: char| c == '\n' || c == '\t' || is_printable(c);
    text.contains('\n')
        && text.chars().all(readable)
        && text.chars().any(|c| !c.is_whitespace())
        && !text.trim_start_matches(['\n', ' ']).starts_with('\t')
}

fn fits_single(text: &str) -> bool {
    text.chars().all(is_printable)
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c if is_printable(c) => out.push(c),
            c => out.push_str(&escape(c)),
        }
    }
    out.push('"');
    out
}

fn escape(c: char) -> String {
    match u32::from(c) {
        code @ 0..=0xff => format!("\\x{code:02X}"),
        code @ 0x100..=0xffff => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    }
}

/// Says whether a character may stand in a text as it is, on a line of its own kind. The line breaks that only
/// some readers know, and the byte order mark, may not.
pub(crate) fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// Says whether the syntax allows the string without quotes. What type it would have is not looked at.
fn is_plain(text: &str, context: Context) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let indicator = "#,[]{}&*!|>'\"%@`".contains(first);
    let lone = matches!(text, "-" | "?" | ":");
    let spaced = text.starts_with("- ") || text.starts_with("? ") || text.starts_with(": ");
    let marker = text.starts_with("---") || text.starts_with("...");
    let inside = text.contains(": ") || text.ends_with(':') || text.contains(" #");
    let edges = text.starts_with(' ') || text.ends_with(' ');
    let flow = context == Context::Flow && text.contains([',', '?', '[', ']', '{', '}', ':']);
    let refused = indicator || lone || spaced || marker || inside || edges || flow;
    !refused && text.chars().all(is_printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_quoted_only_where_it_must_be() {
        let cases = [
            ("z", "z"),
            ("a b", "a b"),
            ("b#c", "b#c"),
            ("http://x/y", "http://x/y"),
            ("nginx:1.25", "nginx:1.25"),
            ("😀 ok", "😀 ok"),
            ("b: c", "'b: c'"),
            ("b #c", "'b #c'"),
            ("it's", "it's"),
            ("'x", "'''x'"),
            ("- x", "'- x'"),
            ("---x", "'---x'"),
            ("on", "\"on\""),
            ("", "\"\""),
            ("a\tb", "\"a\\tb\""),
            ("a\u{feff}", "\"a\\uFEFF\""),
            ("a\u{85}b", "\"a\\x85b\""),
        ];
        for (text, expected) in cases {
            assert_eq!(write(text, None, None, Context::Block), expected);
        }
        assert_eq!(write("a,b", None, None, Context::Flow), "'a,b'");
        assert_eq!(
            write("b: c", None, Some(Quote::Double), Context::Block),
            "\"b: c\""
        );
        assert_eq!(
            write("it's", Some(Style::Single), None, Context::Block),
            "'it''s'"
        );
        assert_eq!(
            write("a\nb", Some(Style::Single), None, Context::Block),
            "\"a\\nb\""
        );
    }

    #[test]
    fn a_block_holds_only_what_it_gives_back() {
        for text in [
            "a\n",
            "a\nb",
            "\n a\n",
            "a\n\tb\n",
            "😀\n",
            "a \nb\t\n",
            "a\n \nb",
        ] {
            assert!(fits_block(text), "{text:?}");
        }
        for text in ["a", "\n", "\ta\n", "a\rb\n", "a\n\u{2028}", " \n"] {
            assert!(!fits_block(text), "{text:?}");
        }
    }
}
