//! Folded text as kustomize writes it: not always as it reads it.
//!
//! Kustomize keeps the style of every value that it does not touch. Where it writes a folded block, a line break
//! before a line that is indented further becomes two.

/// Returns what a reader finds who reads a folded text that kustomize has written.
pub(crate) fn refold(text: String) -> String {
    let is_quoted = text.contains(" \n")
        || text.ends_with(' ')
        || text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t'));
    if is_quoted || !text.contains('\n') {
        return text;
    }
    let is_indented = |line: &str| line.starts_with([' ', '\t']);
    let starts_indented = is_indented(text.trim_start_matches('\n'));
    let mut written = String::with_capacity(text.len() + 8);
    let mut rest = text.as_str();
    while let Some(end) = rest.find('\n') {
        let line = &rest[..end];
        let behind = rest[end..].trim_start_matches('\n');
        let breaks = rest.len() - end - behind.len();
        written.push_str(line);
        let is_plain = !line.is_empty() && !is_indented(line);
        let kept = match behind {
            _ if !is_plain => breaks,
            "" if breaks == 1 || starts_indented => breaks,
            "" => breaks + 1,
            next if is_indented(next) => breaks + usize::from(!starts_indented),
            _ => breaks - usize::from(starts_indented),
        };
        match kept {
            0 => written.push(' '),
            kept => written.extend(std::iter::repeat_n('\n', kept)),
        }
        rest = behind;
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d29_folded_text_is_what_kustomize_makes_of_it() {
        for (text, expected) in [
            ("one line", "one line"),
            ("a b\nc\n", "a b\nc\n"),
            ("a\n\nb", "a\n\nb"),
            ("a\n b", "a\n\n b"),
            ("a\n\n b\nc", "a\n\n\n b\nc"),
            ("a\n\tb", "a\n\n\tb"),
            ("a\n\n", "a\n\n\n"),
            ("\na\n b", "\na\n\n b"),
            (" a\nb\nc\n d", " a\nb c\n d"),
            ("\n a\nb\n\n", "\n a\nb\n\n"),
            ("a \n b", "a \n b"),
            ("a\n b ", "a\n b "),
            ("a\u{7}\n b", "a\u{7}\n b"),
        ] {
            assert_eq!(refold(text.to_owned()), expected, "{text:?}");
        }
    }
}
