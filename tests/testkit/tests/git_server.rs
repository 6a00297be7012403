//! The HTTP server serves what git expects, refuses whom it should, and its hooks work.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test too")]

use testkit::{Access, GitServer, ObjectFormat};

/// Clones, pushes a commit, and sees it arrive.
fn push_through(server: &GitServer) {
    let repository = server.create_repository("app").unwrap();
    repository
        .seed(&[("README.md", "hello\n"), ("live/a.yaml", "a: 1\n")])
        .unwrap();
    let clone = server.clone("app").unwrap();
    clone.write("live/a.yaml", "a: 2\n").unwrap();
    let commit = clone.commit("Change a").unwrap();
    clone.push().unwrap();

    assert_eq!(repository.branch("main"), Some(commit));
    assert_eq!(repository.file("main", "live/a.yaml").unwrap(), "a: 2\n");
    assert_eq!(
        repository.files("main").unwrap(),
        ["README.md", "live/a.yaml"]
    );
    assert_eq!(repository.commits("main").unwrap().len(), 2);
    clone.fsck().unwrap();
}

#[test]
fn anonymous_people_clone_and_push() {
    let server = GitServer::start().unwrap();
    push_through(&server);
    let requests = server.requests();
    assert!(
        requests
            .iter()
            .all(|request| !request.authorized && request.status == 200)
    );
    assert!(
        requests
            .iter()
            .any(|request| request.path == "/app.git/git-receive-pack")
    );
}

#[test]
fn a_name_and_a_password_open_the_door() {
    let server = GitServer::builder()
        .access(Access::basic("git", "s3cret"))
        .start()
        .unwrap();
    push_through(&server);
    let requests = server.requests();
    assert_eq!(requests[0].status, 401);
    assert!(
        requests
            .iter()
            .any(|request| request.authorized && request.status == 200)
    );
}

#[test]
fn a_token_opens_the_door() {
    let server = GitServer::builder()
        .access(Access::bearer("t0ken"))
        .start()
        .unwrap();
    push_through(&server);
    assert!(server.requests().iter().all(|request| request.authorized));
}

#[test]
fn tls_is_spoken_with_a_private_authority() {
    let server = GitServer::builder().tls().start().unwrap();
    assert!(server.url("app").starts_with("https://"));
    assert!(
        server
            .authority()
            .unwrap()
            .starts_with("-----BEGIN CERTIFICATE-----")
    );
    push_through(&server);
}

#[test]
fn wrong_credentials_are_refused_until_they_are_the_right_ones() {
    let server = GitServer::builder()
        .access(Access::basic("git", "right"))
        .start()
        .unwrap();
    server.create_repository("app").unwrap();
    for wrong in [
        Access::basic("git", "wrong"),
        Access::bearer("right"),
        Access::Anonymous,
    ] {
        server.clone_as("app", "Mallory", &wrong).unwrap_err();
    }
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.status == 401)
    );
    server.set_access(Access::basic("git", "wrong"));
    server
        .clone_as("app", "Alice", &Access::basic("git", "wrong"))
        .unwrap();
}

#[test]
fn a_read_only_server_lets_nobody_push() {
    let server = GitServer::start().unwrap();
    let repository = server.create_repository("app").unwrap();
    let clone = server.clone("app").unwrap();
    clone.commit("First").unwrap();
    server.set_read_only(true);
    let refusal = clone.refused(&["push", "origin", "HEAD"]).unwrap();
    assert!(refusal.contains("403"), "{refusal}");
    assert_eq!(repository.branch("main"), None);
    server.set_read_only(false);
    clone.push().unwrap();
}

#[test]
fn a_stopped_server_comes_back_at_the_same_address() {
    let server = GitServer::start().unwrap();
    let repository = server.create_repository("app").unwrap();
    let clone = server.clone("app").unwrap();
    let commit = clone.commit("First").unwrap();
    server.stop();
    let refusal = clone.refused(&["push", "origin", "HEAD"]).unwrap();
    assert!(refusal.contains("onnect"), "{refusal}");
    server.resume().unwrap();
    clone.push().unwrap();
    assert_eq!(repository.branch("main"), Some(commit));
}

