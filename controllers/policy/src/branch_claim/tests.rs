use model::{Namespace, ObjectName, RepositoryUrl};
use proptest::prelude::*;

use super::*;

fn key(name: &str) -> GitBranchKey {
    GitBranchKey::new(
        Namespace::new("team-a").unwrap(),
        ObjectName::new(name).unwrap(),
    )
}

/// A candidate for branch `main` of repository `repo`; its uid is its name.
fn candidate_in(repo: &str, name: &str, created_at: Millis) -> Candidate {
    Candidate {
        key: key(name),
        uid: Uid::new(name).unwrap(),
        created_at,
        repository: RepositoryUrl::new(&format!("https://git.example.com/{repo}"))
            .unwrap()
            .id(),
        branch: BranchName::new("main").unwrap(),
    }
}

fn candidate(name: &str, created_at: Millis) -> Candidate {
    candidate_in("repo", name, created_at)
}

fn behind(name: &str) -> ClaimState {
    ClaimState::Waits {
        behind: Some(key(name)),
    }
}

#[test]
fn the_first_candidate_holds_and_a_younger_one_waits() {
    let mut claims = BranchClaims::default();
    let (old, young) = (candidate("old", 1), candidate("young", 2));
    assert_eq!(claims.offer(&old), ClaimState::Holds);
    assert_eq!(claims.offer(&young), behind("old"));
    assert_eq!(
        claims.offer(&old),
        ClaimState::Holds,
        "asking again changes nothing"
    );
    assert_eq!(
        claims.holder_of(&old.repository, &old.branch),
        Some(&old.key)
    );
    assert_eq!(claims.rivals_of(&old.key), BTreeSet::from([young.key]));
}

#[test]
fn an_older_candidate_makes_the_holder_give_up_and_waits_for_its_writer() {
    let mut claims = BranchClaims::default();
    let (old, young) = (candidate("old", 1), candidate("young", 2));
    assert_eq!(claims.offer(&young), ClaimState::Holds);
    assert_eq!(
        claims.offer(&old),
        behind("young"),
        "the writer of young still runs"
    );
    assert_eq!(claims.state_of(&young.key), ClaimState::GivesUp);
    claims.released(&young.key);
    assert_eq!(claims.holder_of(&old.repository, &old.branch), None);
    assert_eq!(claims.state_of(&young.key), behind("old"));
    assert_eq!(
        claims.offer(&young),
        behind("old"),
        "young does not overtake"
    );
    assert_eq!(
        claims.state_of(&old.key),
        ClaimState::Waits { behind: None }
    );
    assert_eq!(claims.offer(&old), ClaimState::Holds);
}

#[test]
fn a_revoked_holder_drains_and_a_candidate_revoked_with_it_never_holds() {
    let mut claims = BranchClaims::default();
    let (first, second, third) = (candidate("a", 1), candidate("b", 2), candidate("c", 3));
    for candidate in [&first, &second, &third] {
        claims.offer(candidate);
    }
    assert_eq!(claims.withdraw(&first.key), ClaimState::GivesUp);
    assert_eq!(claims.offer(&third), behind("b"));
    assert_eq!(claims.withdraw(&second.key), ClaimState::Absent);
    claims.released(&first.key);
    assert_eq!(claims.state_of(&first.key), ClaimState::Absent);
    assert_eq!(claims.offer(&third), ClaimState::Holds);
}

#[test]
fn a_grant_that_returns_while_the_writer_drains_is_honoured_after_it() {
    let mut claims = BranchClaims::default();
    let only = candidate("only", 1);
    claims.offer(&only);
    claims.withdraw(&only.key);
    assert_eq!(claims.offer(&only), ClaimState::GivesUp);
    claims.released(&only.key);
    assert_eq!(claims.offer(&only), ClaimState::Holds);
}

