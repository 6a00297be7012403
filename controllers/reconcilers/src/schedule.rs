//! When each object of a kind is looked at next. Pure: times are arguments.

use std::collections::{BTreeMap, BTreeSet};

use model::Millis;

use crate::place::Place;

/// What is due and what is being worked on. One object is never worked on twice at once.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    due: BTreeMap<Place, Millis>,
    running: BTreeSet<Place>,
}

impl Schedule {
    /// Asks for a look at `at`. The earliest request counts; a later one is served by it.
    pub(crate) fn wake(&mut self, place: Place, at: Millis) {
        let due = self.due.entry(place).or_insert(at);
        *due = (*due).min(at);
    }

    /// Takes an object that is due and marks it as being worked on.
    pub(crate) fn take(&mut self, now: Millis) -> Option<Place> {
        let (place, _) = self
            .waiting()
            .filter(|(_, at)| **at <= now)
            .min_by_key(|(_, at)| **at)?;
        let place = place.clone();
        self.due.remove(&place);
        self.running.insert(place.clone());
        Some(place)
    }

    /// Records that an object is no longer worked on, and when it asked to be looked at again.
    pub(crate) fn done(&mut self, place: Place, again_at: Option<Millis>) {
        self.running.remove(&place);
        if let Some(at) = again_at {
            self.wake(place, at);
        }
    }

    /// Returns when the next object is due that can be worked on.
    pub(crate) fn next_due(&self) -> Option<Millis> {
        self.waiting().map(|(_, at)| *at).min()
    }

    fn waiting(&self) -> impl Iterator<Item = (&Place, &Millis)> {
        self.due
            .iter()
            .filter(|(place, _)| !self.running.contains(*place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Place {
        Place::named("team-a", name).unwrap()
    }

    #[test]
    fn the_earliest_request_counts_and_one_look_serves_all() {
        let mut schedule = Schedule::default();
        schedule.wake(place("a"), 50);
        schedule.wake(place("a"), 10);
        schedule.wake(place("a"), 90);
        assert_eq!(schedule.next_due(), Some(10));
        assert_eq!(schedule.take(9), None);
        assert_eq!(schedule.take(10), Some(place("a")));
        assert_eq!(schedule.take(99), None);
    }

    #[test]
    fn an_object_that_is_worked_on_waits_and_is_not_forgotten() {
        let mut schedule = Schedule::default();
        schedule.wake(place("a"), 0);
        schedule.take(0);
        schedule.wake(place("a"), 5);
        assert_eq!((schedule.take(9), schedule.next_due()), (None, None));
        schedule.done(place("a"), Some(300));
        assert_eq!(
            schedule.take(9),
            Some(place("a")),
            "the request made meanwhile comes first"
        );
        schedule.done(place("a"), None);
        assert_eq!(schedule.next_due(), None);
    }

    #[test]
    fn whoever_waits_longest_goes_first() {
        let mut schedule = Schedule::default();
        schedule.wake(place("a"), 7);
        schedule.wake(place("b"), 3);
        assert_eq!(schedule.take(9), Some(place("b")));
        assert_eq!(schedule.take(9), Some(place("a")));
    }
}
