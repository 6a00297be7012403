use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::kustomize::node::FileId;

/// No file: everything is written as if it were plain.
struct NoTexts;

impl Texts for NoTexts {
    fn text_from(&self, _: Site) -> &[u8] {
        &[]
    }
}

/// A document and a patch, in each of which every value is spelled alike.
struct Spelled {
    document: &'static str,
    patch: &'static str,
}

impl Texts for Spelled {
    fn text_from(&self, site: Site) -> &[u8] {
        let text = if site.file == FileId(0) {
            self.document
        } else {
            self.patch
        };
        text.as_bytes()
    }
}

fn node(value: &Value, supplier: &Supplier) -> Node {
    let content = match value {
        Value::Array(items) => {
            Content::Sequence(items.iter().map(|item| node(item, supplier)).collect())
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(key, value)| (key.clone(), node(value, supplier)));
            Content::Mapping(fields.collect::<BTreeMap<_, _>>())
        }
        scalar => Content::Scalar(scalar.clone()),
    };
    Node {
        supplier: supplier.clone(),
        content,
    }
}

fn site(file: u32) -> Site {
    Site {
        file: FileId(file),
        at: 0,
    }
}

const DEPLOYMENT: (&str, &str) = ("apps/v1", "Deployment");
const WIDGET: (&str, &str) = ("example.com/v1", "Widget");

/// Merges two objects of a kind that have these fields beside what every object has.
fn merged(
    (api_version, kind): (&str, &str),
    base: Value,
    patch: Value,
    texts: &dyn Texts,
) -> Result<Node, MergeError> {
    let object = |mut fields: Value, supplier| {
        fields["apiVersion"] = api_version.into();
        fields["kind"] = kind.into();
        fields["metadata"]["name"] = "it".into();
        node(&fields, &supplier)
    };
    let mut base = object(base, Supplier::Document(site(0)));
    let patch = object(patch, Supplier::Patch(site(1)));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = GroupVersionKind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
    };
    merge(&mut base, &patch, &kind, texts).map(|_| base)
}

fn spec(kind: (&str, &str), base: Value, patch: Value) -> Result<Value, MergeError> {
    let merged = merged(
        kind,
        json!({"spec": base}),
        json!({"spec": patch}),
        &NoTexts,
    )?;
    Ok(merged.get("spec").map_or(Value::Null, Node::to_value))
}

fn pod(spec: Value) -> Value {
    json!({"template": {"spec": spec}})
}

