//! Who is let in, and who answers: credentials, certificates, redirects, and hosts that are none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use e2e::stage::{GIT_PASSWORD, GIT_USER, Stage};
use serde_json::json;
use testkit::relay::{Fate, Relay, answer};
use testkit::{Access, GitServer, Shown, wait};

use super::{Place, cases, stage, together};

#[test]
fn case_9_10_11_20_24_27_who_is_not_let_in_says_why_and_goes_on_when_it_is() {
    let mut stage = stage(&[]);
    together(
        &stage,
        cases![
            case_9_a_token_expires_before_the_session,
            case_9_a_token_expires_within_the_session,
            case_9_a_token_is_replaced,
            case_10_a_token_that_may_only_read,
            case_11_a_page_to_log_in,
            case_11_the_other_service_answers,
            case_20_a_push_that_is_too_large,
            case_24_a_redirect_on_the_same_host,
            case_24_a_redirect_to_another_host,
            case_24_a_redirect_of_a_push,
            case_27_certificates,
        ],
    );
    stage.stop_operator().unwrap();
}

/// Lets the host answer requests that way while an edit waits on top of a person's push, until the branch says so in
/// these words; then it is published.
fn answered(stage: &Stage, case: &str, words: &'static str, fate: Fate, told: &str) {
    let is_spoilt = Arc::new(AtomicBool::new(false));
    let relay = Relay::start(stage.git.address(), {
        let is_spoilt = Arc::clone(&is_spoilt);
        move |line| {
            if is_spoilt.load(Ordering::SeqCst) && line.contains(words) {
                fate.clone()
            } else {
                Fate::Pass
            }
        }
    });
    let place = Place::seeded(stage, case);
    let mirror = place.mirror_through(&relay);
    place.start(&mirror);
    let theirs = place.push_of_a_person("theirs.txt");
    is_spoilt.store(true, Ordering::SeqCst);
    place.edit("settings", "first");
    let said = place.wait_branch(["False", "PushSessionFailed", told]);
    assert!(said.contains("next attempt at 20"), "{said}");
    is_spoilt.store(false, Ordering::SeqCst);
    place.wait("settings", "first");
    let judge = place.judge("main", &[&theirs]);
    place.check_edits(&judge, "settings", &["first"]);
    assert_eq!(judge.commits().unwrap().len(), 3);
}

fn unauthorized() -> Fate {
    let header = [("www-authenticate", "Basic realm=\"git\"")];
    Fate::Answer(answer("401 Unauthorized", &header, "who are you?"))
}

fn case_9_a_token_expires_before_the_session(stage: &Stage, case: &str) {
    let words = "service=git-receive-pack";
    answered(stage, case, words, unauthorized(), "(HTTP 401)");
}

fn case_9_a_token_expires_within_the_session(stage: &Stage, case: &str) {
    let words = "/git-receive-pack ";
    answered(stage, case, words, unauthorized(), "(HTTP 401)");
}

fn case_9_a_token_is_replaced(stage: &Stage, case: &str) {
    let host = host();
    let place = Place::seeded_at(&host, stage, case);
    place.start(&place.mirror());
    place.publish("settings", "before");
    let theirs = place.push_of_a_person("theirs.txt");
    host.set_access(Access::basic(GIT_USER, "renewed"));
    place.edit("settings", "first");
    place.wait_branch(["False", "PushSessionFailed", "(HTTP 401)"]);
    give(&place, &json!({"password": "renewed"}));
    place.wait("settings", "first");
    let judge = place.judge("main", &[&theirs]);
    place.check_edits(&judge, "settings", &["before", "first"]);
}

fn case_10_a_token_that_may_only_read(stage: &Stage, case: &str) {
    let host = host();
    let place = Place::seeded_at(&host, stage, case);
    place.start(&place.mirror());
    let before = place.tip("main");
    host.set_read_only(true);
    place.edit("settings", "first");
    place.wait_branch([
        "False",
        "PushSessionFailed",
        "not allowed to do this (HTTP 403)",
    ]);
    assert_eq!(place.tip("main"), before);
    host.set_read_only(false);
    place.wait("settings", "first");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first"]);
}

fn case_11_a_page_to_log_in(stage: &Stage, case: &str) {
    let header = [("content-type", "text/html")];
    let page = answer("200 OK", &header, "<form>Password: <input></form>");
    answered(
        stage,
        case,
        "service=git-receive-pack",
        Fate::Answer(page),
        "the URL does not lead to a Git server: it answers with text/html",
    );
}

fn case_11_the_other_service_answers(stage: &Stage, case: &str) {
    let kind = "application/x-git-upload-pack-advertisement";
    let other = answer("200 OK", &[("content-type", kind)], "0000");
    answered(
        stage,
        case,
        "service=git-receive-pack",
        Fate::Answer(other),
        "the URL does not lead to a Git server: it answers with application/x-git-upload-pack",
    );
}

