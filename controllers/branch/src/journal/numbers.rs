//! The numbers of accepted writes.

use serde::{Deserialize, Serialize};

/// Numbers the changes that one branch accepted, in the order in which it did.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct DeliveryNumber(pub u64);

impl DeliveryNumber {
    /// Returns the number after this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// A set of numbers. As large as it has gaps, because writes are mostly settled in the order of their acceptance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    /// Ranges with both ends, ascending; between two of them at least one number is missing.
    ranges: Vec<(u64, u64)>,
}

impl Numbers {
    /// Returns the set of one number.
    pub fn one(number: DeliveryNumber) -> Self {
        Self {
            ranges: vec![(number.0, number.0)],
        }
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Says whether the number is among them.
    pub fn contains(&self, number: DeliveryNumber) -> bool {
        let after = self.ranges.partition_point(|(from, _)| *from <= number.0);
        after > 0 && number.0 <= self.ranges[after - 1].1
    }

    /// Adds a number.
    pub fn insert(&mut self, number: DeliveryNumber) {
        self.add_range(number.0, number.0);
    }

    /// Adds all of the other set.
    pub fn extend(&mut self, other: &Self) {
        for (from, to) in &other.ranges {
            self.add_range(*from, *to);
        }
    }

    /// Returns them in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = DeliveryNumber> + '_ {
        self.ranges
            .iter()
            .flat_map(|(from, to)| (*from..=*to).map(DeliveryNumber))
    }

    /// Returns the first number after all of them; of none, the least there is.
    pub fn after_last(&self) -> DeliveryNumber {
        let last = self.ranges.last();
        last.map_or(DeliveryNumber::default(), |(_, to)| {
            DeliveryNumber(*to).next()
        })
    }

    fn add_range(&mut self, from: u64, to: u64) {
        let first = self
            .ranges
            .partition_point(|(_, end)| end.saturating_add(1) < from);
        let last = self
            .ranges
            .partition_point(|(start, _)| *start <= to.saturating_add(1));
        let touched = &self.ranges[first..last];
        let from = touched.first().map_or(from, |(start, _)| from.min(*start));
        let to = touched.last().map_or(to, |(_, end)| to.max(*end));
        self.ranges.splice(first..last, [(from, to)]);
    }
}

impl FromIterator<DeliveryNumber> for Numbers {
    fn from_iter<I: IntoIterator<Item = DeliveryNumber>>(numbers: I) -> Self {
        let mut all = Self::default();
        numbers.into_iter().for_each(|number| all.insert(number));
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_a_set_in_as_few_ranges_as_it_has_gaps(
            one in proptest::collection::vec(0_u64..60, 0..40),
            other in proptest::collection::vec(0_u64..60, 0..40),
        ) {
            let set = |numbers: &[u64]| numbers.iter().copied().map(DeliveryNumber).collect::<Numbers>();
            let mut numbers = set(&one);
            numbers.extend(&set(&other));
            let expected: BTreeSet<u64> = one.iter().chain(&other).copied().collect();
            prop_assert_eq!(numbers.iter().map(|number| number.0).collect::<Vec<_>>(),
                expected.iter().copied().collect::<Vec<_>>());
            for number in 0..62 {
                prop_assert_eq!(numbers.contains(DeliveryNumber(number)), expected.contains(&number));
            }
            let starts = expected.iter().filter(|number| **number == 0 || !expected.contains(&(**number - 1)));
            prop_assert_eq!(numbers.ranges.len(), starts.count());
            prop_assert_eq!(numbers.is_empty(), expected.is_empty());
        }
    }
}
