use std::collections::BTreeMap;

use model::BranchName;

use super::*;
use crate::advertisement::ObjectFormat;
use crate::attempt::Pack;
use crate::wire::refs::{self, Greeting};

fn id(digit: char) -> CommitId {
    CommitId::new(digit.to_string().repeat(40)).unwrap()
}

fn branch(name: &str) -> BranchName {
    BranchName::new(name).unwrap()
}

fn server(branches: &[(&str, char)]) -> Advertisement {
    Advertisement {
        branches: branches
            .iter()
            .map(|(name, digit)| (branch(name), id(*digit)))
            .collect::<BTreeMap<_, _>>(),
        other_refs: 0,
        head: None,
        object_format: ObjectFormat::Sha1,
    }
}

fn able(words: &str) -> Capabilities {
    let line = format!("{} refs/heads/x\0{words}", id('f'));
    let bytes = format!("{:04x}{line}0000", line.len() + 4);
    match refs::read_greeting(bytes.as_bytes(), "", 10) {
        Ok(Greeting::Refs(_, capabilities)) => capabilities,
        other => panic!("{other:?}"),
    }
}

/// A request to move `main` from `a` to `b`.
fn request() -> PushRequest {
    PushRequest {
        branch: branch("main"),
        expected: Some(id('a')),
        new: id('b'),
        pack: Pack::empty(),
        parent_check: None,
        must_be_empty: false,
    }
}

/// A short name of an outcome, for tables.
fn kind(outcome: &PushOutcome) -> &'static str {
    match outcome {
        PushOutcome::Landed { .. } => "landed",
        PushOutcome::Moved { .. } => "moved",
        PushOutcome::Refused { .. } => "refused",
        PushOutcome::Transient(RemoteError::HistoryMissing) => "history missing",
        PushOutcome::Transient(_) => "transient",
        PushOutcome::Ambiguous { .. } => "ambiguous",
        PushOutcome::Failed(_) => "failed",
    }
}

#[test]
fn nothing_is_sent_unless_the_server_is_where_we_believe_it_to_be() {
    let create = || PushRequest {
        expected: None,
        ..request()
    };
    let from_parent = || PushRequest {
        expected: None,
        parent_check: Some((branch("base"), id('c'))),
        ..request()
    };
    let first = || PushRequest {
        expected: None,
        must_be_empty: true,
        ..request()
    };
    let below = || PushRequest {
        branch: branch("main/x"),
        expected: None,
        ..request()
    };
    let mut tagged = server(&[]);
    tagged.other_refs = 1;
    let cases = [
        (server(&[("main", 'a')]), request(), "send"),
        (server(&[("main", 'c')]), request(), "moved"),
        (server(&[("main", 'b')]), request(), "landed"),
        (server(&[]), request(), "moved"),
        (server(&[("other", 'a')]), create(), "send"),
        (server(&[("main", 'a')]), create(), "moved"),
        (server(&[("base", 'c')]), from_parent(), "send"),
        (server(&[("base", 'd')]), from_parent(), "moved"),
        (server(&[]), from_parent(), "moved"),
        (server(&[]), first(), "send"),
        (server(&[("other", 'a')]), first(), "moved"),
        (tagged, first(), "moved"),
        (server(&[("main", 'a')]), below(), "refused"),
    ];
    for (advertisement, request, expected) in cases {
        let outcome = compare(&advertisement, &able("report-status"), &request);
        let got = outcome
            .as_ref()
            .map_or_else(|outcome| kind(outcome), |()| "send");
        assert_eq!(got, expected, "{advertisement:?} {request:?}");
    }
}

#[test]
fn a_server_that_cannot_report_gets_nothing() {
    let outcome = compare(
        &server(&[("main", 'a')]),
        &able("side-band-64k"),
        &request(),
    );
    assert!(matches!(
        *outcome.unwrap_err(),
        PushOutcome::Failed(RemoteError::Unsupported { .. })
    ));
}

#[test]
fn a_rejection_is_judged_by_where_the_branch_is() {
    let cases = [
        ('b', "pre-receive hook declined", true, "landed"),
        ('c', "pre-receive hook declined", true, "moved"),
        ('a', "pre-receive hook declined", true, "refused"),
        ('a', "deny updating a hidden ref", true, "refused"),
        ('a', "protected branch hook declined", true, "refused"),
        ('a', "failed to update ref", true, "transient"),
        ('c', "failed to update ref", true, "moved"),
        ('a', "missing necessary objects", true, "history missing"),
        ('a', "index-pack abnormal exit", false, "refused"),
    ];
    for (now, reason, unpacked, expected) in cases {
        let rejection = Rejection {
            reason,
            unpacked,
            words: "",
        };
        let outcome = after_rejection(server(&[("main", now)]), &request(), &rejection);
        assert_eq!(kind(&outcome), expected, "{now} {reason}");
    }
    let deleted = Rejection {
        reason: "failed to update ref",
        unpacked: true,
        words: "",
    };
    assert!(matches!(
        after_rejection(server(&[]), &request(), &deleted),
        PushOutcome::Moved { now: None, .. }
    ));
}

#[test]
fn the_words_of_a_hook_follow_the_reason() {
    let rejection = Rejection {
        reason: "pre-receive hook declined",
        unpacked: true,
        words: "ask the platform team",
    };
    let outcome = after_rejection(server(&[("main", 'a')]), &request(), &rejection);
    let PushOutcome::Refused { text } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(text, "pre-receive hook declined: ask the platform team");
}

#[test]
fn a_call_without_an_answer_is_ambiguous_only_if_the_server_may_have_acted() {
    let server_error = |status| RemoteError::ServerError {
        words: String::new(),
        status,
        retry_after: None,
    };
    let cases = [
        (server_error(503), Sent::Perhaps, "ambiguous"),
        (server_error(429), Sent::TurnedAway, "transient"),
        (server_error(408), Sent::TurnedAway, "transient"),
        (server_error(413), Sent::TurnedAway, "failed"),
        (RemoteError::Unauthorized, Sent::TurnedAway, "failed"),
        (
            RemoteError::TimedOut { phase: "x" },
            Sent::Perhaps,
            "ambiguous",
        ),
        (RemoteError::Cancelled, Sent::Nothing, "failed"),
    ];
    for (error, sent, expected) in cases {
        let shown = format!("{error:?}");
        let outcome = after_failed_call(CallError { error, sent }, &id('b'));
        assert_eq!(kind(&outcome), expected, "{shown}");
    }
}
