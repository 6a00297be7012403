//! The SSH server serves the same repositories, and both sides insist on the right key.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test too")]

use testkit::{GitServer, SshServer};

fn servers() -> (GitServer, SshServer) {
    let git_server = GitServer::start().unwrap();
    let ssh_server = SshServer::serving(&git_server).unwrap();
    (git_server, ssh_server)
}

#[test]
fn a_known_key_clones_and_pushes() {
    let (git_server, ssh_server) = servers();
    let repository = git_server.create_repository("app").unwrap();
    repository.require_fast_forwards().unwrap();
    repository.seed(&[("a", "1\n")]).unwrap();
    let clone = ssh_server.clone("app").unwrap();
    let commit = clone.commit("Over SSH").unwrap();
    clone.push().unwrap();
    assert_eq!(repository.branch("main"), Some(commit));
    assert_eq!(repository.updates().unwrap().len(), 2);
}

#[test]
fn an_unknown_key_is_refused_until_it_is_authorized() {
    let (git_server, ssh_server) = servers();
    git_server.create_repository("app").unwrap();
    let key = ssh_server.generate_key("stranger", "ecdsa", "").unwrap();
    let known_hosts = ssh_server.known_hosts();
    let error = ssh_server
        .clone_as("app", "Mallory", &key, &known_hosts)
        .unwrap_err();
    assert!(
        format!("{error:#}").contains("Permission denied"),
        "{error:#}"
    );
    ssh_server.authorize(std::slice::from_ref(&key)).unwrap();
    ssh_server
        .clone_as("app", "Alice", &key, &known_hosts)
        .unwrap();
}

#[test]
fn an_unknown_host_key_stops_the_client() {
    let (git_server, ssh_server) = servers();
    git_server.create_repository("app").unwrap();
    let other = SshServer::serving(&git_server).unwrap();
    let other_line = other.known_hosts();
    let (_, other_key) = other_line.split_once(' ').unwrap();
    let forged = format!("[127.0.0.1]:{} {other_key}", ssh_server.port());
    let key = ssh_server.client_key();
    let error = ssh_server
        .clone_as("app", "Alice", key, &forged)
        .unwrap_err();
    assert!(
        format!("{error:#}").contains("Host key verification failed"),
        "{error:#}"
    );
}

#[test]
fn only_git_is_served_and_only_what_exists() {
    let (_git_server, ssh_server) = servers();
    let error = ssh_server.clone("missing").unwrap_err();
    assert!(
        format!("{error:#}").contains("does not appear to be a git repository"),
        "{error:#}"
    );
}

#[test]
fn a_stopped_server_comes_back_at_the_same_address() {
    let (git_server, ssh_server) = servers();
    git_server.create_repository("app").unwrap();
    let clone = ssh_server.clone("app").unwrap();
    clone.commit("First").unwrap();
    ssh_server.stop();
    let refusal = clone.refused(&["push", "origin", "HEAD"]).unwrap();
    assert!(refusal.contains("Connection refused"), "{refusal}");
    ssh_server.resume().unwrap();
    clone.push().unwrap();
}
