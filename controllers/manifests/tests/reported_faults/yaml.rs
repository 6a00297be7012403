//! YAML that people wrote by hand.

use manifests::Decision;
use model::{IssueKind, RefusalCode, RefusalScope};
use serde_json::Value;

use crate::support::{Bed, changed_lines, decision, line_of};

/// A Deployment with lists at their key's column, lists deeper than their key, and a list in braces.
const SHOP: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: demo}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - name: shop
        image: registry.test/shop:1.4.0
        args:
            - --config
            - /etc/shop
        env:
          - {name: LEVEL, value: \"1\"}
        command: [\"/shop\", 'serve']
      - name: proxy
        image: registry.test/proxy:2
        args:
        - --fast
";

#[test]
fn b040_an_edit_leaves_the_indentation_of_every_list_alone() {
    let mut bed = Bed::new().with("apps/shop.yaml", SHOP);
    assert_eq!(bed.mirror(SHOP), Vec::<String>::new());
    let live = SHOP.replace("shop:1.4.0", "shop:1.4.1");
    assert_eq!(
        bed.mirror(&live),
        [
            "-        image: registry.test/shop:1.4.0",
            "+        image: registry.test/shop:1.4.1"
        ]
    );
}

#[test]
fn b040_a_new_item_follows_its_neighbours() {
    let mut bed = Bed::new().with("apps/shop.yaml", SHOP);
    let live = SHOP
        .replace("/etc/shop\n", "/etc/shop\n            - --verbose\n")
        .replace(
            "value: \"1\"}\n",
            "value: \"1\"}\n          - {name: MODE, value: \"on\"}\n",
        )
        .replace("'serve'", "'serve', 'all'")
        .replace("- --fast\n", "- --fast\n        - --safe\n");
    // Three new lines, and one line in brackets that grows.
    assert_eq!(bed.mirror(&live).len(), 5);
    let text = bed.text("apps/shop.yaml");
    for line in [
        "\n            - --verbose\n",
        "\n          - {name: MODE, value: \"on\"}\n",
        "\n        - --safe\n",
        "[\"/shop\", 'serve', ",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
}

/// A ConfigMap with a literal block of forty lines, folded text, and a block that begins with blanks.
fn script() -> String {
    let steps: String = (1..=38).fold(String::new(), |text, step| {
        text + &format!("    echo \"step {step}\"  # {step} of 38\n")
    });
    format!(
        "apiVersion: v1
kind: ConfigMap
metadata:
  name: script
  namespace: demo
data:
  run.sh: |
    #!/bin/sh
    set -eu
{steps}  about: >
    This text goes on
    over two lines.
  indented: |2
      four blanks
    two blanks
  level: info
"
    )
}

#[test]
fn b042_a_block_that_did_not_change_keeps_its_bytes() {
    let text = script();
    let mut bed = Bed::new().with("apps/script.yaml", &text);
    assert_eq!(
        bed.mirror(&text.replace("level: info", "level: debug")),
        ["-  level: info", "+  level: debug"]
    );
    let labelled = text.replace("level: info", "level: debug").replace(
        "  namespace: demo\n",
        "  namespace: demo\n  labels:\n    tier: x\n",
    );
    assert_eq!(bed.mirror(&labelled), ["+  labels:", "+    tier: x"]);
    let more = labelled.replace("    tier: x\n", "    tier: x\n    zone: a\n");
    assert_eq!(bed.mirror(&more), ["+    zone: a"]);
}

#[test]
fn b042_a_block_that_changes_stays_a_block_of_its_style() {
    let text = script();
    let mut bed = Bed::new().with("apps/script.yaml", &text);
    assert_eq!(
        bed.mirror(&text.replace("step 7\"", "step seven\"")),
        [
            "-    echo \"step 7\"  # 7 of 38",
            "+    echo \"step seven\"  # 7 of 38"
        ]
    );
    let text = bed.text("apps/script.yaml").to_owned();
    assert_eq!(
        bed.mirror(&text.replace("    two blanks", "    two blanks more")),
        ["-    two blanks", "+    two blanks more"]
    );
    let text = bed.text("apps/script.yaml").to_owned();
    let lines = bed.mirror(&text.replace("over two lines.", "over two long lines."));
    assert_eq!(lines, ["-    over two lines.", "+    over two long lines."]);
}

/// A live ConfigMap with one entry, as JSON so that no byte is in doubt.
fn config_map(name: &str, data: &[(&str, &str)]) -> String {
    let data: serde_json::Map<String, Value> = data
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
        .collect();
    serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "demo"}, "data": data,
    })
    .to_string()
}

