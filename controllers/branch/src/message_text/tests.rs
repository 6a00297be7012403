use std::sync::Arc;

use model::sanitize::sanitize;
use model::{
    Change, Collection, Identity, LiveObject, Namespace, Operation, ResourceId, Scope, Selector,
    ServedType, TargetKey, TypeId,
};
use serde_json::json;

use super::*;

fn name(text: &str) -> ObjectName {
    ObjectName::new(text).unwrap()
}

fn namespace() -> Namespace {
    Namespace::new("team-a").unwrap()
}

fn served(resource: &str, kind: &str) -> Arc<ServedType> {
    Arc::new(ServedType {
        type_id: TypeId::new("", resource),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespaced: true,
        sensitive: kind == "Secret",
    })
}

fn delivery(change: Change) -> Delivery {
    Delivery {
        target: TargetKey::new(namespace(), name("shop")),
        collection: Collection {
            type_id: TypeId::new("", "configmaps"),
            scope: Scope::AllNamespaces,
            selector: Selector::everything(),
        },
        change,
        author: alice(),
    }
}

fn alice() -> Author {
    Author::Actor(Identity {
        username: "alice".to_owned(),
        display_name: Some("Alice Smith".to_owned()),
        email: None,
    })
}

fn upsert(object: &str, kind: &str, labels: serde_json::Value, operation: Operation) -> Delivery {
    let resource = format!("{}s", kind.to_lowercase());
    let value = json!({
        "apiVersion": "v1", "kind": kind, "data": {"a": "b"},
        "metadata": {
            "name": object, "namespace": "team-a", "resourceVersion": "7", "generation": 3,
            "labels": labels,
        },
    });
    let live = LiveObject {
        served: served(&resource, kind),
        value: value.as_object().unwrap().clone(),
    };
    let object = Arc::new(sanitize(&live).unwrap());
    delivery(Change::Upsert { object, operation })
}

fn removal(object: &str) -> Delivery {
    delivery(Change::Remove {
        id: ResourceId {
            type_id: TypeId::new("", "services"),
            namespace: Some(namespace()),
            name: name(object),
        },
        served: served("services", "Service"),
        resource_version: "8".to_owned(),
    })
}

/// Two changed objects and a removed one.
fn window() -> Vec<Delivery> {
    vec![
        upsert(
            "one",
            "ConfigMap",
            json!({"team": "red"}),
            Operation::Create,
        ),
        upsert(
            "two",
            "ConfigMap",
            json!({"team": "blue"}),
            Operation::Update,
        ),
        removal("web"),
    ]
}

fn wording(live: &str) -> Wording {
    let sources = Sources {
        live: Some(live.to_owned()),
        ..Sources::default()
    };
    Wording::read(&sources).unwrap_or_else(|problems| panic!("{live}: {problems:?}"))
}

fn word(wording: &Wording, entries: &[Delivery]) -> Message {
    wording.live(LiveCommit {
        author: &alice(),
        target: &name("shop"),
        entries: &entries.iter().collect::<Vec<_>>(),
    })
}

fn snapshot(resource_version: &str, scope: Scope) -> Snapshot {
    Snapshot {
        target: TargetKey::new(namespace(), name("shop")),
        collection: Collection {
            type_id: TypeId::new("", "configmaps"),
            scope,
            selector: Selector::everything(),
        },
        served: served("configmaps", "ConfigMap"),
        objects: Vec::new(),
        protected: Vec::new(),
        resource_version: resource_version.to_owned(),
    }
}

/// The built-in wording of a window, as the guide prints it.
const LIVE: &str = "\
chore: sync {{.Count}} resource{{if ne .Count 1}}s{{end}}
{{range .Resources}}
- [{{.Operation}}] {{.APIVersion}}/{{.Resource}}/{{.Namespace}}/{{.Name}}{{end}}";
/// The built-in wording of a snapshot, as the guide prints it.
const RECONCILE: &str = "\
chore: reconcile {{.Count}} {{or .Resource \"resources\"}}\
{{with .Namespace}} in {{.}}{{end}}\
{{with .ResourceVersion}} (last resourceVersion: {{.}}){{end}}";

