//! What refuses the edit of one document.

use manifests::Intent;
use model::{Collection, IssueKind, Namespace, RefusalCode, RefusalScope, Scope, Selector, TypeId};

use crate::row::{CONF, Row};
use crate::support::Bed;

const FILE: &str = "apps/conf.yaml";

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = uneditable();
    rows.extend(values());
    rows
}

fn boundary(reason: impl Into<String>) -> Row {
    Row::object(
        RefusalCode::WriteBoundaryRefused,
        IssueKind::NonEditableDocument,
        reason,
    )
    .at(FILE)
}

/// The file with one part of the usual document written in another way.
fn written(part: &'static str, otherwise: &'static str) -> impl Fn(&mut Bed) {
    move |bed| {
        let text = CONF.replace("two", "one").replace(part, otherwise);
        bed.put(FILE, &text);
    }
}

/// What cannot be edited safely: the words that stand for the data, and the line that is named.
fn uneditable() -> Vec<Row> {
    let cases: [(&str, &str, &str, Option<&str>); 13] = [
        (
            "a key that stands twice",
            "  a: one\n  b: x\n  'a': three",
            "'a'",
            Some("data.a"),
        ),
        (
            "a key that is null",
            "  a: one\n  ~: x",
            "~",
            Some("data.~"),
        ),
        (
            "a key that is a list",
            "  a: one\n  [b]: x",
            "[b]",
            Some("data[\"\"]"),
        ),
        (
            "a key that is a number beyond all bounds",
            "  a: one\n  18446744073709551615: x",
            "184467",
            Some("data.18446744073709551615"),
        ),
        (
            "a key with a question mark",
            "  a: one\n  ? b\n  : x",
            "? b",
            Some("data.b"),
        ),
        (
            "an alias without an anchor",
            "  a: one\n  b: *nowhere",
            "*nowhere",
            Some("data.b"),
        ),
        (
            "a tag of somebody's own",
            "  a: one\n  b: !mine x",
            "!mine",
            Some("data.b"),
        ),
        (
            "binary content by tag",
            "  a: one\n  b: !!binary aGk=",
            "!!binary",
            Some("data.b"),
        ),
        (
            "a value that does not fit its tag",
            "  a: one\n  b: !!int 1.5",
            "!!int",
            Some("data.b"),
        ),
        (
            "an infinite number",
            "  a: one\n  b: .inf",
            ".inf",
            Some("data.b"),
        ),
        (
            "a merge of something that cannot be merged",
            "  a: one\n  <<: 1",
            "<<",
            None,
        ),
        (
            "a merge that overrides a key before it",
            "  a: &x {b: x}\n  b: x\n  <<: *x",
            "<<",
            None,
        ),
        (
            "an alias of what it stands in",
            "  a: one\n  b: &b [*b]",
            "*b",
            Some("data.b"),
        ),
    ];
    cases
        .into_iter()
        .map(|(reason, data, words, field)| {
            let row = boundary(reason)
                .given(written("  a: one", data))
                .line(words);
            let row = match field {
                Some(field) => row.field(field),
                None => row,
            };
            row.mended(written("", ""))
        })
        .collect()
}

fn values() -> Vec<Row> {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: demo}\nspec: {replicas: 2}\n";
    let web = |version: &'static str| {
        move |bed: &mut Bed| {
            let text = deployment.replace("apps/v1", version).replace('2', "1");
            bed.put(FILE, &format!("# of the shop\n{text}"));
        }
    };
    vec![
        boundary("a document in another version than the object was read in")
            .live([deployment])
            .given(web("apps/v1beta1"))
            .line("apiVersion")
            .field("apiVersion")
            .mended(web("apps/v1")),
        Row::object(
            RefusalCode::RenderDoesNotMatchLive,
            IssueKind::RenderDoesNotMatchLive,
            "a token that an applier fills in",
        )
        .at(FILE)
        .given(written("a: one", "a: ${VALUE}"))
        .line("${VALUE}")
        .field("data.a")
        .mended(written("a: one", "a: $(VALUE)")),
        Row::object(
            RefusalCode::MultipleSourceNamespaces,
            None,
            "two source namespaces for documents without one",
        )
        .scope(RefusalScope::Target)
        .also(|| Intent::Sweep {
            collection: Collection {
                type_id: TypeId::new("", "services"),
                scope: Scope::Namespace(Namespace::new("shop").unwrap()),
                selector: Selector::everything(),
            },
            objects: Vec::new(),
            protected: Vec::new(),
        })
        .given(|bed| bed.policy.serialize_namespace = Some(false))
        .mended(|bed| bed.policy.serialize_namespace = None),
    ]
}
