//! Command lines as a person or a chart writes them.

use std::time::Duration;

use super::*;
use crate::flags::attribution::Transport;
use crate::flags::value::Listen;

fn environment() -> Environment {
    Environment {
        pod_namespace: Some("gitops-reverser".to_owned()),
        ..Environment::default()
    }
}

fn read(words: &[&str]) -> Parsed {
    parse(words.iter().map(ToString::to_string), &environment())
}

fn accepted(words: &[&str]) -> (CommandLine, Vec<&'static str>) {
    match read(words) {
        Parsed::Act(line, notices) => (*line, notices.iter().map(|notice| notice.flag).collect()),
        other => panic!("{words:?} became {other:?}"),
    }
}

fn refused(words: &[&str]) -> Vec<String> {
    match read(words) {
        Parsed::Refuse(problems) => problems.iter().map(ToString::to_string).collect(),
        other => panic!("{words:?} became {other:?}"),
    }
}

#[test]
fn without_a_word_the_documented_defaults_hold_and_only_attribution_is_missed() {
    let (line, notices) = accepted(&[]);
    let flags = line.flags;
    assert_eq!(flags.git.branch_buffer_max_size.bytes(), 8 << 20);
    assert_eq!(flags.git.git_refresh_interval, Duration::from_secs(600));
    assert_eq!(
        flags.saves.commit_request_ttl,
        Duration::from_secs(48 * 3600)
    );
    assert_eq!(flags.servers.metrics_bind_address, Listen::Off);
    assert_eq!(flags.ingress.receiver_bind_address, Listen::Off);
    assert!(flags.attribution.author_attribution);
    assert_eq!(notices, ["--author-attribution"]);
}

#[test]
fn booleans_are_read_as_go_reads_them() {
    let (line, notices) = accepted(&[
        "--metrics-insecure",
        "-metrics-bind-address=:0",
        "--author-attribution=false",
        "--enable-http2=true",
        "--insecure-allow-git-http=T",
        "-redis-insecure",
        "-redis-insecure=f",
    ]);
    assert!(line.flags.servers.metrics_insecure);
    assert!(line.flags.servers.enable_http2);
    assert!(!line.flags.attribution.author_attribution);
    assert!(line.flags.git.insecure_allow_git_http);
    assert!(!line.flags.redis.redis_insecure, "the last of several wins");
    assert_eq!(notices, ["--enable-http2"]);
    // Go never takes the next word as the value of a boolean.
    assert_eq!(refused(&["--enable-http2", "false"]).len(), 1);
}

#[test]
fn a_value_may_be_the_next_word() {
    let (line, _) = accepted(&[
        "--author-attribution-transport",
        "memory",
        "-git-refresh-interval",
        "0",
    ]);
    assert_eq!(
        line.flags.attribution.author_attribution_transport,
        Transport::Memory
    );
    assert_eq!(line.flags.git.git_refresh_interval, Duration::ZERO);
}

#[test]
fn every_problem_is_told_in_one_run() {
    let problems = refused(&[
        "--author-attribution-ttl=0s",
        "--no-such-flag",
        "--redis-db",
        "minus one",
        "--git-call-timeout",
        "6m",
        "--health-probe-bind-address=8081",
        "--author-attribution-transport=carrier-pigeon",
        "--replica-count=2",
        "--in-cluster-kube-providers=a/b,*/c",
        "--zap-encoder=xml",
        "--metrics-bind-address=:8080",
        "--redis-addr=",
        "--redis-key-prefix=a b",
    ]);
    let starts = [
        "--author-attribution-ttl: \"0s\" is not allowed; allowed: a duration above zero",
        "--no-such-flag: not allowed as given; allowed: one of the names that --help lists",
        "--redis-db: \"minus one\" is not allowed",
        "--health-probe-bind-address: \"8081\" is not allowed; allowed: 0 (off), :PORT",
        "--author-attribution-transport: \"carrier-pigeon\" is not allowed; allowed: redis, memory",
        "--in-cluster-kube-providers: \"a/b,*/c\" is not allowed",
        "--zap-encoder: \"xml\" is not allowed; allowed: json, console",
        "--redis-key-prefix: \"a b\" is not allowed",
        "--metrics-bind-address: \":8080\" is not allowed",
        "--git-cycle-timeout: \"300s\" is not allowed; allowed: at least the value of --git-call-timeout",
    ];
    for start in starts {
        let found = problems.iter().any(|problem| problem.starts_with(start));
        assert!(found, "{start} is missing in {problems:#?}");
    }
    // The rule about Redis reads the transport, which could not be read, so it says nothing.
    assert_eq!(problems.len(), starts.len(), "{problems:#?}");
}