#[test]
fn equal_ages_are_decided_by_uid() {
    let mut claims = BranchClaims::default();
    let (a, b) = (candidate("a", 1), candidate("b", 1));
    claims.offer(&b);
    claims.offer(&a);
    claims.released(&b.key);
    assert_eq!(claims.offer(&a), ClaimState::Holds);
}

#[test]
fn another_spelling_of_the_url_is_the_same_branch_and_another_branch_is_not() {
    let mut claims = BranchClaims::default();
    let https = candidate("https", 1);
    let mut ssh = candidate("ssh", 2);
    ssh.repository = RepositoryUrl::new("git@git.example.com:Repo.git")
        .unwrap()
        .id();
    let mut elsewhere = candidate("elsewhere", 3);
    elsewhere.branch = BranchName::new("other").unwrap();
    assert_eq!(claims.offer(&https), ClaimState::Holds);
    assert_eq!(claims.offer(&ssh), behind("https"));
    assert_eq!(claims.offer(&elsewhere), ClaimState::Holds);
}

#[test]
fn a_provider_recreated_for_another_repository_moves_the_claim_after_a_drain() {
    let mut claims = BranchClaims::default();
    let before = candidate_in("one", "live", 1);
    let after = candidate_in("two", "live", 1);
    assert_eq!(claims.offer(&before), ClaimState::Holds);
    assert_eq!(claims.offer(&after), ClaimState::GivesUp);
    claims.released(&before.key);
    assert_eq!(claims.offer(&after), ClaimState::Holds);
    assert_eq!(claims.holder_of(&before.repository, &before.branch), None);
}

#[test]
fn a_new_object_of_the_same_name_does_not_inherit_the_claim() {
    let mut claims = BranchClaims::default();
    let before = candidate("live", 1);
    let after = Candidate {
        uid: Uid::new("another").unwrap(),
        created_at: 5,
        ..before.clone()
    };
    claims.offer(&before);
    assert_eq!(claims.offer(&after), ClaimState::GivesUp);
    claims.released(&after.key);
    assert_eq!(claims.offer(&after), ClaimState::Holds);
}

#[derive(Debug, Clone)]
enum Step {
    Offer(usize),
    Withdraw(usize),
    Release(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0usize..4).prop_map(Step::Offer),
        1 => (0usize..4).prop_map(Step::Withdraw),
        2 => (0usize..4).prop_map(Step::Release),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest! {
    /// At most one writer exists at any time, whoever gives up keeps others out, and once everybody has asked
    /// and drained, the oldest holds.
    #[test]
    fn one_writer_at_a_time_and_the_oldest_in_the_end(steps in steps()) {
        let all: Vec<_> = ["d", "c", "b", "a"].iter().zip([4, 2, 3, 1]).map(|(name, at)| candidate(name, at)).collect();
        let mut claims = BranchClaims::default();
        for step in steps {
            match step {
                Step::Offer(index) => { claims.offer(&all[index]); }
                Step::Withdraw(index) => { claims.withdraw(&all[index].key); }
                Step::Release(index) => claims.released(&all[index].key),
            }
            let writers: Vec<_> = all.iter()
                .filter(|c| matches!(claims.state_of(&c.key), ClaimState::Holds | ClaimState::GivesUp))
                .collect();
            prop_assert!(writers.len() <= 1, "{writers:?}");
            prop_assert_eq!(writers.first().map(|c| &c.key), claims.holder_of(&all[0].repository, &all[0].branch));
        }
        for _ in 0..3 {
            for candidate in &all {
                if claims.offer(candidate) == ClaimState::GivesUp {
                    claims.released(&candidate.key);
                }
                let given_up: Vec<_> = all.iter().filter(|c| claims.state_of(&c.key) == ClaimState::GivesUp).collect();
                for holder in given_up {
                    claims.released(&holder.key);
                }
            }
        }
        prop_assert_eq!(claims.state_of(&key("a")), ClaimState::Holds);
        for name in ["b", "c", "d"] {
            prop_assert_eq!(claims.state_of(&key(name)), behind("a"));
        }
    }
}
