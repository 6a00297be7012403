//! A bounded memory of recent answers. Pure: time is an argument.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Remembers answers for one fixed time, and at most so many; when full, the oldest is forgotten.
#[derive(Debug)]
pub struct AnswerCache<K, V> {
    keep: Duration,
    capacity: usize,
    answers: HashMap<K, (V, Instant)>,
    // In the order they were written, which is the order they expire in. A key that was written
    // again leaves its earlier entry here, which is skipped when it comes up.
    order: VecDeque<(K, Instant)>,
}

impl<K: Hash + Eq + Clone, V: Clone> AnswerCache<K, V> {
    /// Returns an empty memory.
    pub fn new(keep: Duration, capacity: usize) -> Self {
        Self {
            keep,
            capacity,
            answers: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    /// Returns the answer if it is known and fresh.
    pub fn get(&self, key: &K, now: Instant) -> Option<V> {
        let (answer, written) = self.answers.get(key)?;
        (now.saturating_duration_since(*written) < self.keep).then(|| answer.clone())
    }

    /// Remembers an answer.
    pub fn put(&mut self, key: K, answer: V, now: Instant) {
        while let Some((oldest, written)) = self.order.front() {
            let expired = now.saturating_duration_since(*written) >= self.keep;
            if !expired && self.order.len() < self.capacity {
                break;
            }
            if self
                .answers
                .get(oldest)
                .is_some_and(|(_, latest)| latest == written)
            {
                self.answers.remove(oldest);
            }
            self.order.pop_front();
        }
        self.answers.insert(key.clone(), (answer, now));
        self.order.push_back((key, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_expire_and_their_number_is_bounded() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut cache = AnswerCache::new(Duration::from_secs(10), 3);
        cache.put("a", 1, at(0));
        assert_eq!(cache.get(&"a", at(9)), Some(1));
        assert_eq!(cache.get(&"a", at(10)), None);

        cache.put("a", 2, at(5));
        cache.put("b", 3, at(6));
        cache.put("c", 4, at(7));
        cache.put("d", 5, at(8));
        assert_eq!(cache.get(&"d", at(8)), Some(5));
        assert_eq!(cache.get(&"a", at(8)), None, "the oldest gives way");
        assert!(cache.answers.len() <= 3 && cache.order.len() <= 3);

        cache.put("e", 6, at(100));
        assert_eq!((cache.answers.len(), cache.order.len()), (1, 1));
    }
}
