//! Wakes the objects whose actor published something that their status repeats.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use board::{BranchView, Directory, DirectoryReader, Reader, SourceView, TargetView};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use model::{GitBranchKey, KubeProviderKey, TargetKey};
use tokio_util::sync::CancellationToken;

use crate::place::Place;
use crate::routes::{Wake, Wakes};

/// How long a change on the board may wait for others, so that a busy branch costs one status a second.
const GATHER: Duration = Duration::from_secs(1);

/// How long a change may wait that only says how many edits wait to be published, while some do before and after it.
const GATHER_COUNTS: Duration = Duration::from_secs(5);

/// Whom to wake, and how long each may wait.
type WakesWithin = BTreeMap<Wake, Duration>;

/// How long a view that changed is not looked at again, so that a branch that changes with every edit is looked at a few
/// times in the time for which its wake is gathered.
const PAUSE: Duration = Duration::from_millis(250);

/// One reader that has been waited for.
enum Changed {
    Branch(GitBranchKey, Reader<BranchView>),
    Source(KubeProviderKey, Reader<SourceView>),
    /// Its publisher is gone.
    Gone,
}

/// Follows the directory and every view in it until the token is cancelled.
pub(crate) async fn follow(
    mut directory: DirectoryReader,
    wakes: Wakes,
    shutdown: CancellationToken,
) {
    let mut seen = Seen::default();
    loop {
        let now = directory.now();
        wake_all(&wakes, seen.take_directory(&now)).await;
        let mut waiting = wait_for_all(&now);
        loop {
            tokio::select! { biased;
                () = shutdown.cancelled() => return,
                live = directory.changed() => {
                    if live { break } else { return }
                }
                Some(changed) = waiting.next() => match changed {
                    Changed::Branch(key, reader) => {
                        wake_all(&wakes, seen.take_branch(&key, reader.now())).await;
                        waiting.push(wait_for_branch(key, reader, PAUSE));
                    }
                    Changed::Source(key, reader) => {
                        wake_all(&wakes, seen.take_source(&key, reader.now())).await;
                        waiting.push(wait_for_source(key, reader, PAUSE));
                    }
                    Changed::Gone => {}
                },
            }
        }
    }
}

async fn wake_all(wakes: &Wakes, all: WakesWithin) {
    for (wake, within) in all {
        wakes.send(wake, within).await;
    }
}

fn wait_for_all(directory: &Directory) -> FuturesUnordered<BoxFuture<'static, Changed>> {
    let branches = directory
        .branches
        .iter()
        .map(|(key, entry)| wait_for_branch(key.clone(), entry.view.clone(), Duration::ZERO));
    let sources = directory
        .sources
        .iter()
        .map(|(key, entry)| wait_for_source(key.clone(), entry.view.clone(), Duration::ZERO));
    branches.chain(sources).collect()
}

fn wait_for_branch(
    key: GitBranchKey,
    mut reader: Reader<BranchView>,
    pause: Duration,
) -> BoxFuture<'static, Changed> {
    Box::pin(async move {
        tokio::time::sleep(pause).await;
        if reader.changed().await {
            Changed::Branch(key, reader)
        } else {
            Changed::Gone
        }
    })
}

fn wait_for_source(
    key: KubeProviderKey,
    mut reader: Reader<SourceView>,
    pause: Duration,
) -> BoxFuture<'static, Changed> {
    Box::pin(async move {
        tokio::time::sleep(pause).await;
        if reader.changed().await {
            Changed::Source(key, reader)
        } else {
            Changed::Gone
        }
    })
}

/// What was last seen of every actor, to tell which objects a change is about.
#[derive(Default)]
struct Seen {
    branches: BTreeMap<GitBranchKey, Arc<BranchView>>,
    sources: BTreeMap<KubeProviderKey, Arc<SourceView>>,
}

