//! What keeps a sensitive object from being sealed.

use model::{IssueKind, RefusalCode};
use sealing::NewIdentity;

use crate::row::Row;
use crate::support::{Bed, encryption};

const FILE: &str = "apps/demo/secrets/login.sops.yaml";
const KEPT: &str = "age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa";

fn login(password: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: login\n  namespace: demo\ndata:\n  password: {password}\n"
    )
}

pub(crate) fn rows() -> Vec<Row> {
    let parts = [keys(), configurations(), files(), kinds()];
    parts.into_iter().flatten().collect()
}

fn unsealed(reason: &str) -> Row {
    let code = RefusalCode::EncryptionNotConfigured;
    Row::object(code, IssueKind::PlaintextSensitive, reason).live([&login("cGxhaW4=")])
}

fn with_key(bed: &mut Bed) {
    bed.encryption = Some(encryption(&NewIdentity::generate()));
}

fn keys() -> Vec<Row> {
    vec![
        unsealed("no encryption and no document").mended(with_key),
        unsealed("no encryption and an encrypted document")
            .given(|bed| {
                sealed_before(bed);
                bed.encryption = None;
            })
            .at(FILE)
            .line("apiVersion")
            .mended(with_key),
        unsealed("encryption without a recipient")
            .given(|bed| bed.encryption = Some(manifests::Encryption::default()))
            .mended(with_key),
    ]
}

/// Cases of a `.sops.yaml` that cannot be followed; the twin names the target's own recipient.
fn configurations() -> Vec<Row> {
    let cases: [(&str, &str); 6] = [
        (
            "a configuration of SOPS that is no YAML",
            "creation_rules: [\n",
        ),
        (
            "a configuration of SOPS of another form",
            "creation_rules:\n  - age: {}\n",
        ),
        (
            "a rule for another keeper of keys",
            "creation_rules:\n  - pgp: AB12\n",
        ),
        (
            "a rule that splits the key",
            "creation_rules:\n  - shamir_threshold: 2\n    key_groups:\n      - age: [KEPT]\n      - age: [KEPT]\n",
        ),
        (
            "a rule with a recipient of another kind",
            "creation_rules:\n  - age: ssh-ed25519 AAAA\n",
        ),
        (
            "a rule without a recipient of the target",
            "creation_rules:\n  - age: KEPT\n",
        ),
    ];
    cases
        .into_iter()
        .map(|(reason, text)| {
            unsealed(reason)
                .given(move |bed| {
                    with_key(bed);
                    bed.put(".sops.yaml", &text.replace("KEPT", KEPT));
                })
                .at(".sops.yaml")
                .mended(|bed| {
                    let recipients = &bed.encryption.as_ref().unwrap().recipients;
                    let ours = recipients.first().unwrap().to_string();
                    bed.put(
                        ".sops.yaml",
                        &format!("creation_rules:\n  - age: {ours},{KEPT}\n"),
                    );
                })
        })
        .collect()
}

/// Writes the file as it was before the object changed, with a key that is kept.
fn sealed_before(bed: &mut Bed) {
    with_key(bed);
    bed.mirror(&login("b2xk"));
}

fn written_otherwise(from: &'static str, to: &'static str) -> impl Fn(&mut Bed) {
    move |bed| {
        sealed_before(bed);
        let text = bed.text(FILE).to_owned();
        assert!(text.contains(from), "{from}");
        bed.put(FILE, &text.replacen(from, to, 1));
    }
}

/// Cases of an encrypted file that cannot be kept; the twin is the file as sops leaves it.
fn files() -> Vec<Row> {
    let cases: [(&str, &str, &str); 13] = [
        (
            "a file for another keeper of keys",
            "sops:\n",
            "sops:\n  pgp:\n    - fp: AB\n      enc: x\n",
        ),
        (
            "a file whose key is split",
            "sops:\n",
            "sops:\n  shamir_threshold: 2\n",
        ),
        ("a file without a date", "  lastmodified:", "  last:"),
        (
            "a file whose rule leaves values clear",
            "encrypted_regex: ^(data|stringData)$",
            "encrypted_regex: ^none$",
        ),
        (
            "a file whose rule hides the identity",
            "encrypted_regex: ^(data|stringData)$",
            "encrypted_regex: .*",
        ),
        (
            "a file with two rules",
            "  encrypted_regex:",
            "  encrypted_suffix: x\n  encrypted_regex:",
        ),
        (
            "a file whose values were changed without sops",
            "name: login\n",
            "name: login\n  labels: {a: b}\n",
        ),
        (
            "a file with a value in clear that must not be",
            "password: ENC[",
            "other: clear\n  password: ENC[",
        ),
        (
            "a file whose rule is no expression",
            "encrypted_regex: ^(data|stringData)$",
            "encrypted_regex: \"(\"",
        ),
        (
            "a file whose rule goes by comments",
            "encrypted_regex: ^(data|stringData)$",
            "encrypted_comment_regex: secret",
        ),
        (
            "a file with a damaged value",
            "password: ENC[AES256_GCM,data:",
            "password: ENC[AES256_GCM,data:AAAA",
        ),
        (
            "a file with a damaged key",
            "-----BEGIN AGE",
            "-----BEGIN AGX",
        ),
        (
            "a file with an anchor",
            "kind: Secret",
            "kind: &kind Secret",
        ),
    ];
    let mut rows: Vec<Row> = cases
        .into_iter()
        .map(|(reason, from, to)| {
            unsealed(reason)
                .given(written_otherwise(from, to))
                .at(FILE)
                .line("apiVersion")
                .mended(sealed_anew)
        })
        .collect();
    rows.extend([mixed(), several(), stranger()]);
    rows
}

