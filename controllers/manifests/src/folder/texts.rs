//! Texts that many documents have in common, held once.

use std::collections::HashSet;
use std::sync::Arc;

/// Texts that were met, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts(HashSet<Arc<str>>);

impl Texts {
    /// Replaces a text by the one that was met before, where it was.
    pub(crate) fn share(&mut self, text: &mut Arc<str>) {
        match self.0.get(text) {
            Some(met) => *text = Arc::clone(met),
            None => drop(self.0.insert(Arc::clone(text))),
        }
    }

    /// Forgets the texts that nothing else holds.
    pub(crate) fn sweep(&mut self) {
        self.0.retain(|text| Arc::strong_count(text) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_and_unused_ones_go() {
        let mut texts = Texts::default();
        let (mut one, mut other): (Arc<str>, Arc<str>) = ("v1".into(), "v1".into());
        texts.share(&mut one);
        texts.share(&mut other);
        assert!(Arc::ptr_eq(&one, &other));
        texts.sweep();
        assert_eq!(texts.0.len(), 1);
        drop((one, other));
        texts.sweep();
        assert!(texts.0.is_empty());
    }
}