#[test]
fn d12_the_built_in_wording_is_what_its_templates_print() {
    for entries in [window(), window()[..1].to_vec()] {
        let built_in = word(&Wording::default(), &entries);
        assert_eq!(word(&wording(LIVE), &entries), built_in);
    }
    let sources = Sources {
        reconcile: Some(RECONCILE.to_owned()),
        ..Sources::default()
    };
    let own = Wording::read(&sources).unwrap();
    for snapshot in [
        snapshot("9", Scope::Namespace(namespace())),
        snapshot("", Scope::AllNamespaces),
    ] {
        let commit = ReconcileCommit {
            target: &name("shop"),
            snapshot: &snapshot,
            changed: 2,
        };
        assert_eq!(own.reconcile(commit), Wording::default().reconcile(commit));
    }
}

#[test]
fn d12_the_example_of_the_guide_prints_what_the_guide_shows() {
    let template = "{{.GitTarget}}: {{.Count}} change{{if ne .Count 1}}s{{end}}{{with .Author}} by {{.}}{{end}}\n\
        {{range .Resources}}\n\
        {{.Operation}} {{.Kind}} {{.Namespace}}/{{.Name}}{{with .Label \"team\"}} of team {{.}}{{end}}{{end}}\n";
    let team = json!({"team": "red"});
    let entries = [
        upsert("settings", "ConfigMap", team, Operation::Create),
        upsert("prices", "ConfigMap", json!({}), Operation::Update),
    ];
    let expected = "shop: 2 changes by alice\n\nCREATE ConfigMap team-a/settings of team red\n\
                    UPDATE ConfigMap team-a/prices";
    assert_eq!(word(&wording(template), &entries).text, expected);
}

#[test]
fn d12_every_field_and_method_says_what_the_guide_says() {
    let entries = window();
    for (template, expected) in [
        ("by {{.Author}}", "by alice"),
        ("{{.GitTarget}} {{.Count}}", "shop 3"),
        ("{{.Operations}}", "map[CREATE:1 DELETE:1 UPDATE:1]"),
        ("{{index .Operations \"CREATE\"}}", "1"),
        ("{{.LabelValues \"team\"}}", "[blue red]"),
        ("-{{.LabelValue \"team\"}}-", "--"),
        ("-{{.RequestMessage}}-", "--"),
        ("{{(index .Resources 0).Kind}}", "ConfigMap"),
        (
            "{{range .Resources}}{{.}} {{end}}",
            "v1/configmaps/team-a/one v1/configmaps/team-a/two v1/services/team-a/web ",
        ),
        (
            "{{range .Resources}}{{.Kind}}{{.Generation}},{{end}}",
            "ConfigMap3,ConfigMap3,0,",
        ),
        (
            "{{range .Resources}}{{.ResourceVersion}}{{.Label \"team\"}},{{end}}",
            "7red,7blue,8,",
        ),
        (
            "{{range .Resources}}{{.Labels}}{{end}}",
            "map[team:red]map[team:blue]map[]",
        ),
        (
            "{{range .Resources}}{{.Group}}{{.Version}}{{end}}",
            "v1v1v1",
        ),
    ] {
        let message = word(&wording(template), &entries);
        assert_eq!(
            (message.text.as_str(), message.fell_back),
            (expected, None),
            "{template}"
        );
    }
    let agreed = [
        upsert(
            "one",
            "ConfigMap",
            json!({"team": "red"}),
            Operation::Update,
        ),
        upsert(
            "two",
            "ConfigMap",
            json!({"team": "red"}),
            Operation::Update,
        ),
    ];
    assert_eq!(
        word(&wording("of {{.LabelValue \"team\"}}"), &agreed).text,
        "of red"
    );
}

#[test]
fn d12_space_around_a_template_does_not_count_and_a_blank_one_is_none() {
    assert_eq!(word(&wording("\n  x {{.Count}} \n"), &window()).text, "x 3");
    assert_eq!(
        word(&wording(" \n"), &window()),
        word(&Wording::default(), &window())
    );
}

#[test]
fn d12_what_cannot_be_used_is_refused_with_its_name_and_place() {
    for (template, said) in [
        (
            "{{html .Author}}",
            "line 1, column 3: the function html is not supported",
        ),
        (
            "a\n{{define \"x\"}}{{end}}",
            "line 2, column 3: the keyword define is not supported",
        ),
        (
            "{{range .Resources}}{{break}}{{end}}",
            "the keyword break is not supported",
        ),
        (
            "{{.Revision}}",
            "a commit has no field Revision (tried on one new object)",
        ),
        ("{{if .Count}}", "the control has no end"),
        ("{{.Count", "the action is not closed by }}"),
        (
            "{{range .Resources}}{{.Labels.team}}{{end}}",
            "the map has no entry team",
        ),
        ("{{printf \"%x\" .Count}}", "printf does not support %x"),
        ("{{1.5}}", "only whole decimal numbers"),
        ("{{.}}", "a commit cannot be printed as a whole"),
        ("{{$x}}", "the variable $x is not defined here"),
        (
            "{{if eq .Count 1}}one{{end}}",
            "prints nothing for several objects",
        ),
    ] {
        let sources = Sources {
            live: Some(template.to_owned()),
            ..Sources::default()
        };
        let problems = Wording::read(&sources).unwrap_err();
        let text = problems[0].to_string();
        assert!(
            text.starts_with("spec.commit.message.liveTemplate"),
            "{text}"
        );
        assert!(text.contains(said), "{template}: {text}");
    }
}

