//! Who is believed, and who is not.

use std::time::Duration;

use aggregation::TrustConfig;
use aggregation::UserInfo;
use aggregation::authenticate::{
    Authentication, CredentialError, Presented, authenticate, strip_identity,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use rustls_pki_types::{CertificateDer, UnixTime};

use crate::authority::{Authority, Identity, trust, trust_data};

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_bytes(value.as_bytes()).unwrap(),
        );
    }
    headers
}

fn ask(
    who: Option<&Identity>,
    sent: &[(&str, &str)],
    trust: Option<&TrustConfig>,
) -> Authentication {
    let sent = headers(sent);
    let chain = who
        .map(|identity| identity.chain.as_slice())
        .unwrap_or_default();
    authenticate(
        Presented {
            chain,
            headers: &sent,
        },
        trust,
        true,
        UnixTime::now(),
    )
}

fn user(authentication: Authentication) -> UserInfo {
    match authentication {
        Authentication::Identified(user) => user,
        other => panic!("nobody was identified: {other:?}"),
    }
}

fn refused(authentication: &Authentication) -> bool {
    matches!(authentication, Authentication::Refused(_))
}

const JANE: &[(&str, &str)] = &[("X-Remote-User", "jane"), ("X-Remote-Group", "dev")];

#[test]
fn the_front_proxy_says_who_asks() {
    let front = Authority::new("front-proxy-ca");
    let trust = trust(&[&front], None);
    let proxy = front.client("front-proxy-client", &[]);
    let sent = [
        ("X-Remote-User", ""),
        ("X-Second-User", "jürgen"),
        ("X-Remote-Group", "dev"),
        ("X-Remote-Group", "ops"),
        ("X-Remote-Uid", "42"),
        ("X-Remote-Extra-Example.test%2FTeam", "red"),
        ("X-Remote-Extra-Example.test%2fteam", "blue"),
    ];
    let found = user(ask(Some(&proxy), &sent, Some(&trust)));
    assert_eq!(found.name, "jürgen");
    assert_eq!(found.uid.as_deref(), Some("42"));
    assert_eq!(found.groups, ["dev", "ops", "system:authenticated"]);
    assert_eq!(found.extra["example.test/team"], ["red", "blue"]);
}

#[test]
fn the_clusters_own_components_come_without_groups() {
    let front = Authority::new("front-proxy-ca");
    let trust = trust(&[&front], None);
    let proxy = front.client("front-proxy-client", &[]);
    let found = user(ask(
        Some(&proxy),
        &[("X-Remote-User", "system:aggregator")],
        Some(&trust),
    ));
    assert_eq!(found.groups, ["system:authenticated"]);
    let anonymous = [
        ("X-Remote-User", "system:anonymous"),
        ("X-Remote-Group", "system:unauthenticated"),
    ];
    let found = user(ask(Some(&proxy), &anonymous, Some(&trust)));
    assert_eq!(found.groups, ["system:unauthenticated"]);
}

#[test]
fn forged_headers_are_never_believed() {
    let (front, clients, evil) = (
        Authority::new("front-proxy-ca"),
        Authority::new("client-ca"),
        Authority::new("evil"),
    );
    let trust = trust(&[&front], Some(&clients));
    assert_eq!(ask(None, JANE, Some(&trust)), Authentication::Anonymous);
    assert!(refused(&ask(
        Some(&front.client("somebody", &[])),
        JANE,
        Some(&trust)
    )));
    assert!(refused(&ask(
        Some(&front.client("", &[])),
        JANE,
        Some(&trust)
    )));
    assert!(refused(&ask(
        Some(&evil.client("front-proxy-client", &[])),
        JANE,
        Some(&trust)
    )));
    assert!(refused(&ask(
        Some(&front.server("front-proxy-client")),
        JANE,
        Some(&trust)
    )));
    let bob = user(ask(
        Some(&clients.client("bob", &["ops"])),
        JANE,
        Some(&trust),
    ));
    assert_eq!(
        (bob.name.as_str(), bob.groups.as_slice()),
        (
            "bob",
            &["ops".to_owned(), "system:authenticated".to_owned()][..]
        )
    );
    let credential = &bob.extra["authentication.kubernetes.io/credential-id"][0];
    assert!(
        credential.starts_with("X509SHA256=") && credential.len() == 75,
        "{credential}"
    );
}

#[test]
fn a_proxy_that_names_nobody_is_nobody() {
    let front = Authority::new("front-proxy-ca");
    let trust = trust(&[&front], None);
    let proxy = front.client("front-proxy-client", &[]);
    for sent in [
        &[][..],
        &[("X-Remote-User", "")],
        &[("X-Remote-Group", "system:masters")],
    ] {
        assert!(refused(&ask(Some(&proxy), sent, Some(&trust))), "{sent:?}");
    }
}

#[test]
fn an_empty_list_of_names_allows_any_certificate_of_the_authority_and_no_other() {
    let (front, evil) = (Authority::new("front-proxy-ca"), Authority::new("evil"));
    let mut data = trust_data(&[&front], None);
    data.insert("requestheader-allowed-names".to_owned(), "[]".to_owned());
    let trust = TrustConfig::parse(&data).unwrap();
    assert_eq!(
        user(ask(Some(&front.client("any", &[])), JANE, Some(&trust))).name,
        "jane"
    );
    assert!(refused(&ask(
        Some(&evil.client("any", &[])),
        JANE,
        Some(&trust)
    )));
    assert_eq!(ask(None, JANE, Some(&trust)), Authentication::Anonymous);
}