const CONF: &str = "apps/demo/configmaps/conf.yaml";

#[test]
fn b043_blanks_at_the_end_of_a_line_and_tabs_stand_in_a_block() {
    let ini = "[main]\nkey = value \n\tindented = yes\nlast = 1\n";
    let mut bed = Bed::new();
    bed.mirror(&config_map("conf", &[("app.ini", ini)]));
    assert!(
        bed.text(CONF).contains(
            "  app.ini: |\n    [main]\n    key = value \n    \tindented = yes\n    last = 1\n"
        ),
        "{}",
        bed.text(CONF)
    );
    let changed = ini.replace("last = 1", "last = 2");
    assert_eq!(
        bed.mirror(&config_map("conf", &[("app.ini", &changed)])),
        ["-    last = 1", "+    last = 2"]
    );
}

#[test]
fn b043_what_no_block_can_hold_is_quoted_and_nothing_beside_it_changes() {
    let plain = "one\ntwo \n";
    let mut bed = Bed::new();
    bed.mirror(&config_map(
        "conf",
        &[("a", plain), ("b", "x\ry\n"), ("c", "bell \u{7}\n")],
    ));
    let text = bed.text(CONF).to_owned();
    assert!(text.contains("  a: |\n    one\n    two \n"), "{text}");
    assert!(text.contains("  b: \"x\\ry\\n\"\n"), "{text}");
    assert!(text.contains("  c: \"bell \\x07\\n\"\n"), "{text}");
    let lines = bed.mirror(&config_map(
        "conf",
        &[("a", plain), ("b", "x\rz\n"), ("c", "bell \u{7}\n")],
    ));
    assert_eq!(lines, ["-  b: \"x\\ry\\n\"", "+  b: \"x\\rz\\n\""]);
}

/// Text that one reader or another takes for a number, a time or something else.
const NUMBER_LIKE: [&str; 12] = [
    "007", "0o17", "0x1F", "1_000", "1e3", "12:30:45", ".5", "+1", "0362525", "-0", ".inf", "1.10",
];

/// Text that a reader may take for a boolean or for nothing.
const WORD_LIKE: [&str; 16] = [
    "on", "off", "yes", "no", "y", "n", "Y", "N", "~", "", "null", "true", "False", "NO", "On",
    "Null",
];

/// Proves that every value of `data` is quoted, so that no reader can take it for anything but text, and that an
/// independent reader sees the texts of the cluster.
fn assert_text(file: &str, expected: &[(String, &str)]) {
    let lines: Vec<&str> = file.lines().collect();
    let data = lines.iter().position(|line| *line == "data:").unwrap();
    for line in &lines[data + 1..data + 1 + expected.len()] {
        let value = line.split_once(": ").unwrap().1;
        assert!(value.starts_with(['"', '\'']), "{line}");
    }
    let read: serde_yaml::Value = serde_yaml::from_str(file).unwrap();
    for (key, value) in expected {
        assert_eq!(read["data"][key.as_str()].as_str(), Some(*value), "{key}");
    }
    let read = &manifests::yaml::values(file).unwrap()[0];
    for (key, value) in expected {
        assert_eq!(read["data"][key].as_str(), Some(*value), "{key}");
    }
}

fn entries<'a>(values: &[&'a str]) -> Vec<(String, &'a str)> {
    let numbered = values.iter().enumerate();
    numbered
        .map(|(index, value)| (format!("k{index:02}"), *value))
        .collect()
}

fn live_with(entries: &[(String, &str)]) -> String {
    let entries: Vec<(&str, &str)> = entries
        .iter()
        .map(|(key, value)| (key.as_str(), *value))
        .collect();
    config_map("conf", &entries)
}

#[test]
fn b045_digits_keep_their_quotes() {
    let wanted = entries(&NUMBER_LIKE);
    let mut bed = Bed::new();
    bed.mirror(&live_with(&wanted));
    assert_text(bed.text(CONF), &wanted);

    // The same texts written over plain words, one after the other.
    let plain: String = wanted
        .iter()
        .map(|(key, _)| format!("  {key}: word\n"))
        .collect();
    let before = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: conf\n  namespace: demo\ndata:\n{plain}"
    );
    let mut bed = Bed::new().with(CONF, &before);
    bed.mirror(&live_with(&wanted));
    assert_text(bed.text(CONF), &wanted);
}

