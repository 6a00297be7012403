use std::sync::Arc;

use model::{DesiredObject, FilesInMemory, RefusalCode, Sensitivity};
use serde_json::json;

use super::super::tests::{
    committed, config_map, document, files, line_with, object, plan, policy, upsert,
};
use super::*;
use crate::plan::{FileContent, Intent, Mode};
use crate::preview;

/// What an explanation says, in words.
struct Told {
    supplier: String,
    differences: Vec<String>,
    action: String,
    diff: String,
    setting: Option<(String, Option<String>)>,
    /// The tree with the fix, where it changes a file.
    fixed: Option<FilesInMemory>,
}

fn told(files: &FilesInMemory, explanation: &Explanation) -> Told {
    let word = |told: &super::Told| match told {
        super::Told::Absent => "nothing".to_owned(),
        super::Told::Value(value) => value.to_string(),
        super::Told::Withheld => "(withheld)".to_owned(),
    };
    let difference = |one: &Difference| {
        format!(
            "{} at {}: {} is {}",
            one.field.as_deref().unwrap_or("-"),
            one.line.unwrap_or_default(),
            word(&one.expected),
            word(&one.live)
        )
    };
    let fix = explanation.fix.as_ref();
    let (edit, setting) = match fix.map(|fix| fix.change.clone()) {
        Some(Change::File(edit)) => (Some(edit), None),
        Some(Change::Setting { name, value }) => (None, Some((name, value))),
        None => (None, None),
    };
    Told {
        supplier: explanation
            .supplier
            .as_ref()
            .map_or_else(String::new, |supplier| {
                let kind = supplier.kind.as_str();
                format!("{kind} {}:{}", supplier.path, supplier.line)
            }),
        differences: explanation.differences.iter().map(difference).collect(),
        action: fix.map(|fix| fix.action.clone()).unwrap_or_default(),
        diff: edit.as_ref().map_or_else(String::new, |edit| {
            preview::diff_file(files.tree(), edit).unwrap()
        }),
        setting,
        fixed: edit.map(|edit| {
            let edits = vec![edit];
            committed(
                files,
                &Outcome {
                    edits,
                    ..Outcome::nothing()
                },
            )
        }),
    }
}

/// Explains the one refused object; the plan is otherwise the preview, and the fix lands the object.
fn explained(files: &FilesInMemory, wish: &Arc<DesiredObject>, policy: &Policy) -> Told {
    let wishes = [upsert(wish)];
    let mut outcome = plan(files, &wishes, policy, Mode::Explain);
    let explanations = std::mem::take(&mut outcome.explanations);
    assert_eq!(outcome, plan(files, &wishes, policy, Mode::Preview), "e6");
    assert_eq!(outcome.refusals().count(), 1);
    let told = told(files, &explanations.objects[wish.id()]);
    if let Some(fixed) = &told.fixed {
        let lands = plan(fixed, &wishes, policy, Mode::Apply);
        assert_eq!(lands.refusals().next(), None, "{}", told.diff);
    }
    told
}

/// The lines of a diff that come or go.
fn changed(diff: &str) -> Vec<&str> {
    let lines = diff.lines().skip(2);
    lines.filter(|line| line.starts_with(['-', '+'])).collect()
}

#[test]
fn e5_a_token_is_explained_with_both_values_and_the_lines_to_change() {
    let text = document(
        "app",
        "data:\n  count: \"1\"\n  host: a.${DOMAIN} # ours\n  other: x\n  zone: ${ZONE}\n",
    );
    let files = files(&[("live/x.yaml", &text)]);
    let live = json!({"host": "a.example.com", "count": "2", "other": "x"});
    let told = explained(&files, &config_map("app", live), &policy());
    let host = line_with(&text, "# ours").unwrap();
    let zone = line_with(&text, "zone").unwrap();
    assert_eq!(told.supplier, format!("document live/x.yaml:{host}"));
    assert_eq!(
        told.differences,
        [
            format!("data.host at {host}: \"a.${{DOMAIN}}\" is \"a.example.com\""),
            format!("data.zone at {zone}: \"${{ZONE}}\" is nothing"),
        ]
    );
    assert_eq!(
        told.action,
        format!("write the live value out in lines {host} and {zone} of live/x.yaml")
    );
    assert_eq!(
        changed(&told.diff),
        [
            "-  host: a.${DOMAIN} # ours",
            "+  host: a.example.com # ours",
            "-  zone: ${ZONE}"
        ]
    );
}

