//! Who gets a path that several want.

use std::collections::BTreeMap;

use model::{RefusalCode, RepoPath};

use super::*;

fn admitted(
    standing: Standing,
    objects: &[Object],
) -> (Vec<String>, BTreeMap<String, RefusalCode>) {
    let path = RepoPath::new("live/all.yaml").unwrap();
    let newcomers = objects
        .iter()
        .map(|object| (object.id.clone(), object.served.sensitive))
        .collect();
    let admission = admit(&path, standing, &newcomers);
    let admitted = admission.admitted.iter().map(|id| id.name.to_string());
    let refused = admission
        .refused
        .iter()
        .map(|(id, why)| (id.name.to_string(), why.code()));
    (admitted.collect(), refused.collect())
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn codes<const N: usize>(codes: [(&str, RefusalCode); N]) -> BTreeMap<String, RefusalCode> {
    codes.map(|(name, code)| (name.to_owned(), code)).into()
}

#[test]
fn pl_15_new_objects_share_a_new_file_in_the_order_of_their_identities() {
    let (a, b, d) = (config_map("a"), config_map("b"), deployment());
    let expected = (names(["a", "b", "api"]), codes([]));
    for objects in [[&a, &b, &d], [&d, &b, &a], [&b, &d, &a]] {
        let objects = objects.map(Clone::clone);
        assert_eq!(admitted(Standing::Nothing, &objects), expected);
    }
}

#[test]
fn pl_16_a_new_object_joins_a_file_only_without_loss() {
    let objects = [config_map("a")];
    let joins = admitted(Standing::Plain { appendable: true }, &objects);
    assert_eq!(joins, (names(["a"]), codes([])));
    let refused = admitted(Standing::Plain { appendable: false }, &objects);
    let code = RefusalCode::MultiDocumentTarget;
    assert_eq!(refused, (names([]), codes([("a", code)])));
    let refused = admitted(Standing::Blocked("it is a folder"), &objects);
    let code = RefusalCode::InvalidPath;
    assert_eq!(refused, (names([]), codes([("a", code)])));
}

#[test]
fn se_2_a_sensitive_object_never_shares_a_file() {
    let append = RefusalCode::SensitiveAppend;
    let mixed = RefusalCode::MixedSensitivityNewFile;
    let onto = RefusalCode::PlaintextOntoEncrypted;
    let (plain, s1, s2) = (config_map("a"), secret("s"), secret("t"));
    for (standing, objects, expected) in [
        (Standing::Nothing, vec![&s1], (names(["s"]), codes([]))),
        (
            Standing::Nothing,
            vec![&s2, &s1],
            (names(["s"]), codes([("t", append)])),
        ),
        (
            Standing::Nothing,
            vec![&s1, &plain],
            (names(["a"]), codes([("s", mixed)])),
        ),
        (
            Standing::Encrypted,
            vec![&plain, &s1],
            (names([]), codes([("a", onto), ("s", append)])),
        ),
        (
            Standing::Plain { appendable: true },
            vec![&s1, &plain],
            (names(["a"]), codes([("s", append)])),
        ),
    ] {
        let objects: Vec<Object> = objects.into_iter().cloned().collect();
        assert_eq!(admitted(standing, &objects), expected);
    }
    // A sensitive object that sorts first decides that the new file is an encrypted one.
    let mut first = Object::new("", "apples", "Secret", Some("team-a"), "s");
    first.served.sensitive = true;
    let objects = [first, config_map("a")];
    let expected = (names(["s"]), codes([("a", mixed)]));
    assert_eq!(admitted(Standing::Nothing, &objects), expected);
}

#[test]
fn se_2_a_plain_object_never_gets_the_name_of_an_encrypted_file() {
    let sealed = placement(&[("v1/configmaps", "{namespace}/{name}.sops.yaml")], None);
    let refused = place(&sealed, &config_map("a")).unwrap_err();
    assert_eq!(refused.code(), RefusalCode::PlaintextOntoEncrypted);
    let sealed = placement(&[("v1/secrets", "{namespace}/{name}.sops.yaml")], None);
    assert_eq!(path_of(&sealed, &secret("a")), "live/team-a/a.sops.yaml");
}

#[test]
fn pl_13_no_path_lies_below_a_new_file() {
    let newcomers: Newcomers = [
        ("x.yaml/y/a.yaml", config_map("a")),
        ("x.yaml", config_map("b")),
        ("x-y.yaml", config_map("c")),
        ("s.yaml", secret("taken")),
        ("s.yaml/d.yaml", config_map("d")),
    ]
    .into_iter()
    .map(|(path, object)| {
        let wishes = [(object.id, object.served.sensitive)].into();
        (RepoPath::new(path).unwrap(), wishes)
    })
    .collect();
    let admissions = admit_all(&newcomers, |path| match path.as_str() {
        "s.yaml" => Standing::Encrypted,
        _ => Standing::Nothing,
    });
    let refused: BTreeMap<&str, RefusalCode> = admissions
        .iter()
        .flat_map(|(path, admission)| {
            admission
                .refused
                .values()
                .map(|why| (path.as_str(), why.code()))
        })
        .collect();
    let (append, invalid) = (RefusalCode::SensitiveAppend, RefusalCode::InvalidPath);
    assert_eq!(
        refused,
        [("s.yaml", append), ("x.yaml/y/a.yaml", invalid)].into()
    );
}