impl Seen {
    /// Actors that came or went concern everybody on them, and a view may have moved while nobody waited.
    fn take_directory(&mut self, directory: &Directory) -> WakesWithin {
        let mut wakes = WakesWithin::new();
        let gone: Vec<_> = self
            .branches
            .keys()
            .filter(|key| !directory.branches.contains_key(*key))
            .cloned()
            .collect();
        for key in gone {
            if let Some(view) = self.branches.remove(&key) {
                wakes.insert(Wake::GitBranch(Place::from(&key)), GATHER);
                wakes.extend(view.targets.keys().map(target).map(soon));
            }
        }
        let gone: Vec<_> = self
            .sources
            .keys()
            .filter(|key| !directory.sources.contains_key(*key))
            .cloned()
            .collect();
        for key in gone {
            if let Some(view) = self.sources.remove(&key) {
                wakes.extend(view.targets.keys().map(target).map(soon));
            }
        }
        for (key, entry) in &directory.branches {
            wakes.extend(self.take_branch(key, entry.view.now()));
        }
        for (key, entry) in &directory.sources {
            wakes.extend(self.take_source(key, entry.view.now()));
        }
        wakes
    }

    fn take_branch(&mut self, key: &GitBranchKey, view: Arc<BranchView>) -> WakesWithin {
        let before = self.branches.insert(key.clone(), Arc::clone(&view));
        branch_wakes(key, before.as_deref(), &view)
    }

    fn take_source(&mut self, key: &KubeProviderKey, view: Arc<SourceView>) -> WakesWithin {
        let before = self.sources.insert(key.clone(), Arc::clone(&view));
        source_wakes(before.as_deref(), &view)
    }
}

/// Says whom a new view of a branch concerns: open windows and queues concern no status.
fn branch_wakes(key: &GitBranchKey, before: Option<&BranchView>, now: &BranchView) -> WakesWithin {
    let mut wakes = WakesWithin::new();
    let branch = |view: &BranchView| {
        (
            view.base.clone(),
            view.publication.clone(),
            view.pending.is_empty(),
            view.journal.clone(),
        )
    };
    if before.is_none_or(|before| branch(before) != branch(now)) {
        wakes.insert(Wake::GitBranch(Place::from(key)), GATHER);
    }
    let shared = |view: &BranchView| (view.publication.clone(), view.intake);
    let all = before.is_none_or(|before| shared(before) != shared(now));
    let before = before.map(|before| &before.targets);
    for (key, view) in &now.targets {
        let old = before.and_then(|before| before.get(key));
        if all || old.is_none_or(|old| !is_same_but_for_counts(old, view)) {
            wakes.insert(target(key), GATHER);
        } else if old != Some(view) {
            wakes.insert(target(key), GATHER_COUNTS);
        }
    }
    wakes
}

fn is_same_but_for_counts(before: &TargetView, now: &TargetView) -> bool {
    let TargetView {
        folder,
        layout,
        refused,
        collections,
        retention,
        last_commit,
        pending_objects,
        resync_needed,
    } = now;
    let waits = |count: usize| count > 0;
    waits(before.pending_objects) == waits(*pending_objects)
        && before.folder == *folder
        && before.layout == *layout
        && before.refused == *refused
        && before.collections == *collections
        && before.retention == *retention
        && before.last_commit == *last_commit
        && before.resync_needed == *resync_needed
}

fn soon(wake: Wake) -> (Wake, Duration) {
    (wake, GATHER)
}

/// Says whom a new view of a source concerns.
fn source_wakes(before: Option<&SourceView>, now: &SourceView) -> WakesWithin {
    let mut wakes = WakesWithin::new();
    let all = before.is_none_or(|before| before.api != now.api);
    let before = before.map(|before| &before.targets);
    for (key, streams) in &now.targets {
        let old = before.and_then(|before| before.get(key));
        if all || old != Some(streams) {
            wakes.insert(target(key), GATHER);
            let rules = streams
                .rules
                .keys()
                .chain(old.iter().flat_map(|old| old.rules.keys()));
            wakes.extend(rules.map(|rule| soon(Wake::WatchRule(Place::from(rule)))));
        }
    }
    wakes
}

fn target(key: &TargetKey) -> Wake {
    Wake::GitTarget(Place::from(key))
}