#[test]
fn e5_a_document_of_another_version_is_explained_with_the_line_of_its_version() {
    let old = "kind: Deployment\napiVersion: apps/v1beta2 # old\nmetadata: {name: d, namespace: team-a}\nspec: {replicas: 1}\n";
    let files = files(&[("live/d.yaml", old)]);
    let live = object(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "team-a"}, "spec": {"replicas": 2},
    }));
    let told = explained(&files, &live, &policy());
    let version = line_with(old, "# old").unwrap();
    assert_eq!(told.supplier, format!("document live/d.yaml:{version}"));
    assert_eq!(
        told.differences,
        [
            format!("apiVersion at {version}: \"apps/v1beta2\" is \"apps/v1\""),
            "spec.replicas at 4: 1 is 2".to_owned()
        ]
    );
    assert_eq!(
        changed(&told.diff),
        [
            "-apiVersion: apps/v1beta2 # old",
            "+apiVersion: apps/v1 # old"
        ]
    );
}

#[test]
fn e5_a_document_that_cannot_be_edited_is_explained_with_the_lines_in_the_way() {
    let text = document("app", "data:\n  a: \"0\"\n  b: \"1\" # kept\n  a: \"1\"\n");
    let two = format!("{}---\n{text}", document("other", ""));
    let files = files(&[("live/x.yaml", &two)]);
    let told = explained(
        &files,
        &config_map("app", json!({"a": "2", "b": "1"})),
        &policy(),
    );
    let first = line_with(&two, "a: \"0\"").unwrap();
    let counts = line_with(&two, "a: \"1\"").unwrap();
    assert_eq!(
        told.differences,
        [format!("data.a at {counts}: \"1\" is \"2\"")]
    );
    assert_eq!(told.supplier, format!("document live/x.yaml:{counts}"));
    assert_eq!(changed(&told.diff), ["-  a: \"0\""]);
    assert_eq!(
        told.action,
        format!("take out line {first} of live/x.yaml, which a later line overrides")
    );
    // What cannot be read for certain is rewritten by a person only.
    let tagged = document("app", "data:\n  a: !mine x\n");
    let files = super::super::tests::files(&[("live/x.yaml", &tagged)]);
    let told = explained(&files, &config_map("app", json!({"a": "2"})), &policy());
    assert_eq!((told.action.as_str(), told.fixed), ("", None));
    assert_eq!(told.supplier, "document live/x.yaml:7");
}

#[test]
fn e5_a_hidden_path_is_explained_with_the_pattern_that_hides_it() {
    let wish = config_map("app", json!({"a": "1"}));
    for (rules, line, change) in [
        (
            "# ours\n*app.yaml\nx/\n",
            2,
            &["+!/team-a/configmaps/app.yaml"][..],
        ),
        // Nothing comes back from a folder that is hidden.
        ("# ours\nteam-a/\n", 2, &["-team-a/"][..]),
    ] {
        let files = files(&[("live/.gittargetignore", rules)]);
        let told = explained(&files, &wish, &policy());
        assert_eq!(
            told.supplier,
            format!("ignore-rule live/.gittargetignore:{line}")
        );
        assert_eq!(changed(&told.diff), change);
    }
    // What the pattern hides besides would refuse the folder.
    let files = files(&[
        ("live/.gittargetignore", "team-a/\n"),
        ("live/team-a/values.yaml", "a: 1\n"),
    ]);
    assert_eq!(explained(&files, &wish, &policy()).action, "");
}

#[test]
fn e5_nothing_of_a_sensitive_object_is_told() {
    let secret = |value: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": "s", "namespace": "team-a"}, "data": {"password": value},
        })
    };
    let text = crate::yaml::canonical(secret("b2xk").as_object().unwrap());
    let files = files(&[("live/s.yaml", &text)]);
    let told = explained(&files, &object(secret("bmV3")), &policy());
    assert_eq!(told.differences, ["- at 1: (withheld) is (withheld)"]);
    assert_eq!(
        told.setting.unwrap(),
        (
            "spec.encryption.age.enabled".to_owned(),
            Some("true".to_owned())
        )
    );
    // Nor is a fix shown in whose lines a secret of the same file stands.
    let beside = format!("{}---\n{text}", document("app", "data:\n  a: ${X}\n"));
    let files = super::super::tests::files(&[("live/s.yaml", &beside)]);
    let told = explained(&files, &config_map("app", json!({"a": "1"})), &policy());
    assert!(told.diff.contains("Content with a secret differs"));
    assert!(!told.diff.contains("b2xk"));
}

