//! Random folders with tokens, keys that stand twice and old versions: every refusal is explained, each line says its
//! field, and each fix lands its object.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail the test")]

use std::sync::Arc;

use manifests::plan::{Change, FileContent, Intent, Mode, Outcome, Policy};
use manifests::{Folder, TypeCatalog};
use model::sanitize::sanitize;
use model::{DesiredObject, FilesInMemory, FolderPath, LiveObject, RepoPath, ServedType, TypeId};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

fn served() -> ServedType {
    ServedType {
        type_id: TypeId::new("apps", "deployments"),
        version: "v1".to_owned(),
        kind: "Deployment".to_owned(),
        namespaced: true,
        sensitive: false,
    }
}

fn policy() -> Policy {
    let types = [served()];
    Policy::new(FolderPath::root(), types.iter().collect::<TypeCatalog>())
}

/// What a document says of one of its containers.
#[derive(Debug, Clone)]
struct Container {
    image: &'static str,
    arg: &'static str,
    twice: bool,
}

#[derive(Debug, Clone)]
struct Case {
    version: &'static str,
    containers: Vec<Container>,
    label: &'static str,
    flow: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let text = || prop::sample::select(vec!["a", "b", "x-${X}", "${Y}", "on", "1"]);
    let container = (text(), text(), prop::bool::weighted(0.2))
        .prop_map(|(image, arg, twice)| Container { image, arg, twice });
    (
        prop::sample::select(vec!["apps/v1", "apps/v1", "apps/v1beta2"]),
        proptest::collection::vec(container, 1..4),
        text(),
        any::<bool>(),
    )
        .prop_map(|(version, containers, label, flow)| Case {
            version,
            containers,
            label,
            flow,
        })
}

/// Writes a document in which every field has a line of its own.
fn document(name: usize, case: &Case) -> String {
    let mut text = format!(
        "# remark\napiVersion: {}\nkind: Deployment\nmetadata:\n  name: d{name}\n  namespace: team\n  labels:\n    tier: \"{}\" # of ours\nspec:\n  template:\n    spec:\n      containers:\n",
        case.version, case.label
    );
    for (index, container) in case.containers.iter().enumerate() {
        if container.twice {
            text.push_str(&format!(
                "      - name: c{index}\n        image: first\n        image: \"{}\"\n",
                container.image
            ));
        } else {
            text.push_str(&format!(
                "      - name: c{index}\n        image: \"{}\"\n",
                container.image
            ));
        }
        if case.flow {
            text.push_str(&format!(
                "        args: [\n          \"{}\"]\n",
                container.arg
            ));
        } else {
            text.push_str(&format!("        args:\n        - \"{}\"\n", container.arg));
        }
    }
    text
}

fn object(name: usize, case: &Case) -> Arc<DesiredObject> {
    let container = |(index, one): (usize, &Container)| json!({"name": format!("c{index}"), "image": one.image, "args": [one.arg]});
    let containers: Vec<Value> = case.containers.iter().enumerate().map(container).collect();
    let value = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": format!("d{name}"), "namespace": "team", "labels": {"tier": case.label}},
        "spec": {"template": {"spec": {"containers": containers}}},
    });
    let live = LiveObject {
        served: Arc::new(served()),
        value: value.as_object().unwrap().clone(),
    };
    Arc::new(sanitize(&live).unwrap())
}

fn plan(files: &FilesInMemory, intents: &[Intent], mode: Mode) -> Outcome {
    let mut folder = Folder::new(FolderPath::root());
    manifests::plan(&mut folder, files.tree(), intents, &policy(), mode, None).unwrap()
}

/// Says whether the line shows the last step of the field, or its parent where the field is not there.
fn line_shows(line: &str, field: &str, is_there: bool) -> bool {
    let step = field.rsplit('.').next().unwrap_or(field);
    let key = step.split('[').next().unwrap_or(step);
    match (is_there, step.ends_with(']')) {
        (true, false) => line.contains(&format!("{key}:")),
        (true, true) => line.contains('"') || line.contains("- name:"),
        (false, _) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn e5_e6_every_refusal_is_explained_and_its_fix_lands_the_object(
        held in proptest::collection::vec(case(), 1..4),
        wanted in proptest::collection::vec(case(), 1..4),
    ) {
        let texts: Vec<String> = held.iter().enumerate().map(|(name, case)| document(name, case)).collect();
        let path = RepoPath::new("x.yaml").unwrap();
        let text = texts.join("---\n");
        let files = FilesInMemory::from_iter([(path, text.as_bytes())]);
        let objects: Vec<_> = wanted.iter().enumerate().map(|(name, case)| object(name, case)).collect();
        let intents: Vec<Intent> = objects.iter().cloned().map(Intent::Upsert).collect();
        let mut explained = plan(&files, &intents, Mode::Explain);
        let explanations = std::mem::take(&mut explained.explanations);
        prop_assert_eq!(&explained, &plan(&files, &intents, Mode::Apply));

        let refused: Vec<_> = explained.refusals().cloned().collect();
        prop_assert_eq!(refused.len(), explanations.objects.len());
        for refusal in refused {
            let id = refusal.object.clone().unwrap();
            let explanation = &explanations.objects[&id];
            prop_assert!(!explanation.differences.is_empty());
            let lines: Vec<&str> = text.lines().collect();
            for one in &explanation.differences {
                let line = lines[usize::try_from(one.line.unwrap() - 1).unwrap()];
                let is_there = one.expected != manifests::plan::Told::Absent;
                prop_assert!(line_shows(line, one.field.as_deref().unwrap(), is_there), "{:?} {line:?}", one.field);
            }
            let at = refusal.at.as_ref().unwrap();
            if let Some(field) = &at.field {
                let line = lines[usize::try_from(at.line.unwrap() - 1).unwrap()];
                prop_assert!(line_shows(line, field, true), "{field} {line:?}");
            }
            let wish = intents.iter().filter(|intent| matches!(intent, Intent::Upsert(object) if *object.id() == id));
            let wish: Vec<Intent> = wish.cloned().collect();
            prop_assert!(explanation.fix.is_some(), "{refusal}");
            if let Some(Change::File(edit)) = explanation.fix.as_ref().map(|fix| &fix.change) {
                let FileContent::Plain(bytes) = &edit.content else { continue };
                let mut fixed = files.clone();
                fixed.put(&edit.path, bytes.as_slice());
                let lands = plan(&fixed, &wish, Mode::Apply);
                prop_assert_eq!(lands.refusals().next(), None);
            }
        }
    }
}
