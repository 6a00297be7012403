//! Gitea takes what it should, refuses the rest in its own words, and judges signatures.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test too")]

use testkit::Gitea;

#[test]
#[ignore = "takes minutes when Gitea has to be built"]
fn gitea_takes_pushes_both_ways_and_says_why_it_refuses_one() {
    let gitea = Gitea::start().unwrap();
    let maria = gitea.create_account("maria").unwrap();
    gitea.create_repository("app", &maria).unwrap();
    let clone = gitea.clone("app", &maria).unwrap();
    let first = clone.commit("The first of the branch").unwrap();
    clone.push().unwrap();
    let repository = gitea.repository("app").unwrap();
    assert_eq!(repository.branch("main"), Some(first));

    let key = gitea.generate_key("deploy").unwrap();
    let number = gitea.add_deploy_key("app", key.public(), false).unwrap();
    let over_ssh = gitea.clone_over_ssh("app", &key).unwrap();
    let second = over_ssh.commit("Over SSH").unwrap();
    let words = over_ssh.refused(&["push", "origin", "HEAD"]).unwrap();
    assert!(words.contains("is not authorized to write"), "{words}");
    gitea.remove_deploy_key("app", number).unwrap();
    gitea.add_deploy_key("app", key.public(), true).unwrap();

    gitea.protect_branch("app", "main").unwrap();
    let words = over_ssh.refused(&["push", "origin", "HEAD"]).unwrap();
    assert!(
        words.contains("Not allowed to push to protected branch main"),
        "{words}"
    );
    gitea.unprotect_branch("app", "main").unwrap();
    over_ssh.push().unwrap();
    assert_eq!(repository.branch("main"), Some(second.clone()));
    let said = gitea.verification("app", &second).unwrap();
    assert!(!said.verified, "{said:?}");
}