#[test]
fn b045_an_edit_keeps_the_quotes_that_stand_there() {
    let before = "apiVersion: v1
kind: ConfigMap
metadata:
  name: conf
  namespace: demo
  labels:
    build: '007'
  annotations:
    weight: \"1e3\"
data:
  a: '0362525'
  b: \"1.10\"
";
    let mut bed = Bed::new().with(CONF, before);
    assert_eq!(bed.mirror(before), Vec::<String>::new());
    let live = before
        .replace("007", "008")
        .replace("1e3", "1e4")
        .replace("0362525", "0362526")
        .replace("1.10", "1.20");
    bed.mirror(&live);
    assert_eq!(bed.text(CONF), live);
}

#[test]
fn b046_words_that_a_reader_takes_for_a_boolean_or_nothing_are_quoted_keys_too() {
    let wanted = entries(&WORD_LIKE);
    let mut bed = Bed::new();
    bed.mirror(&live_with(&wanted));
    assert_text(bed.text(CONF), &wanted);

    let live = "{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: demo, labels: {\"y\": \"on\"}}, data: {\"null\": \"x\", \"on\": \"no\"}}";
    let mut bed = Bed::new();
    bed.mirror(live);
    let text = bed.text(CONF);
    for line in [
        "    \"y\": \"on\"\n",
        "  \"null\": x\n",
        "  \"on\": \"no\"\n",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
    // In a map that a person began, a new key gets them as well.
    let mut bed = Bed::new().with(
        CONF,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: conf\n  namespace: demo\ndata:\n  a: b\n",
    );
    assert_eq!(
        bed.mirror(&config_map(
            "conf",
            &[("a", "b"), ("no", "off"), ("y", "~")]
        )),
        ["+  \"no\": \"off\"", "+  \"y\": \"~\""]
    );
}

const WIDGET: &str = "\
apiVersion: example.org/v1
kind: Widget
metadata:
  name: big
  namespace: demo
spec:
  id: 9007199254740993
  bytes: 1000000000
  ratio: 1.0
  size: 1e3
  colour: red
";

#[test]
fn b047_whole_numbers_keep_all_their_digits() {
    // JSON as the API server sends it: a float that is whole has no point.
    let live = "{apiVersion: example.org/v1, kind: Widget, metadata: {name: big, namespace: demo}, spec: {id: 9007199254740993, bytes: 1000000000, ratio: 1, size: 1000, colour: red}}";
    let mut bed = Bed::new().with("apps/big.yaml", WIDGET);
    assert_eq!(bed.mirror(live), Vec::<String>::new());
    assert_eq!(
        bed.mirror(&live.replace("red", "blue")),
        ["-  colour: red", "+  colour: blue"]
    );
    assert_eq!(
        bed.mirror(&live.replace("red", "blue").replace("740993", "740995")),
        ["-  id: 9007199254740993", "+  id: 9007199254740995"]
    );
    let mut bed = Bed::new();
    bed.mirror(live);
    let text = bed.text("apps/demo/example.org/widgets/big.yaml");
    for line in ["  bytes: 1000000000\n", "  id: 9007199254740993\n"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn b048_a_file_mode_is_compared_by_its_value() {
    let file = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: demo}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web:1
      volumes:
      - name: keys
        secret:
          secretName: keys
          defaultMode: 0644
          items:
          - {key: a, path: a, mode: 0o400}
";
    let live = file.replace("0644", "420").replace("0o400", "256");
    let mut bed = Bed::new().with("apps/web.yaml", file);
    assert_eq!(bed.mirror(&live), Vec::<String>::new());
    let live = live.replace("web:1", "web:2");
    assert_eq!(
        bed.mirror(&live),
        ["-        image: web:1", "+        image: web:2"]
    );
    let live = live.replace("420", "384");
    assert_eq!(
        bed.mirror(&live),
        [
            "-          defaultMode: 0644",
            "+          defaultMode: 0600"
        ]
    );
    let live = live.replace("256", "288");
    let lines = bed.mirror(&live);
    assert_eq!(
        lines,
        [
            "-          - {key: a, path: a, mode: 0o400}",
            "+          - {key: a, path: a, mode: 0o440}"
        ]
    );
}

/// A change of a live object.
type Change = fn(&mut Value);

const ANCHORED: &str = "\
apiVersion: example.org/v1
kind: Widget
metadata:
  name: w
  namespace: demo
  labels: &labels {app: web}
spec:
  selector: *labels
  template:
    labels: *labels
    defaults: &defaults
      level: info
      mode: fast
    env:
      <<: *defaults
      extra: \"1\"
";

#[test]
fn b049_an_edit_at_one_place_of_an_anchor_leaves_the_others() {
    let wanted = |text: &str| manifests::yaml::values(text).unwrap().remove(0);
    let live = serde_json::to_string(&wanted(ANCHORED)).unwrap();
    let mut bed = Bed::new().with("apps/w.yaml", ANCHORED);
    assert_eq!(bed.mirror(&live), Vec::<String>::new());
    let changes: [(&str, Change); 6] = [
        ("the anchor's own place", |value| {
            value["metadata"]["labels"]["app"] = "other".into();
        }),
        ("an alias", |value| {
            value["spec"]["selector"]["app"] = "other".into();
        }),
        ("a merged key", |value| {
            value["spec"]["template"]["env"]["level"] = "debug".into();
        }),
        ("what is merged", |value| {
            value["spec"]["template"]["defaults"]["level"] = "debug".into();
        }),
        ("the anchor's node goes", |value| {
            value["metadata"].as_object_mut().unwrap().remove("labels");
        }),
        ("the merged node goes", |value| {
            let template = value["spec"]["template"].as_object_mut().unwrap();
            template.remove("defaults");
        }),
    ];
    for (name, change) in changes {
        let mut value = wanted(ANCHORED);
        change(&mut value);
        let mut bed = Bed::new().with("apps/w.yaml", ANCHORED);
        let intent = bed.upsert(&value.to_string());
        let outcome = bed.apply(&[intent]);
        let text = bed.text("apps/w.yaml");
        match decision(&outcome) {
            Decision::Edited { .. } => {
                let read: Value = serde_yaml::from_str::<serde_yaml::Value>(text)
                    .map(|mut read| {
                        read.apply_merge().unwrap();
                        serde_json::to_value(read).unwrap()
                    })
                    .unwrap();
                assert_eq!(read, value, "{name}:\n{text}");
            }
            Decision::Refused(refusal) => {
                assert_eq!(refusal.at.as_ref().unwrap().path.as_str(), "apps/w.yaml");
                assert_eq!(text, ANCHORED, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn b051_a_key_that_stands_twice_is_named_with_both_its_lines() {
    let twice = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dup\n  namespace: demo\ndata:\n  colour: \"1\"\n  other: x\n  colour: \"2\"\n";
    let fine = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fine\n  namespace: demo\ndata:\n  a: \"1\"\n";
    let mut bed = Bed::new()
        .with("apps/dup.yaml", twice)
        .with("apps/fine.yaml", fine);
    let before = bed.clone();
    let intents = [
        bed.upsert(&config_map("dup", &[("colour", "3"), ("other", "x")])),
        bed.upsert(&config_map("fine", &[("a", "2")])),
    ];
    let outcome = bed.apply(&intents);
    let refusal = outcome.refusals().next().unwrap();
    assert_eq!(refusal.code, RefusalCode::WriteBoundaryRefused);
    assert_eq!(refusal.issue, Some(IssueKind::NonEditableDocument));
    assert_eq!(refusal.scope, RefusalScope::Object);
    let at = refusal.at.as_ref().unwrap();
    assert_eq!(at.path.as_str(), "apps/dup.yaml");
    let (first, second) = (line_of(twice, "\"1\""), line_of(twice, "\"2\""));
    assert_eq!(at.line, Some(second));
    assert!(
        refusal.message.contains("\"colour\"")
            && refusal.message.contains(&format!("line {first}")),
        "{refusal}"
    );
    assert_eq!(bed.text("apps/dup.yaml"), twice);
    assert_eq!(changed_lines(&before, &bed), ["-  a: \"1\"", "+  a: \"2\""]);
}

#[test]
fn b052_an_exported_list_is_refused_with_advice_and_its_items_are_not_written_again() {
    let list = "\
apiVersion: v1
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: conf, namespace: demo}
  data: {a: \"1\"}
- apiVersion: v1
  kind: Service
  metadata: {name: web, namespace: demo}
  spec: {ports: [{port: 80}]}
kind: List
";
    let mut bed = Bed::new().with("apps/all.yaml", list);
    let refusal = bed.refused(&config_map("conf", &[("a", "2")]));
    assert_eq!(refusal.scope, RefusalScope::Folder);
    assert_eq!(refusal.at.as_ref().unwrap().path.as_str(), "apps/all.yaml");
    let outcome = bed.plan(&[], manifests::Mode::Inspect);
    let [issue] = outcome.folder.issues() else {
        panic!("{:?}", outcome.folder);
    };
    assert!(issue.remedy.contains("each object"), "{issue}");
    assert_eq!(bed.paths(), ["apps/all.yaml"]);
}