#[test]
fn e5_a_refused_placement_is_explained_with_a_template_that_has_room() {
    let mut policy = policy();
    let templates = [("v1/configmaps", "notes.md/{name}.yaml")];
    policy.placement =
        crate::Placement::read(templates, None, None, &Sensitivity::default()).unwrap();
    let files = files(&[("live/notes.md", "# notes\n")]);
    let wish = config_map("app", json!({"a": "1"}));
    let told = explained(&files, &wish, &policy);
    let (name, value) = told.setting.unwrap();
    assert_eq!(name, "spec.placement.byType[v1/configmaps]");
    let templates = [("v1/configmaps", value.as_deref().unwrap())];
    policy.placement =
        crate::Placement::read(templates, None, None, &Sensitivity::default()).unwrap();
    let lands = plan(&files, &[upsert(&wish)], &policy, Mode::Apply);
    assert_eq!(
        lands.edits[0].path.as_str(),
        "live/team-a/configmaps/app.yaml"
    );
}

#[test]
fn e5_the_issues_of_a_folder_are_explained_one_by_one() {
    let pair = format!(
        "{}---\n{}",
        document("a", "data: {k: \"1\"}\n"),
        document("b", "")
    );
    let impure = format!("{}---\n# nothing\n", document("c", ""));
    let files = files(&[
        ("live/copy.yaml", &document("b", "")),
        ("live/impure.yaml", &impure),
        ("live/pair.yaml", &pair),
        ("live/values[1].yaml", "a: 1\n"),
    ]);
    let wish = config_map("a", json!({"k": "2"}));
    let mut outcome = plan(&files, &[upsert(&wish)], &policy(), Mode::Explain);
    let explanations = std::mem::take(&mut outcome.explanations);
    assert_eq!(
        outcome,
        plan(&files, &[upsert(&wish)], &policy(), Mode::Preview)
    );
    let issues = &explanations.issues;
    assert_eq!(issues.len(), outcome.folder.issues().len());
    assert_eq!(&explanations.objects[wish.id()], &issues[0]);
    let actions: Vec<String> = issues.iter().map(|one| told(&files, one).action).collect();
    assert_eq!(
        actions,
        [
            "take the empty documents out of live/impure.yaml",
            "take out the document in line 8 of live/pair.yaml",
            "add the line /values\\[1].yaml to live/.gittargetignore",
        ]
    );
    let duplicate = told(&files, &issues[1]);
    assert_eq!(duplicate.supplier, "document live/pair.yaml:11");
    // All of them together make the folder writable.
    let mut fixed = files.clone();
    for issue in issues {
        if let Some(Change::File(FileEdit {
            path,
            content: FileContent::Plain(bytes),
            ..
        })) = issue.fix.as_ref().map(|fix| fix.change.clone())
        {
            fixed.put(&path, bytes);
        }
    }
    let (lands, again) = (
        plan(&fixed, &[upsert(&wish)], &policy(), Mode::Apply),
        plan(&fixed, &[upsert(&wish)], &policy(), Mode::Explain),
    );
    assert!(lands.folder.is_accepted() && lands == again && !lands.is_empty());
}

#[test]
fn e5_only_the_mode_that_explains_does() {
    let text = document("app", "data: {a: \"${X}\"}\n");
    let files = files(&[("live/x.yaml", &text)]);
    let wish: [Intent; 1] = [upsert(&config_map("app", json!({"a": "secret-value"})))];
    for mode in [Mode::Apply, Mode::Preview] {
        let outcome = plan(&files, &wish, &policy(), mode);
        assert_eq!(outcome.explanations, Explanations::default());
    }
    let outcome = plan(&files, &wish, &policy(), Mode::Explain);
    assert_eq!(
        outcome.refusals().next().unwrap().code,
        RefusalCode::RenderDoesNotMatchLive
    );
    // Nothing that a log may print holds a value.
    assert!(!format!("{outcome:?}").contains("secret-value"));
}
