//! Makes words of a server fit to be shown to a person.

/// The most characters of a server's words that reach a message.
const LONGEST: usize = 512;
/// What hosts and Git itself write before each line of an explanation.
const LABELS: [&str; 3] = ["remote:", "error:", "Gitea:"];

/// Returns one short line: control characters become spaces, runs of space shrink to one, escape
/// sequences of a terminal lose their power, and a long text is cut in the middle of nothing but itself.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(bytes);
    let mut line = String::new();
    for word in lossy
        .split(|c: char| c.is_whitespace() || c.is_control() || is_invisible(c))
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 4 * LONGEST {
            break;
        }
    }
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    format!("{}…", cut.trim_end())
}

/// Returns what a service says to people as such a line, without the frame that many hosts draw around it: labels at
/// the beginning of lines, and lines of nothing but signs.
pub(crate) fn spoken(bytes: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = lossy
        .lines()
        .map(without_label)
        .filter(|line| line.chars().any(char::is_alphanumeric))
        .collect();
    shown(lines.join("\n").as_bytes())
}

/// Takes the labels away that say who speaks and not what is said.
fn without_label(line: &str) -> &str {
    let mut rest = line.trim();
    while let Some(shorter) = LABELS.iter().find_map(|label| rest.strip_prefix(label)) {
        rest = shorter.trim_start();
    }
    rest
}

/// Recognises characters that change how the rest of a line is displayed, or that cannot be seen.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_server_become_one_harmless_line() {
        let cases: [(&[u8], &str); 5] = [
            (
                b"remote: denied\r\n  by policy\n",
                "remote: denied by policy",
            ),
            (b"\x1b[31mred\x1b[0m", "[31mred [0m"),
            ("a\u{202e}b".as_bytes(), "a b"),
            (b"bad \xff utf8", "bad \u{fffd} utf8"),
            (b"", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(shown(given), expected);
        }
    }

    #[test]
    fn the_frame_around_an_explanation_is_left_out() {
        let cases = [
            (
                "error:\nerror: Deploy Key: 2:bot is not authorized.\nerror:\n",
                "Deploy Key: 2:bot is not authorized.",
            ),
            (
                "remote: \nremote: ========\nremote: \nremote: ERROR: No push here.\n\nremote: ====\n",
                "ERROR: No push here.",
            ),
            ("fatal: error: as it comes", "fatal: error: as it comes"),
            ("error:\n---\n", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(spoken(given.as_bytes()), expected);
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        let shown = shown(&b"word ".repeat(100_000));
        assert!(shown.chars().count() <= LONGEST, "{}", shown.len());
        assert!(shown.ends_with('…'));
    }
}
