//! What is known about a cluster's types across answers.
//!
//! Discovery blinks: a group's server may not answer, and a type may be missing from one answer and back in
//! the next. Neither may look like a removal, because a removal stops watches.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Millis, ServedType, TypeId};

use super::followability::{Followability, Policy};
use super::scan::{GroupVersionScan, ResourceScope, Scan, ServedResource};
use super::version;
use super::{Catalog, CatalogVersion};

/// What is known about the types of one cluster.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    groups: BTreeMap<String, BTreeMap<String, GroupVersion>>,
}

/// What is known about one version of one group.
#[derive(Debug, Clone, Default)]
struct GroupVersion {
    /// The place in the group's own order of preference, 0 for the preferred version.
    rank: usize,
    /// Whether the last answer about it was up to date.
    trusted: bool,
    resources: BTreeMap<String, KnownResource>,
}

#[derive(Debug, Clone)]
struct KnownResource {
    facts: ServedResource,
    /// Since when an up-to-date answer does not name it.
    vanished_at: Option<Millis>,
}

impl Registry {
    /// Takes in one answer. `now` only has to be of one clock.
    pub fn absorb(&mut self, scan: Scan, now: Millis, removal_grace: Duration) {
        let complete = scan.complete;
        let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for answered in scan.group_versions {
            let of_group = seen.entry(answered.group.clone()).or_default();
            let rank = of_group.len();
            of_group.push(answered.version.clone());
            let versions = self.groups.entry(answered.group.clone()).or_default();
            let known = versions.entry(answered.version.clone()).or_default();
            known.rank = rank;
            known.absorb(answered, now);
        }
        if complete {
            for (group, versions) in &mut self.groups {
                for (version, known) in versions {
                    let named = seen.get(group).is_some_and(|seen| seen.contains(version));
                    if !named {
                        known.vanish(now);
                    }
                }
            }
        }
        self.forget(now, removal_grace);
    }

    /// Forgets what has been gone longer than the grace.
    fn forget(&mut self, now: Millis, removal_grace: Duration) {
        let grace = Millis::try_from(removal_grace.as_millis()).unwrap_or(Millis::MAX);
        let gone = |resource: &KnownResource| {
            resource
                .vanished_at
                .is_some_and(|at| now.saturating_sub(at) > grace)
        };
        for versions in self.groups.values_mut() {
            for known in versions.values_mut() {
                known.resources.retain(|_, resource| !gone(resource));
            }
            versions.retain(|_, known| !known.resources.is_empty() || !known.trusted);
        }
        self.groups.retain(|_, versions| !versions.is_empty());
    }

    /// Counts the group versions whose last answer was up to date, and the others.
    pub fn trusted_and_degraded(&self) -> (usize, usize) {
        let all = self.groups.values().flat_map(BTreeMap::values);
        let (trusted, degraded): (Vec<_>, Vec<_>) = all.partition(|known| known.trusted);
        (trusted.len(), degraded.len())
    }

    /// Judges everything that is known.
    pub fn catalog(&self, policy: &Policy) -> Catalog {
        let mut catalog = Catalog::default();
        for (group, versions) in &self.groups {
            let mut ordered: Vec<_> = versions.iter().collect();
            // Only the group's own first choice is a preference; behind it discovery's order may be
            // anything, and the general priority of Kubernetes applies.
            ordered.sort_by(|(left, a), (right, b)| {
                let not_preferred = |known: &GroupVersion| known.rank != 0;
                not_preferred(a)
                    .cmp(&not_preferred(b))
                    .then_with(|| version::by_priority(left, right))
            });
            for (version, known) in ordered {
                known.judge(group, version, policy, &mut catalog);
            }
        }
        catalog
    }
}

impl GroupVersion {
    fn absorb(&mut self, answered: GroupVersionScan, now: Millis) {
        self.trusted = answered.current;
        if !answered.current {
            // What a stale answer still says is only news about types never heard of.
            for (name, facts) in answered.resources {
                self.resources.entry(name).or_insert(KnownResource {
                    facts,
                    vanished_at: None,
                });
            }
            return;
        }
        for (name, known) in &mut self.resources {
            if !answered.resources.contains_key(name) {
                known.vanished_at.get_or_insert(now);
            }
        }
        for (name, facts) in answered.resources {
            let known = KnownResource {
                facts,
                vanished_at: None,
            };
            self.resources.insert(name, known);
        }
    }

    fn vanish(&mut self, now: Millis) {
        self.trusted = true;
        for known in self.resources.values_mut() {
            known.vanished_at.get_or_insert(now);
        }
    }