#[test]
fn while_authorities_are_replaced_both_are_believed() {
    let (old, new) = (
        Authority::new("front-proxy-ca"),
        Authority::new("front-proxy-ca"),
    );
    let (old_proxy, new_proxy) = (
        old.client("front-proxy-client", &[]),
        new.client("front-proxy-client", &[]),
    );
    let believed = |authorities: &[&Authority], proxy: &Identity| {
        !refused(&ask(Some(proxy), JANE, Some(&trust(authorities, None))))
    };
    assert!(believed(&[&old], &old_proxy) && !believed(&[&old], &new_proxy));
    assert!(believed(&[&old, &new], &old_proxy) && believed(&[&old, &new], &new_proxy));
    assert!(believed(&[&new], &new_proxy) && !believed(&[&new], &old_proxy));
}

#[test]
fn nothing_is_believed_before_the_configuration_was_read() {
    let front = Authority::new("front-proxy-ca");
    let proxy = front.client("front-proxy-client", &[]);
    let found = ask(Some(&proxy), JANE, None);
    assert_eq!(
        found,
        Authentication::Refused(vec![CredentialError::NoIdentity])
    );
}

#[test]
fn a_uid_header_counts_only_if_it_is_named() {
    let front = Authority::new("front-proxy-ca");
    let mut data = trust_data(&[&front], None);
    data.remove("requestheader-uid-headers");
    let trust = TrustConfig::parse(&data).unwrap();
    let sent = [("X-Remote-User", "jane"), ("X-Remote-Uid", "42")];
    let found = user(ask(
        Some(&front.client("front-proxy-client", &[])),
        &sent,
        Some(&trust),
    ));
    assert_eq!(found.uid, None);
}

#[test]
fn expired_certificates_are_refused() {
    let front = Authority::new("front-proxy-ca");
    let trust = trust(&[&front], None);
    let proxy = front.client("front-proxy-client", &[]);
    let sent = headers(JANE);
    let far = UnixTime::since_unix_epoch(Duration::from_secs(100_000_000_000));
    let presented = Presented {
        chain: &proxy.chain,
        headers: &sent,
    };
    assert!(refused(&authenticate(presented, Some(&trust), true, far)));
}

#[test]
fn tokens_are_reviewed_and_other_schemes_refused() {
    let (front, clients) = (
        Authority::new("front-proxy-ca"),
        Authority::new("client-ca"),
    );
    let trust = trust(&[&front], Some(&clients));
    let bearer = [("Authorization", "bearer  abc ")];
    let Authentication::TokenPresented(token) = ask(None, &bearer, Some(&trust)) else {
        panic!("the token was not seen")
    };
    assert_eq!(token.expose(), "abc");
    assert!(!format!("{token:?}").contains("abc"));
    assert!(refused(&ask(
        None,
        &[("Authorization", "Basic abc")],
        Some(&trust)
    )));
    let evil = Authority::new("evil").client("x", &[]);
    let beside_a_bad_certificate = ask(Some(&evil), &bearer, Some(&trust));
    assert!(matches!(
        beside_a_bad_certificate,
        Authentication::TokenPresented(_)
    ));
}

#[test]
fn without_direct_access_only_the_front_proxy_counts() {
    let (front, clients) = (
        Authority::new("front-proxy-ca"),
        Authority::new("client-ca"),
    );
    let trust = trust(&[&front], Some(&clients));
    let sent = headers(&[("Authorization", "Bearer abc"), ("X-Remote-User", "jane")]);
    let ask = |chain: &[CertificateDer<'static>]| {
        authenticate(
            Presented {
                chain,
                headers: &sent,
            },
            Some(&trust),
            false,
            UnixTime::now(),
        )
    };
    assert!(refused(&ask(&clients.client("bob", &[]).chain[..])));
    assert!(refused(&ask(&[])));
    assert_eq!(
        user(ask(&front.client("front-proxy-client", &[]).chain[..])).name,
        "jane"
    );
}

#[test]
fn no_later_code_sees_identity_headers() {
    let front = Authority::new("front-proxy-ca");
    let mut sent = headers(&[
        ("Authorization", "Bearer abc"),
        ("X-Remote-User", "jane"),
        ("X-Second-User", "jane"),
        ("X-Remote-Group", "dev"),
        ("X-Remote-Uid", "42"),
        ("X-Remote-Extra-Team", "red"),
        ("Accept", "application/json"),
    ]);
    strip_identity(&mut sent, Some(&trust(&[&front], None)));
    assert_eq!(
        sent.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
        ["accept"]
    );
}

#[test]
fn a_configuration_that_cannot_be_used_says_which_key() {
    let front = Authority::new("front-proxy-ca");
    for (key, value) in [
        ("requestheader-client-ca-file", "no pem at all"),
        (
            "client-ca-file",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ),
        ("requestheader-username-headers", "X-Remote-User"),
        ("requestheader-group-headers", r#"["not a header"]"#),
        ("requestheader-allowed-names", "{}"),
    ] {
        let mut data = trust_data(&[&front], None);
        data.insert(key.to_owned(), value.to_owned());
        let error = TrustConfig::parse(&data).unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
    }
    let mut data = trust_data(&[&front], None);
    data.remove("requestheader-username-headers");
    assert!(TrustConfig::parse(&data).is_err());
}

#[test]
fn a_cluster_without_aggregation_or_client_authority_is_fine() {
    let config = TrustConfig::parse(&std::collections::BTreeMap::new()).unwrap();
    assert!(config.front_proxy.is_none() && config.clients.is_empty());
}