#[test]
fn rules_over_several_flags_are_checked() {
    let cases: [(&[&str], &str); 9] = [
        (&["--redis-addr="], "--redis-addr"),
        (
            &["--author-attribution-transport=memory", "--replica-count=2"],
            "--author-attribution-transport",
        ),
        (
            &["--author-attribution-max-facts=10"],
            "--author-attribution-max-facts",
        ),
        (
            &[
                "--author-attribution=false",
                "--author-attribution-audit-route-annotation-key=x/y",
            ],
            "--author-attribution-audit-route-annotation-key",
        ),
        (&["--author-attribution=true"], "--audit-cert-path"),
        (&["--metrics-bind-address=:8080"], "--metrics-bind-address"),
        (&["--api-tls-mode=secret"], "--api-tls-mode"),
        (&["--git-cycle-timeout=1m"], "--git-cycle-timeout"),
        (&["--redis-key-prefix="], "--redis-key-prefix"),
    ];
    for (words, field) in cases {
        let problems = refused(words);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(
            problems[0].starts_with(&format!("{field}:")),
            "{problems:#?}"
        );
    }
    for words in [
        &["--author-attribution=false", "--redis-addr="][..],
        &["--author-attribution-transport=memory", "--redis-addr="],
        &["--author-attribution", "--audit-insecure"],
        &["--author-attribution", "--audit-bind-address=0"],
        &["--author-attribution", "--audit-cert-path=/tls"],
        &["--metrics-bind-address=:8080", "--metrics-insecure"],
        &["--api-tls-mode=secret", "--api-bind-address=0"],
    ] {
        accepted(words);
    }
}

#[test]
fn the_operator_must_know_its_namespace() {
    for namespace in [None, Some("Not_A_Namespace")] {
        let environment = Environment {
            pod_namespace: namespace.map(str::to_owned),
            ..Environment::default()
        };
        match parse([], &environment) {
            Parsed::Refuse(problems) => {
                assert_eq!(problems.len(), 1);
                assert_eq!(problems[0].field, "POD_NAMESPACE");
            }
            other => panic!("{namespace:?} became {other:?}"),
        }
    }
}

#[test]
fn the_buffer_size_may_come_from_the_environment_and_the_flag_wins() {
    let with = |size: &str, words: &[&str]| {
        let environment = Environment {
            branch_buffer_max_size: Some(size.to_owned()),
            ..environment()
        };
        match parse(words.iter().map(ToString::to_string), &environment) {
            Parsed::Act(line, _) => Ok(line.flags.git.branch_buffer_max_size.bytes()),
            Parsed::Refuse(problems) => Err(problems[0].field.clone()),
            Parsed::Print(text) => panic!("{text}"),
        }
    };
    assert_eq!(with("1Ki", &[]), Ok(1024));
    assert_eq!(with("1Ki", &["--branch-buffer-max-size=2Ki"]), Ok(2048));
    assert_eq!(with("lots", &[]), Err("BRANCH_BUFFER_MAX_SIZE".to_owned()));
}

#[test]
fn a_flag_without_its_feature_says_so_when_it_is_set() {
    let quiet = "--author-attribution=false";
    let cases = [
        ("--redis-addr=valkey:6379", "--redis-addr"),
        ("--receiver-bind-address=:9292", "--receiver-bind-address"),
        ("--commit-request-ttl=1h", "--commit-request-ttl"),
        ("--replica-count=2", "--replica-count"),
        ("--audit-cert-path=/tls", "--audit-cert-path"),
    ];
    for (word, flag) in cases {
        assert_eq!(accepted(&[quiet, word]).1, [flag]);
    }
    for word in [
        "--redis-addr=",
        "--commit-request-ttl=48h",
        "--default-known-hosts-configmap=hosts",
        "--insecure-allow-missing-known-hosts",
        "--insecure-kubeconfig-exec",
        "--insecure-kubeconfig-tls",
    ] {
        assert!(accepted(&[quiet, word]).1.is_empty(), "{word}");
    }
}

#[test]
fn what_may_be_a_secret_is_not_repeated() {
    for words in [
        &["--redis-password=hunter2"][..],
        &["--redis-password", "hunter2"],
        &["--redis-addr=redis://u:hunter2@valkey:6379"],
    ] {
        let problems = refused(words);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(!problems[0].contains("hunter2"), "{problems:#?}");
    }
}

#[test]
fn the_help_states_the_exit_codes_and_hides_what_is_for_the_build() {
    let Parsed::Print(help) = read(&["--help"]) else {
        panic!("the help is not printed");
    };
    assert!(help.contains("Exit codes:"), "{help}");
    assert!(!help.contains("docs"), "{help}");
    assert!(
        matches!(read(&["--version"]), Parsed::Print(text) if text.starts_with("gitops-reverser "))
    );
}

#[test]
fn printing_a_page_needs_no_namespace() {
    let parsed = parse(
        ["docs".to_owned(), "flags".to_owned()],
        &Environment::default(),
    );
    assert!(matches!(parsed, Parsed::Act(line, _) if line.command.is_some()));
    assert_eq!(refused(&["docs", "poems"]).len(), 1);
    assert_eq!(refused(&["walk"]).len(), 1);
}