    fn judge(&self, group: &str, version: &str, policy: &Policy, catalog: &mut Catalog) {
        for (name, known) in &self.resources {
            let type_id = TypeId::new(group, name.as_str());
            let trusted = self.trusted && known.vanished_at.is_none();
            let shared = self.shares_its_kind(name, &known.facts);
            let followability =
                Followability::judge(&type_id, &known.facts, shared, trusted, policy);
            match (
                describe(&type_id, version, &known.facts, policy),
                followability,
            ) {
                (Some(served), followability) => catalog.insert(CatalogVersion {
                    served,
                    followability,
                }),
                (None, Followability::Refused(obstacles)) => {
                    catalog.insert_obstructed(type_id, obstacles);
                }
                (None, Followability::Followable | Followability::Retained) => {}
            }
        }
    }

    fn shares_its_kind(&self, name: &str, facts: &ServedResource) -> bool {
        self.resources
            .iter()
            .any(|(other, known)| other != name && !known.facts.kinds.is_disjoint(&facts.kinds))
    }
}

/// Describes a type whose kind and scope are known.
fn describe(
    type_id: &TypeId,
    version: &str,
    facts: &ServedResource,
    policy: &Policy,
) -> Option<ServedType> {
    Some(ServedType {
        type_id: type_id.clone(),
        version: version.to_owned(),
        kind: facts.kinds.first()?.clone(),
        namespaced: facts.scope? == ResourceScope::Namespaced,
        sensitive: policy.sensitivity.is_sensitive(type_id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::fixture::{scan, stale};

    const GRACE: Duration = Duration::from_secs(60);

    /// Absorbs each answer at its second, and prints what is left as `name(state)`.
    fn after(answers: &[(u64, Scan)]) -> String {
        let mut registry = Registry::default();
        for (second, answer) in answers {
            registry.absorb(answer.clone(), second * 1000, GRACE);
        }
        let catalog = registry.catalog(&Policy::default());
        let shown = catalog.types().map(|(type_id, versions)| {
            let versions: Vec<_> = versions
                .iter()
                .map(|version| match &version.followability {
                    Followability::Followable => version.served.version.clone(),
                    Followability::Retained => format!("{}?", version.served.version),
                    Followability::Refused(_) => format!("{}!", version.served.version),
                })
                .collect();
            format!("{type_id}({})", versions.join(","))
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_type_is_forgotten_only_after_the_grace() {
        let both = scan(&[("x.io/v1", &["as", "bs"])]);
        let one = scan(&[("x.io/v1", &["as"])]);
        assert_eq!(after(&[(0, both.clone())]), "as.x.io(v1) bs.x.io(v1)");
        let gone = [(0, both.clone()), (30, one.clone())];
        assert_eq!(after(&gone), "as.x.io(v1) bs.x.io(v1?)");
        let still = [(0, both.clone()), (30, one.clone()), (90, one.clone())];
        assert_eq!(after(&still), "as.x.io(v1) bs.x.io(v1?)");
        let over = [(0, both.clone()), (30, one.clone()), (91, one.clone())];
        assert_eq!(after(&over), "as.x.io(v1)");
        let back = [(0, both.clone()), (30, one), (40, both)];
        assert_eq!(after(&back), "as.x.io(v1) bs.x.io(v1)");
    }

    #[test]
    fn a_group_that_vanishes_from_a_complete_answer_has_the_grace_too() {
        let both = scan(&[("x.io/v1", &["as"]), ("y.io/v1", &["bs"])]);
        let one = scan(&[("x.io/v1", &["as"])]);
        let answers = [(0, both.clone()), (30, one.clone())];
        assert_eq!(after(&answers), "as.x.io(v1) bs.y.io(v1?)");
        let answers = [(0, both), (30, one.clone()), (91, one)];
        assert_eq!(after(&answers), "as.x.io(v1)");
    }

    #[test]
    fn a_server_that_does_not_answer_keeps_its_types_for_as_long_as_it_takes() {
        let good = scan(&[("x.io/v1", &["as"])]);
        let bad = scan(&[]).with(stale("x.io/v1", &[]));
        let answers = [(0, good), (30, bad.clone()), (9_000, bad)];
        assert_eq!(after(&answers), "as.x.io(v1?)");
    }

    #[test]
    fn an_incomplete_answer_judges_only_what_it_names() {
        let both = scan(&[("x.io/v1", &["as"]), ("y.io/v1", &["bs"])]);
        let partial = Scan {
            complete: false,
            ..scan(&[("x.io/v1", &["as"])])
        };
        let answers = [(0, both), (30, partial.clone()), (9_000, partial)];
        assert_eq!(after(&answers), "as.x.io(v1) bs.y.io(v1)");
    }

    #[test]
    fn d21_versions_follow_preference_and_then_priority() {
        let answer = scan(&[
            ("x.io/v1beta1", &["as", "bs"]),
            ("x.io/v1alpha1", &["bs", "cs"]),
            ("x.io/v1alpha2", &["cs"]),
            ("x.io/v1", &["as"]),
        ]);
        assert_eq!(
            after(&[(0, answer)]),
            "as.x.io(v1beta1,v1) bs.x.io(v1beta1,v1alpha1) cs.x.io(v1alpha2,v1alpha1)"
        );
    }
}
