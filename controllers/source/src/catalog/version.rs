//! The order in which Kubernetes prefers versions that a group does not order itself.

use std::cmp::Ordering;

/// How stable a version is; the least stable comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

/// Compares two versions so that the one that Kubernetes prefers comes first: stable before beta before
/// alpha, higher numbers before lower ones, and names of another form last, in alphabetical order.
pub fn by_priority(left: &str, right: &str) -> Ordering {
    match (parse(left), parse(right)) {
        (Some(left), Some(right)) => right.cmp(&left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// Reads `v2`, `v2beta1` or `v2alpha1`.
fn parse(version: &str) -> Option<(Stability, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = rest.split_at(digits);
    let major = number(major)?;
    if rest.is_empty() {
        return Some((Stability::Stable, major, 0));
    }
    let (stability, minor) = match (rest.strip_prefix("alpha"), rest.strip_prefix("beta")) {
        (Some(minor), _) => (Stability::Alpha, minor),
        (None, Some(minor)) => (Stability::Beta, minor),
        (None, None) => return None,
    };
    Some((stability, major, number(minor)?))
}

fn number(digits: &str) -> Option<u64> {
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_as_kubernetes_sorts_them() {
        let sorted = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
        ];
        let mut shuffled = sorted;
        shuffled.reverse();
        shuffled.sort_by(|left, right| by_priority(left, right));
        assert_eq!(shuffled, sorted);
    }
}
