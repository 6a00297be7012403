//! What holds for any template and any object.

use model::{FolderPath, ObjectName};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn any_object() -> impl Strategy<Value = Object> {
    let name = "[a-zA-Z0-9:. \\\\|*-]{1,8}"
        .prop_filter("no step", |name| ObjectName::new(name.as_str()).is_ok());
    let special =
        prop::sample::select(vec!["kustomization", "con", "x.sops", ".git", "nul.a", "."]);
    let name = prop_oneof![4 => name, 1 => special.prop_map(str::to_owned)]
        .prop_filter("a name", |name| ObjectName::new(name.as_str()).is_ok());
    let group = prop::sample::select(vec!["", "apps", "a.b", "secrets"]);
    let resource = prop::sample::select(vec!["configmaps", "secrets", "apps", "x"]);
    let namespace = prop::option::of(prop::sample::select(vec!["a", "apps", "con", "x"]));
    let label = prop::option::of("[a-z./\\\\%]{0,3}");
    (group, resource, namespace, name, label).prop_map(
        |(group, resource, namespace, name, label)| {
            // Whether a type is namespaced and sensitive belongs to the type.
            let namespace = namespace.filter(|_| resource != "x");
            let namespace = namespace.or((resource != "x").then_some("a"));
            let mut object = Object::new(group, resource, "Kind", namespace, &name);
            object.served.sensitive = resource == "secrets";
            match label {
                Some(label) => object.labeled(json!({"team": label})),
                None => object,
            }
        },
    )
}

fn any_template() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{name}",
        "{namespace}",
        "{namespace|}",
        "{group}",
        "{apiVersion}",
        "{label:team}",
        "{label:team|}",
        "{label:team|...}",
        "/",
        "/",
        ".",
        "..",
        "a",
        "-",
        "{kind}",
        "%",
    ]);
    let end = prop::sample::select(vec![".yaml", "{sensitiveSuffix}", "{name}.yml"]);
    (prop::collection::vec(piece, 0..8), end)
        .prop_map(|(pieces, end)| format!("{}{end}", pieces.concat()))
}

proptest! {
    #[test]
    fn pl_13_no_template_leaves_the_folder(template in any_template(), object in any_object()) {
        let key = TypeKey::of(&object.served).to_string();
        if let Ok(declared) = read(&[(key.as_str(), template.as_str())], None)
            && let Ok(placed) = place(&declared, &object)
        {
            prop_assert!(FolderPath::new("live").unwrap().contains(&placed.path));
            for part in placed.path.parts() {
                prop_assert!(!part.is_empty() && part != "." && part != ".." && part.len() <= 255);
            }
            let name = placed.path.file_name();
            prop_assert!(name.ends_with(".yaml") || name.ends_with(".yml"));
            prop_assert!(object.served.sensitive || !segment::is_sealed_name(name));
            prop_assert!(!segment::is_reserved(name));
        }
    }

    #[test]
    fn pl_4_two_identities_never_share_a_built_in_path(a in any_object(), b in any_object()) {
        let (first, second) = (place(&Placement::default(), &a), place(&Placement::default(), &b));
        if let (Ok(first), Ok(second)) = (first, second) {
            prop_assert_eq!(a.id == b.id, first.path == second.path);
        }
    }

    #[test]
    fn pl_7_no_text_breaks_the_parser(text in "\\PC{0,40}", odd in "[{}|/a-z:.]{0,24}") {
        let _read: Vec<_> = [Template::parse(&text), Template::parse(&odd)].into();
        let _key: Vec<_> = [TypeKey::parse(&text), TypeKey::parse(&odd)].into();
    }
}