#[test]
fn d12_a_request_template_prints_the_message_of_the_request() {
    let read = |request: &str| {
        Wording::read(&Sources {
            request: Some(request.to_owned()),
            ..Sources::default()
        })
    };
    assert!(read("{{.RequestMessage}}\n\n{{.Count}} by {{.Author}}").is_ok());
    for left_out in ["saved", "{{if eq .Count 1}}{{.RequestMessage}}{{end}}x"] {
        let problems = read(left_out).unwrap_err();
        assert!(
            problems[0].to_string().contains("{{.RequestMessage}}"),
            "{problems:?}"
        );
    }
}

#[test]
fn d12_a_template_that_fails_on_a_commit_gives_way_to_the_built_in_wording() {
    let rare = wording("x{{if gt .Count 4}}{{.Nothing}}{{end}}");
    assert_eq!(word(&rare, &window()).text, "x");
    let many: Vec<_> = [window(), window()].concat();
    let message = word(&rare, &many);
    assert_eq!(message.text, word(&Wording::default(), &many).text);
    assert!(message.fell_back.unwrap().contains("no field Nothing"));
    let silent = wording("{{if lt .Count 5}}x{{end}}");
    assert!(
        word(&silent, &many)
            .fell_back
            .unwrap()
            .contains("prints nothing")
    );
}

#[test]
fn d12_nobody_known_is_an_empty_author() {
    let wording = wording("by <{{.Author}}>");
    for author in [Author::Operator, Author::Unresolved] {
        let message = wording.live(LiveCommit {
            author: &author,
            target: &name("shop"),
            entries: &[&removal("web")],
        });
        assert_eq!(message.text, "by <>");
    }
}

#[test]
fn d22_labels_that_are_encrypted_in_a_file_are_not_in_a_message() {
    let labels = json!({"data": "hunter2", "team": "red"});
    let secret = [upsert("db", "Secret", labels, Operation::Update)];
    let text = word(&wording("{{range .Resources}}{{.Labels}}{{end}}"), &secret).text;
    assert_eq!(text, "map[team:red]");
}

#[test]
fn a_template_ends_whatever_it_is_asked_to_do() {
    let many: Vec<_> = (0..400).map(|at| removal(&format!("n{at}"))).collect();
    let slow =
        "{{range .Resources}}{{range $.Resources}}{{range $.Resources}}{{end}}{{end}}{{end}}x";
    let long = "{{range .Resources}}{{range $.Resources}}{{printf \"%900d\" 1}}{{end}}{{end}}";
    let labels =
        "{{range .Resources}}{{range $.Resources}}{{with $.Resources}}{{end}}{{end}}{{end}}x";
    for (template, said) in [(slow, "steps"), (long, "longer than"), (labels, "steps")] {
        let why = word(&wording(template), &many).fell_back.unwrap();
        assert!(why.contains(said), "{why}");
    }
    // Refused before it is used: the examples are enough to see it.
    let doubled = format!(
        "{{{{$x := \"aaaaaaaaaa\"}}}}{}x",
        "{{$x = print $x $x}}".repeat(40)
    );
    let sources = Sources {
        live: Some(doubled),
        ..Sources::default()
    };
    let problems = format!("{:?}", Wording::read(&sources).unwrap_err());
    assert!(problems.contains("bytes of text"), "{problems}");
    let deep = format!("{}1{}", "(".repeat(200), ")".repeat(200));
    let problem = Template::read(&format!("{{{{{deep}}}}}")).unwrap_err();
    assert!(problem.to_string().contains("nesting deeper"), "{problem}");
}

#[test]
fn settings_of_a_target_read_back_from_a_record() {
    let wording = wording("x {{.Count}}");
    let text = serde_json::to_string(&wording).unwrap();
    assert_eq!(serde_json::from_str::<Wording>(&text).unwrap(), wording);
}