#[test]
fn lists_of_built_in_kinds_are_merged_by_their_keys() {
    let cases = [
        // The elements of the patch come first, in its order.
        (
            json!({"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}),
            json!({"containers": [{"name": "c"}, {"name": "b", "image": "k"}]}),
            json!({"containers": [{"name": "c"}, {"name": "b", "image": "k"}, {"name": "a", "image": "i"}]}),
        ),
        // A list without keys is replaced.
        (
            json!({"tolerations": [{"key": "a"}], "hostAliases": [{"ip": "1"}]}),
            json!({"tolerations": [{"key": "b"}], "hostAliases": [{"ip": "2"}]}),
            json!({"tolerations": [{"key": "b"}], "hostAliases": [{"ip": "2"}, {"ip": "1"}]}),
        ),
        // An element can be deleted, a list cleared.
        (
            json!({"volumes": [{"name": "a"}, {"name": "b"}], "imagePullSecrets": [{"name": "s"}]}),
            json!({"volumes": [{"name": "a", "$patch": "delete"}], "imagePullSecrets": [{"$patch": "delete"}]}),
            json!({"volumes": [{"name": "b"}]}),
        ),
        (
            json!({"containers": [{"name": "a"}, {"name": "b"}]}),
            json!({"containers": [{"$patch": "replace"}, {"name": "c"}]}),
            json!({"containers": [{"name": "c"}]}),
        ),
        // Kustomize merges an element that is to be replaced back from the base.
        (
            json!({"containers": [{"name": "a", "image": "i"}]}),
            json!({"containers": [{"name": "a", "image": "j", "$patch": "replace"}]}),
            json!({"containers": [{"name": "a", "image": "i"}]}),
        ),
    ];
    for (base, patch, expected) in cases {
        let told = patch.to_string();
        let found = spec(DEPLOYMENT, pod(base), pod(patch)).unwrap();
        assert_eq!(found, pod(expected), "{told}");
    }
}

#[test]
fn a_port_without_a_protocol_wins_over_the_patched_one() {
    let ports = |ports: Value| pod(json!({"containers": [{"name": "a", "ports": ports}]}));
    let found = spec(
        DEPLOYMENT,
        ports(json!([{"containerPort": 80}])),
        ports(json!([{"containerPort": 80, "protocol": "TCP", "name": "web"}])),
    );
    assert_eq!(found.unwrap(), ports(json!([{"containerPort": 80}])));
    let found = spec(
        DEPLOYMENT,
        ports(json!([{"containerPort": 80}])),
        ports(json!([{"containerPort": 80, "name": "web"}])),
    );
    assert_eq!(
        found.unwrap(),
        ports(json!([{"containerPort": 80, "name": "web"}]))
    );
}

#[test]
fn custom_kinds_merge_mappings_and_replace_lists() {
    let found = spec(
        WIDGET,
        json!({"containers": [{"name": "a"}], "kept": {"x": 1}, "gone": 1}),
        json!({"containers": [{"name": "b"}], "kept": {"y": 2, "z": null}, "gone": null}),
    );
    let expected = json!({"containers": [{"name": "b"}], "kept": {"x": 1, "y": 2}});
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn an_object_inside_another_one_is_merged_as_what_it_says_it_is() {
    let inner = |containers: Value| {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": containers}});
        json!({"embedded": pod})
    };
    let found = spec(
        WIDGET,
        inner(json!([{"name": "a"}])),
        inner(json!([{"name": "b"}])),
    );
    assert_eq!(found.unwrap(), inner(json!([{"name": "b"}, {"name": "a"}])));
}

#[test]
fn what_a_patch_wrote_names_the_patch() {
    let base = json!({"spec": {"replicas": 1, "paused": true}, "metadata": {"labels": {"a": "b"}}});
    let patch = json!({"spec": {"replicas": 1, "minReadySeconds": 5}});
    let object = merged(DEPLOYMENT, base, patch, &NoTexts).unwrap();
    let supplier = |path: &[&str]| {
        let value = path.iter().try_fold(&object, |node, key| node.get(key));
        value.unwrap().supplier.clone()
    };
    let document = Supplier::Document(site(0));
    let of_patch = Supplier::Patch(site(1));
    assert_eq!(supplier(&["spec", "replicas"]), of_patch);
    assert_eq!(supplier(&["spec", "minReadySeconds"]), of_patch);
    assert_eq!(supplier(&["spec", "paused"]), document);
    assert_eq!(supplier(&["spec"]), document);
    for kept in [["apiVersion"].as_slice(), &["kind"], &["metadata", "name"]] {
        assert_eq!(supplier(kept), document, "{kept:?}");
    }
}

#[test]
fn an_object_keeps_what_it_is_called() {
    let base = json!({"metadata": {"namespace": "one"}});
    let patch = json!({"metadata": {"namespace": "two", "labels": {"a": "b"}}});
    let object = merged(WIDGET, base, patch.clone(), &NoTexts).unwrap();
    let expected = json!({"name": "it", "namespace": "one", "labels": {"a": "b"}});
    assert_eq!(object.get("metadata").unwrap().to_value(), expected);
    let object = merged(WIDGET, json!({}), patch, &NoTexts).unwrap();
    let expected = json!({"name": "it", "labels": {"a": "b"}});
    assert_eq!(object.get("metadata").unwrap().to_value(), expected);
}

#[test]
fn an_object_is_deleted_as_a_whole() {
    let mut base = node(&json!({"spec": 1}), &Supplier::Document(site(0)));
    let patch = node(&json!({"$patch": "delete"}), &Supplier::Patch(site(1)));
    let kind = GroupVersionKind {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
    };
    let found = merge(&mut base, &patch, &kind, &NoTexts);
    assert_eq!(found, Ok(Merged::Deleted));
}

#[test]
fn a_number_over_quoted_text_is_text() {
    let number = |texts: &dyn Texts| {
        let base = json!({"data": {"a": "80"}});
        let object = merged(("v1", "ConfigMap"), base, json!({"data": {"a": 81}}), texts);
        object.unwrap().get("data").unwrap().to_value()
    };
    let spelled = |document| {
        number(&Spelled {
            document,
            patch: "0x51}",
        })
    };
    assert_eq!(spelled("80\n"), json!({"a": 81}));
    assert_eq!(spelled("'80'\n"), json!({"a": "0x51"}));
    assert_eq!(spelled("|-\n  80\n"), json!({"a": "0x51"}));
}

#[test]
fn a_text_that_begins_with_a_tab_takes_the_place_of_no_block() {
    let merged = |document| {
        let patch = "";
        let texts = Spelled { document, patch };
        let map = |text: &str| json!({"data": {"a": text}});
        let merged = merged(("v1", "ConfigMap"), map("a\n"), map("\tb"), &texts);
        merged.map(|object| object.get("data").unwrap().to_value())
    };
    assert_eq!(merged("\"a\\n\"\n"), Ok(json!({"a": "\tb"})));
    let problem = merged("|\n  a\n").unwrap_err().problem;
    assert_eq!(problem, MergeProblem::TabFirst);
}

#[test]
fn a_null_that_is_written_as_nothing_goes_with_any_patch() {
    let nulls = |document| {
        let patch = "";
        let texts = Spelled { document, patch };
        let object = merged(WIDGET, json!({"spec": {"a": null}}), json!({}), &texts);
        object.unwrap().get("spec").unwrap().to_value()
    };
    assert_eq!(nulls("\n"), json!({}));
    assert_eq!(nulls("~\n"), json!({"a": null}));
}

#[test]
fn what_kustomize_would_write_into_the_object_is_refused() {
    let key = "$setElementOrder/containers";
    let cases = [
        (DEPLOYMENT, pod(json!({key: [{"name": "a"}]})), key),
        (
            DEPLOYMENT,
            json!({"strategy": {"$retainKeys": ["type"]}}),
            "$retainKeys",
        ),
        (
            DEPLOYMENT,
            pod(json!({"tolerations": [{"$patch": "delete"}]})),
            "$patch",
        ),
        (
            WIDGET,
            json!({"list": [{"a": 1, "$patch": "replace"}]}),
            "$patch",
        ),
    ];
    for (kind, patch, directive) in cases {
        let error = spec(kind, json!({"strategy": {}}), patch).unwrap_err();
        assert_eq!(
            error.problem,
            MergeProblem::NotHonoured(directive.to_owned())
        );
        assert_eq!(error.site, Some(site(1)));
    }
}

#[test]
fn what_cannot_be_merged_says_where() {
    let error = spec(WIDGET, json!({"a": {"b": 1}}), json!({"a": {"b": [1]}})).unwrap_err();
    assert_eq!(error.path, "spec.a.b");
    assert_eq!(
        error.to_string(),
        "the patch cannot be merged at `spec.a.b`: the object has a scalar there and the patch a list"
    );
    let error = spec(WIDGET, json!({"a": {}}), json!({"a": {"$patch": "drop"}})).unwrap_err();
    assert_eq!(
        error.problem,
        MergeProblem::UnknownDirective("drop".to_owned())
    );
    let nameless = pod(json!({"containers": [{"image": "i"}]}));
    let error = spec(DEPLOYMENT, nameless, json!({})).unwrap_err();
    assert_eq!(error.problem, MergeProblem::NoKey("name".to_owned()));
    assert_eq!(error.path, "spec.template.spec.containers");
}