#[cfg(test)]
mod tests {
    use board::{
        ApiHealth, IntakeState, JournalState, Publication, PublicationFault, TargetStreams,
        TargetView,
    };
    use model::{BranchName, RepositoryUrl};

    use super::*;

    fn place(name: &str) -> Place {
        Place::named("ns", name).unwrap()
    }

    fn view(targets: &[(&str, usize)]) -> BranchView {
        let of = |(name, pending): &(&str, usize)| {
            let view = TargetView {
                pending_objects: *pending,
                ..TargetView::default()
            };
            (TargetKey::from(&place(name)), view)
        };
        BranchView {
            key: GitBranchKey::from(&place("live")),
            repository: RepositoryUrl::new("https://git.example.com/r")
                .unwrap()
                .id(),
            branch: BranchName::new("main").unwrap(),
            base: None,
            foreign: None,
            window: None,
            pending: Vec::new(),
            queued: 0,
            buffered_bytes: 0,
            publication: Publication::Healthy,
            intake: IntakeState::Open,
            journal: JournalState::Healthy,
            last_push: None,
            targets: targets.iter().map(of).collect(),
        }
    }

    fn wakes(before: &BranchView, now: &BranchView) -> Vec<Wake> {
        let wakes = branch_wakes(&now.key, Some(before), now);
        assert!(wakes.values().all(|within| *within == GATHER));
        wakes.into_keys().collect()
    }

    #[test]
    fn a_number_that_only_grows_or_shrinks_may_wait_longer_than_the_first_and_the_last_edit() {
        let within = |before: usize, now: usize| {
            let (before, now) = (view(&[("a", before)]), view(&[("a", now)]));
            let wakes = branch_wakes(&now.key, Some(&before), &now);
            wakes.get(&Wake::GitTarget(place("a"))).copied()
        };
        assert_eq!(within(0, 1), Some(GATHER));
        assert_eq!(within(1, 2), Some(GATHER_COUNTS));
        assert_eq!(within(7, 2), Some(GATHER_COUNTS));
        assert_eq!(within(2, 0), Some(GATHER));
        assert_eq!(within(2, 2), None);
    }

    #[test]
    fn only_those_are_woken_whose_status_repeats_what_changed() {
        let before = view(&[("a", 0), ("b", 0)]);
        let busy = BranchView {
            queued: 7,
            buffered_bytes: 9,
            ..before.clone()
        };
        assert!(wakes(&before, &busy).is_empty(), "queues are in no status");
        assert_eq!(
            wakes(&before, &view(&[("a", 1), ("b", 0)])),
            [Wake::GitTarget(place("a"))]
        );
        let failing = Publication::Failing {
            since: 1,
            fault: PublicationFault::Unreachable,
            message: "m".to_owned(),
            attempts: 1,
            retry_at: 2,
        };
        let outage = BranchView {
            publication: failing,
            ..before.clone()
        };
        let everybody = [
            Wake::GitBranch(place("live")),
            Wake::GitTarget(place("a")),
            Wake::GitTarget(place("b")),
        ];
        assert_eq!(wakes(&before, &outage), everybody);
    }

    #[test]
    fn streams_wake_their_target_and_its_rules() {
        let rule = model::RuleKey::from(&place("rule"));
        let resolved = board::RuleResolution::Resolved {
            collections: Vec::new(),
            unresolved: Vec::new(),
        };
        let streams = TargetStreams {
            rules: BTreeMap::from([(rule, resolved)]),
            ..TargetStreams::default()
        };
        let before = SourceView {
            api: ApiHealth::Reachable {
                followable_types: 1,
            },
            targets: BTreeMap::from([(TargetKey::from(&place("a")), TargetStreams::default())]),
        };
        let mut now = before.clone();
        now.targets.insert(TargetKey::from(&place("a")), streams);
        let woken: Vec<_> = source_wakes(Some(&before), &now).into_keys().collect();
        assert_eq!(
            woken,
            [Wake::GitTarget(place("a")), Wake::WatchRule(place("rule"))]
        );
        assert!(source_wakes(Some(&now), &now).is_empty());
    }
}
