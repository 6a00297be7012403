//! Lines of a text that is asked about in any order.

/// Where the lines of a text start.
#[derive(Debug, Clone)]
pub(crate) struct LineIndex(Vec<u32>);

impl LineIndex {
    pub(crate) fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(breaks.map(|(at, _)| offset(at)).collect())
    }

    /// Returns the line of a byte, counted from 1.
    pub(crate) fn line_of(&self, at: u32) -> u32 {
        offset(self.0.partition_point(|newline| *newline < at)) + 1
    }
}

/// Returns a place in a text as it is kept.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_belongs_to_the_line_it_ends() {
        let lines = LineIndex::new("a\n\nb");
        let found: Vec<u32> = (0..4).map(|at| lines.line_of(at)).collect();
        assert_eq!(found, [1, 1, 2, 3]);
    }
}
