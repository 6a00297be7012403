//! Makes words of a server fit to be shown to a person.

/// The most characters of a server's words that reach a message.
const LONGEST: usize = 512;

/// What hosts and Git itself write before each line of an explanation.
const LABELS: [&str; 3] = ["remote:", "error:", "Gitea:"];
/// What stands in place of a secret.
pub(crate) const HIDDEN: &str = "***";
/// How the tokens of well-known hosts begin.
const TOKENS: [&str; 14] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "ATATT",
    "AKIA",
    "ASIA",
    "ATBB",
    "glptt-",
];
/// A credential after `Bearer` or `Basic` is at least that long; a word of people is shorter.
const SHORTEST_CREDENTIAL: usize = 16;

/// Returns one short line: control characters become spaces, runs of space shrink to one, escape
/// sequences of a terminal lose their power, and a long text is cut in the middle of nothing but itself. What looks like
/// a credential is hidden: a hook may print the address that it was called with.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(bytes);
    let mut line = String::new();
    let mut before = "";
    for word in lossy
        .split(|c: char| c.is_whitespace() || c.is_control() || is_invisible(c))
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        if is_credential(before, word) {
            line.push_str(HIDDEN);
        } else {
            line.push_str(&without_secrets(word));
        }
        before = word;
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

/// Says whether a word is what follows the name of a scheme in an `Authorization` header.
fn is_credential(before: &str, word: &str) -> bool {
    let is_no_letter = |c: char| !c.is_ascii_alphabetic();
    let scheme = before.trim_end_matches(is_no_letter);
    let scheme = scheme.rsplit(is_no_letter).next().unwrap_or(scheme);
    let follows = ["bearer", "basic", "token"]
        .iter()
        .any(|it| scheme.eq_ignore_ascii_case(it));
    let is_odd = |c: char| c.is_ascii_digit() || matches!(c, '=' | '_' | '+');
    follows && word.len() >= SHORTEST_CREDENTIAL && word.contains(is_odd)
}

/// Hides the user and the password of a URL, and what begins like a token.
fn without_secrets(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let authority = after.find(['/', '?', '#', '"', ',']).unwrap_or(after.len());
        rest = match after[..authority].rfind('@') {
            Some(at) => {
                shown.push_str(HIDDEN);
                &after[at..]
            }
            None => after,
        };
    }
    shown.push_str(rest);
    for prefix in TOKENS {
        while let Some((start, token)) = token_in(&shown, prefix) {
            shown.replace_range(start..start + token, HIDDEN);
        }
    }
    shown
}

/// Finds a token: its beginning, and at least as many characters more.
fn token_in(text: &str, prefix: &str) -> Option<(usize, usize)> {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(prefix).find_map(|(start, _)| {
        let rest = &text[start..];
        let length = rest.find(|c| !is_of_token(c)).unwrap_or(rest.len());
        (length >= SHORTEST_CREDENTIAL).then_some((start, length))
    })
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
    fn b013_what_looks_like_a_credential_is_hidden() {
        let cases = [
            (
                "remote: push to https://bot:p@ss:word@git.test/x?y=1 first",
                "remote: push to https://***@git.test/x?y=1 first",
            ),
            ("https://git.test/a@b", "https://git.test/a@b"),
            (
                "token=ghp_16C7e42F292c6912E7710c838347Ae178B4a, ask",
                "token=***, ask",
            ),
            ("the prefix ghp_ is fine", "the prefix ghp_ is fine"),
            (
                "Authorization: Basic cmV2ZXJzZXI6c2VjcmV0cw==",
                "Authorization: Basic ***",
            ),
            (
                "{\"Authorization:Basic cmV2ZXJzZXI6c2VjcmV0cw==\"}",
                "{\"Authorization:Basic ***",
            ),
            ("PRIVATE-TOKEN: 0123456789abcdef0123", "PRIVATE-TOKEN: ***"),
            ("an unknown token was given", "an unknown token was given"),
            (
                "{\"a\":\"https://x\",\"b\":\"https://u:p@h/\"}",
                "{\"a\":\"https://x\",\"b\":\"https://***@h/\"}",
            ),
            (
                "https://ok/r?u=https://u:p@h/",
                "https://ok/r?u=https://***@h/",
            ),
            (
                "basic authentication required",
                "basic authentication required",
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(shown(given.as_bytes()), expected);
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        let shown = shown(&b"word ".repeat(100_000));
        assert!(shown.chars().count() <= LONGEST, "{}", shown.len());
        assert!(shown.ends_with('…'));
    }
}