fn case_20_a_push_that_is_too_large(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    place.start(&place.mirror());
    let before = place.tip("main");
    let limit = ["config", "receive.maxInputSize", "20k"];
    place.repository.git(&limit).unwrap();
    // Noise does not get smaller.
    let noise: String = (0..5_000_u64)
        .map(|line| format!("{:x}\n", line.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    place.edit_with("settings", "first", &json!({"noise": noise}));
    place.wait_branch(["False", "PushRefused", "exceeds maximum allowed size"]);
    assert_eq!(place.tip("main"), before);
    let limit = ["config", "--unset", "receive.maxInputSize"];
    place.repository.git(&limit).unwrap();
    place.wait("settings", "first");
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first"]);
}

fn case_24_a_redirect_on_the_same_host(stage: &Stage, case: &str) {
    let place = Place::seeded(stage, case);
    let name = place.name.clone();
    let relay = Relay::start(stage.git.address(), move |line| {
        let service = line.split_once("/moved.git/info/refs?");
        let Some(service) = service.and_then(|(_, rest)| rest.split(' ').next()) else {
            return Fate::Pass;
        };
        let location = format!("/{name}.git/info/refs?{service}");
        Fate::Answer(answer("301 Moved", &[("location", &location)], ""))
    });
    let mut mirror = place.mirror();
    mirror.url = relay.url("moved.git");
    place.start(&mirror);
    place.publish("settings", "first");
    let judge = place.judge("main", &[]);
    place.check_edits(&judge, "settings", &["first"]);
}

fn case_24_a_redirect_to_another_host(stage: &Stage, case: &str) {
    // Whoever it leads to takes everybody, and notes who brings a credential.
    let other = GitServer::start().unwrap();
    let theirs = Place::seeded_at(&other, stage, case);
    let place = Place::seeded(stage, case);
    let target = other.url(&theirs.name);
    let relay = Relay::start(stage.git.address(), move |line| {
        let service = line.split_once("/info/refs?");
        let Some(service) = service.and_then(|(_, rest)| rest.split(' ').next()) else {
            return Fate::Pass;
        };
        let location = format!("{target}/info/refs?{service}");
        Fate::Answer(answer("302 Found", &[("location", &location)], ""))
    });
    let mirror = place.mirror_through(&relay);
    stage.start_mirror(&mirror).unwrap();
    wait::until("the other host to be asked", wait::GENEROUS, || {
        (!other.requests().is_empty()).then_some(())
    })
    .unwrap();
    // It lets everybody in, so that is where the mirror goes, without the credential.
    place.edit("settings", "first");
    theirs.wait("settings", "first");
    let requests = other.requests();
    assert!(requests.iter().all(|one| !one.authorized), "{requests:?}");
}

fn case_24_a_redirect_of_a_push(stage: &Stage, case: &str) {
    let location = [("location", "/elsewhere.git/git-receive-pack")];
    answered(
        stage,
        case,
        "/git-receive-pack ",
        Fate::Answer(answer("307 Temporary Redirect", &location, "")),
        "only the first request of a session may be redirected",
    );
}

fn case_27_certificates(stage: &Stage, case: &str) {
    let host = GitServer::builder()
        .tls()
        .access(Access::basic(GIT_USER, GIT_PASSWORD))
        .start()
        .unwrap();
    let place = Place::seeded_at(&host, stage, case);
    stage.start_mirror(&place.mirror()).unwrap();
    let told = "no trusted TLS connection: ";
    let conditions = stage.conditions(&place.name, "gitprovider/platform");
    let unknown = conditions.wait_for("Ready", ["False", "ConnectionFailed", told]);
    let said = unknown.unwrap().message;
    assert!(said.contains("UnknownIssuer"), "{said}");
    assert_eq!(host.requests(), [], "nothing is asked of whom nobody knows");
    give(&place, &json!({"ca.crt": host.authority()}));
    place.wait_ready();
    let before = place.tip("main");
    let faults = [
        (Shown::Expired, "first", "expired"),
        (Shown::OfAnother, "second", "not valid for name"),
    ];
    for (shown, value, why) in faults {
        host.show(shown).unwrap();
        let asked = host.requests().len();
        place.edit("settings", value);
        let said = place.wait_branch(["False", "PushSessionFailed", told]);
        assert!(said.contains(why), "{said}");
        assert_eq!(host.requests().len(), asked);
        host.show(Shown::Good).unwrap();
        place.wait("settings", value);
        place.wait_ready();
    }
    let judge = place.judge("main", &[&before]);
    place.check_edits(&judge, "settings", &["first", "second"]);
}

/// Starts a host of the case's own, for those who know the usual password.
fn host() -> GitServer {
    let access = Access::basic(GIT_USER, GIT_PASSWORD);
    GitServer::builder().access(access).start().unwrap()
}

/// Adds to the Secret that opens the repository.
fn give(place: &Place<'_>, entries: &serde_json::Value) {
    let patch = json!({"stringData": entries}).to_string();
    let change = [
        "patch",
        "secret",
        "git-credential",
        "-n",
        &place.name,
        "-p",
        &patch,
    ];
    place.stage.admin.run(&change).unwrap();
}
