//! Replacements of byte ranges, collected and then applied at once.

use std::ops::Range;

/// One replacement. An empty range inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Applies replacements; those at one place come in the order given, insertions before what replaces bytes
/// there. Two deletions may overlap. Returns `None` when anything else does.
pub(crate) fn apply(text: &str, mut splices: Vec<Splice>) -> Option<String> {
    splices.sort_by_key(|splice| (splice.range.start, !splice.range.is_empty()));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut deleting = false;
    for splice in &splices {
        let Range { start, end } = splice.range;
        let deletes = splice.text.is_empty();
        if start < at {
            if !(deletes && deleting) {
                return None;
            }
            at = at.max(end);
            continue;
        }
        out.push_str(text.get(at..start)?);
        out.push_str(&splice.text);
        at = end;
        deleting = deletes && start < end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(range: Range<usize>, text: &str) -> Splice {
        Splice {
            range,
            text: text.to_owned(),
        }
    }

    #[test]
    fn replacements_are_applied_in_order_and_never_overlap() {
        let apply = |splices: Vec<Splice>| apply("abcdef", splices);
        assert_eq!(
            apply(vec![
                splice(2..4, "X"),
                splice(0..0, "1"),
                splice(0..0, "2"),
                splice(4..4, "Y")
            ])
            .as_deref(),
            Some("12abXYef")
        );
        assert_eq!(
            apply(vec![splice(1..4, ""), splice(2..3, "")]).as_deref(),
            Some("aef")
        );
        assert_eq!(apply(vec![splice(1..4, "x"), splice(2..3, "")]), None);
    }
}
