//! What a relay does to the next requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use testkit::relay::Fate;

/// What happens to the next requests of a kind, in their order.
#[derive(Clone, Default)]
pub(crate) struct Plan(Arc<Mutex<VecDeque<(&'static str, Fate)>>>);

impl Plan {
    /// Spoils the next request whose first line holds these words.
    pub(crate) fn spoil(&self, words: &'static str, fate: Fate) {
        self.0.lock().unwrap().push_back((words, fate));
    }

    pub(crate) fn of(&self, line: &str) -> Fate {
        let mut plan = self.0.lock().unwrap();
        match plan.front() {
            Some((words, _)) if line.contains(words) => {
                plan.pop_front().map_or(Fate::Pass, |(_, fate)| fate)
            }
            _ => Fate::Pass,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}
