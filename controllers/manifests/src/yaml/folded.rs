//! Folded text that stays folded: lines that say what they said keep their breaks.

use super::emit::{Had, Rendered};
use super::quote::is_printable;

/// Writes text in the place of a folded block, whose lines are given with their line breaks. None where the old
/// or the new text has lines that folding treats in another way.
pub(crate) fn rewrite(body: &str, text: &str, had: Had, eol: &str) -> Option<Rendered> {
    let column = had.block_column?;
    let old = paragraphs(body, column)?;
    let content = text.trim_end_matches('\n');
    let new: Vec<&str> = content.split('\n').collect();
    if content.is_empty() || content.starts_with('\n') || !new.iter().all(|line| folds(line)) {
        return None;
    }
    let chomping = match text.len() - content.len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let mut lines: Vec<&str> = Vec::new();
    let mut counterparts = counterparts(&old, &new).into_iter();
    for (index, paragraph) in new.iter().enumerate() {
        // Each line break of the text is an empty line between two others.
        if index > 0 {
            lines.push("");
        }
        if !paragraph.is_empty() {
            let old = counterparts.next().flatten();
            lines.extend(wrapped(old.unwrap_or_default(), paragraph));
        }
    }
    let blank = (text.len() - content.len()).saturating_sub(1);
    lines.extend(std::iter::repeat_n("", blank));
    let mut rendered = Rendered::inline(format!(">{chomping}"));
    for line in lines {
        let indent = if line.is_empty() { 0 } else { column };
        let line = format!("{:indent$}{line}{eol}", "");
        rendered.body.push_str(&line);
    }
    Some(rendered)
}

/// Returns the lines of each paragraph.
fn paragraphs(body: &str, column: usize) -> Option<Vec<Vec<&str>>> {
    let mut found = vec![Vec::new()];
    for line in body.lines() {
        if line.trim().is_empty() {
            found.push(Vec::new());
            continue;
        }
        let line = line.get(column..).filter(|line| folds(line))?;
        found.last_mut()?.push(line);
    }
    found.retain(|paragraph| !paragraph.is_empty());
    Some(found)
}

/// Says whether a line is one that folding joins with its neighbours and gives back as it is.
fn folds(line: &str) -> bool {
    !line.starts_with([' ', '\t'])
        && !line.ends_with([' ', '\t'])
        && line.chars().all(|c| c == '\t' || is_printable(c))
}

/// Returns the old paragraph of each new one: by their order from both ends, and in between where none came or
/// went.
fn counterparts<'a>(old: &'a [Vec<&'a str>], new: &[&str]) -> Vec<Option<&'a [&'a str]>> {
    let new: Vec<&str> = new
        .iter()
        .copied()
        .filter(|line| !line.is_empty())
        .collect();
    let is_same = |(old, new): &(&Vec<&str>, &&str)| old.join(" ") == **new;
    let head = old.iter().zip(&new).take_while(is_same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = tail.take_while(is_same).count();
    let at = |index: usize| {
        if index < head || old.len() == new.len() {
            Some(index)
        } else if index >= new.len() - tail {
            Some(index + old.len() - new.len())
        } else {
            None
        }
    };
    (0..new.len())
        .map(|index| at(index).map(|index| old[index].as_slice()))
        .collect()
}

/// Breaks a paragraph where the old one had its breaks, as far as the lines before and behind are the same.
fn wrapped<'a>(old: &[&'a str], new: &'a str) -> Vec<&'a str> {
    let mut rest = new;
    let mut head = Vec::new();
    let mut tail = Vec::new();
    if old.join(" ") == new {
        return old.to_vec();
    }
    let is_line = |line: &str| !line.is_empty() && folds(line);
    for line in old {
        let shorter = rest
            .strip_prefix(line)
            .and_then(|rest| rest.strip_prefix(' '));
        let Some(shorter) = shorter.filter(|line| is_line(line)) else {
            break;
        };
        head.push(*line);
        rest = shorter;
    }
    for line in old[head.len()..].iter().rev() {
        let shorter = rest
            .strip_suffix(line)
            .and_then(|rest| rest.strip_suffix(' '));
        let Some(shorter) = shorter.filter(|line| is_line(line)) else {
            break;
        };
        tail.push(*line);
        rest = shorter;
    }
    head.push(rest);
    head.extend(tail.into_iter().rev());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(body: &str, text: &str) -> Option<String> {
        let had = Had {
            block_column: Some(2),
            ..Had::default()
        };
        let Rendered { head, body } = rewrite(body, text, had, "\n")?;
        Some(format!("{head}\n{body}"))
    }

    #[test]
    fn b042_folded_text_keeps_the_breaks_of_what_stays() {
        let body = "  one\n  two\n  three\n\n  four\n\n\n  five\n";
        for (text, expected) in [
            (
                "one 2 three\nfour\n\nfive\n",
                ">\n  one\n  2\n  three\n\n  four\n\n\n  five\n",
            ),
            (
                "one two three\nnew\nfour\n\nfive",
                ">-\n  one\n  two\n  three\n\n  new\n\n  four\n\n\n  five\n",
            ),
            ("one two\n\n", ">+\n  one two\n\n"),
            ("three\nfive\n", ">\n  three\n\n  five\n"),
        ] {
            assert_eq!(rewritten(body, text).unwrap(), expected);
        }
        for text in ["", "\n", "\na", "a\n b", "a \nb", "a\n\tb", "a\rb"] {
            assert_eq!(rewritten(body, text), None, "{text:?}");
        }
        assert_eq!(rewritten("  one\n    two\n", "other\n"), None);
    }
}