#[test]
fn the_hook_refuses_and_records_what_is_no_fast_forward() {
    let server = GitServer::start().unwrap();
    let repository = server.create_repository("app").unwrap();
    repository.require_fast_forwards().unwrap();
    let first = repository.seed(&[("a", "1\n")]).unwrap();
    let clone = server.clone("app").unwrap();
    let second = clone.commit("Second").unwrap();
    clone.push().unwrap();
    clone.git(&["reset", "--quiet", "--hard", &first]).unwrap();
    let other = clone.commit("Other").unwrap();
    let refusal = clone
        .refused(&["push", "--force", "origin", "HEAD"])
        .unwrap();
    assert!(refusal.contains("only fast-forwards"), "{refusal}");
    clone
        .git(&["push", "--quiet", "origin", "HEAD:refs/heads/side"])
        .unwrap();
    clone.refused(&["push", "origin", ":side"]).unwrap();

    let updates = repository.updates().unwrap();
    let accepted: Vec<bool> = updates.iter().map(|update| update.accepted).collect();
    assert_eq!(accepted, [true, true, false, true, false]);
    assert_eq!((&updates[1].old, &updates[1].new), (&first, &second));
    assert_eq!((&updates[2].old, &updates[2].new), (&second, &other));
    assert_eq!(updates[2].reference, "refs/heads/main");
    assert_eq!(repository.branch("main"), Some(second));
}

#[test]
fn other_hooks_can_be_installed_and_removed() {
    let server = GitServer::start().unwrap();
    let repository = server.create_repository("app").unwrap();
    repository
        .install_hook("pre-receive", "#!/bin/sh\necho not today >&2\nexit 1\n")
        .unwrap();
    let clone = server.clone("app").unwrap();
    clone.commit("First").unwrap();
    let refusal = clone.refused(&["push", "origin", "HEAD"]).unwrap();
    assert!(refusal.contains("remote: not today"), "{refusal}");
    repository.remove_hook("pre-receive").unwrap();
    clone.push().unwrap();
}

#[test]
fn two_people_meet_in_a_linear_history() {
    let server = GitServer::start().unwrap();
    let repository = server.create_repository("app").unwrap();
    repository.require_fast_forwards().unwrap();
    repository.seed(&[("a", "1\n")]).unwrap();
    let alice = server.clone_as("app", "Alice", &Access::Anonymous).unwrap();
    let bob = server.clone_as("app", "Bob", &Access::Anonymous).unwrap();
    alice.write("alice", "1\n").unwrap();
    alice.commit("From Alice").unwrap();
    alice.push().unwrap();
    bob.write("bob", "1\n").unwrap();
    bob.commit("From Bob").unwrap();
    bob.pull_and_push().unwrap();
    assert_eq!(
        bob.log("%an: %s").unwrap()[..2],
        ["Bob: From Bob", "Alice: From Alice"]
    );
    assert_eq!(bob.read("alice").unwrap(), "1\n");
    assert!(
        repository
            .updates()
            .unwrap()
            .iter()
            .all(|update| update.accepted)
    );
}

#[test]
fn repositories_of_both_formats_are_served_side_by_side() {
    let server = GitServer::start().unwrap();
    for (name, format, digits) in [
        ("old", ObjectFormat::Sha1, 40),
        ("new", ObjectFormat::Sha256, 64),
    ] {
        let repository = server.create_repository_of(name, format).unwrap();
        let commit = repository.seed(&[("a", "1\n")]).unwrap();
        assert_eq!(commit.len(), digits);
        let clone = server.clone(name).unwrap();
        assert_eq!(clone.head().unwrap(), commit);
        let next = clone.commit("Next").unwrap();
        clone.push().unwrap();
        assert_eq!(repository.branch("main"), Some(next));
    }
}