fn several() -> Row {
    unsealed("a file with two encrypted documents")
        .given(|bed| {
            sealed_before(bed);
            let text = bed.text(FILE).to_owned();
            bed.put(
                FILE,
                &format!("{text}---\n{}", text.replace("login", "other")),
            );
        })
        .at(FILE)
        .line("apiVersion")
        .mended(sealed_anew)
}

fn stranger() -> Row {
    unsealed("a file for somebody whom we cannot encrypt for, and no private key")
        .given(|bed| {
            written_otherwise("recipient: age1", "recipient: age1yubikey1")(bed);
            let known = bed.encryption.as_mut().unwrap();
            known.identities = std::sync::Arc::default();
        })
        .at(FILE)
        .line("apiVersion")
        .mended(sealed_anew)
}

fn mixed() -> Row {
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: conf\n  namespace: demo\ndata:\n  a: one\n";
    Row::object(
        RefusalCode::WriteBoundaryRefused,
        IssueKind::NonEditableDocument,
        "a plain document in a file with an encrypted one",
    )
    .given(move |bed| {
        sealed_before(bed);
        let text = bed.text(FILE).replace("apiVersion: v1", "apiVersion: 'v1'");
        bed.put(FILE, &format!("{text}---\n{plain}"));
    })
    .at(FILE)
    .line("apiVersion: v1")
    .mended(move |bed| {
        sealed_anew(bed);
        bed.put("apps/conf.yaml", plain);
    })
}

/// Writes the file as sops leaves it.
fn sealed_anew(bed: &mut Bed) {
    bed.remove(FILE);
    sealed_before(bed);
}

fn kinds() -> Vec<Row> {
    let tenant = |more: &str| {
        format!(
            "apiVersion: core.cozystack.io/v1\nkind: TenantSecret\nmetadata:\n  name: t\n  namespace: demo\n{more}"
        )
    };
    let listed = |bed: &mut Bed| {
        *bed = Bed::with_sensitive(&["core.cozystack.io/tenantsecrets"]);
        with_key(bed);
    };
    let unlisted = |bed: &mut Bed| {
        let files = bed.files.clone();
        *bed = Bed::new();
        bed.files = files;
    };
    let data = tenant("data:\n  p: cGxhaW4=\n");
    let before = tenant("data:\n  p: b2xk\n");
    vec![
        unsealed("a sensitive kind with a field that hides which object it is")
            .live([&tenant("labels: {p: cGxhaW4=}\n")])
            .given(listed)
            .mended(unlisted),
        unsealed("a sensitive kind with a field where sops keeps its own data")
            .live([&tenant("sops: {p: cGxhaW4=}\n")])
            .given(listed)
            .mended(unlisted),
        unsealed("a number that SOPS cannot hold")
            .live([&tenant("data:\n  p: 18446744073709551615\n")])
            .given(listed)
            .mended(unlisted),
        Row::object(
            RefusalCode::EncryptionNotConfigured,
            IssueKind::NonEditableDocument,
            "an encrypted document of a kind that is not sensitive",
        )
        .live([&data])
        .given(move |bed| {
            listed(bed);
            bed.mirror(&before);
            let (files, encryption) = (bed.files.clone(), bed.encryption.clone());
            *bed = Bed::new();
            bed.files = files;
            bed.encryption = encryption;
        })
        .at("apps/demo/core.cozystack.io/tenantsecrets/t.sops.yaml")
        .line("apiVersion")
        .mended(move |bed| {
            let (files, encryption) = (bed.files.clone(), bed.encryption.clone());
            listed(bed);
            bed.files = files;
            bed.encryption = encryption;
        }),
    ]
}
