use proptest::prelude::*;
use serde_json::json;

use super::edit::{
    content_with_value, env_with_new_line, env_with_value, env_without, literal_with_value,
    new_literal,
};
use super::source::{lines, literal};
use super::*;

fn site(at: u32) -> Site {
    let file = FileId(0);
    Site { file, at }
}

fn text(value: &str, at: u32) -> Text {
    Text {
        value: value.to_owned(),
        site: site(at),
    }
}

fn entry<'b>(
    literals: &[&str],
    envs: &[&'b [u8]],
    files: &[(&str, &'b [u8])],
) -> GeneratorEntry<'b> {
    let input = |index: usize, spec: &str, bytes: &'b [u8]| Input {
        spec: text(spec, 200),
        file: FileId(u32::try_from(index).unwrap()),
        bytes,
    };
    GeneratorEntry {
        site: site(1),
        name: text("settings", 2),
        namespace: None,
        literals: literals.iter().map(|it| text(it, 100)).collect(),
        envs: envs
            .iter()
            .enumerate()
            .map(|(index, bytes)| input(index + 1, "settings.env", bytes))
            .collect(),
        files: files
            .iter()
            .enumerate()
            .map(|(index, (spec, bytes))| input(index + 50, spec, bytes))
            .collect(),
        options: GeneratorOptions::default(),
    }
}

fn generated(entry: &GeneratorEntry<'_>) -> Result<Value, GeneratorProblem> {
    let node = generate(entry, &GeneratorOptions::default()).map_err(|error| error.problem)?;
    Ok(node.to_value())
}

#[test]
fn values_come_from_literals_lines_and_files() {
    let env = b"\xef\xbb\xbf# heading\r\nA=1\r\n\n  B= two words \t\nC='quoted'\nD\n=lost\nE=x=y";
    let object = entry(
        &["F=\"in quotes\"", "G='open", "H= blanks ", "I==", "J="],
        &[env],
        &[("dir/K.txt", b"whole\r\n"), ("L=other.bin", b"\xff\x00")],
    );
    let expected = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings"},
        "data": {
            "A": "1", "B": " two words \t", "C": "'quoted'", "D": "", "E": "x=y",
            "F": "in quotes", "G": "'open", "H": " blanks ", "I": "=", "J": "", "K.txt": "whole\r\n",
        },
        "binaryData": {"L": "/wA="},
    });
    assert_eq!(generated(&object), Ok(expected));
}

#[test]
fn every_value_names_its_input() {
    let object = entry(
        &["B=2"],
        &[b"# heading\nA=1\n"],
        &[("C", b"3"), ("D", b"\xff")],
    );
    let object = generate(&object, &GeneratorOptions::default()).unwrap();
    let supplier = |of: &str, key: &str| object.get(of).unwrap().get(key).unwrap().supplier.clone();
    let line = Site {
        file: FileId(1),
        at: 10,
    };
    assert_eq!(supplier("data", "A"), Supplier::EnvLine(line));
    assert_eq!(supplier("data", "B"), Supplier::Literal(site(100)));
    assert_eq!(supplier("data", "C"), Supplier::Content(FileId(50)));
    assert_eq!(supplier("binaryData", "D"), Supplier::Content(FileId(51)));
    assert_eq!(supplier("metadata", "name"), Supplier::Entry(site(2)));
}

#[test]
fn an_entrys_own_options_win() {
    let texts = |pairs: &[(&str, &str, u32)]| {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value, at)| ((*key).to_owned(), text(value, *at)))
            .collect()
    };
    let mut object = entry(&[], &[], &[]);
    object.namespace = Some(text("space", 3));
    object.options.labels = texts(&[("a", "own", 10)]);
    let shared = GeneratorOptions {
        labels: texts(&[("a", "shared", 20), ("b", "shared", 21)]),
        annotations: texts(&[("c", "shared", 22)]),
        immutable: Some(site(23)),
    };
    let object = generate(&object, &shared).unwrap();
    let expected = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "settings",
            "namespace": "space",
            "labels": {"a": "own", "b": "shared"},
            "annotations": {"c": "shared"},
        },
        "immutable": true,
    });
    assert_eq!(object.to_value(), expected);
    let labels = object.get("metadata").unwrap().get("labels").unwrap();
    assert_eq!(labels.get("a").unwrap().supplier, Supplier::Label(site(10)));
    assert_eq!(labels.get("b").unwrap().supplier, Supplier::Label(site(21)));
}

#[test]
fn what_kustomize_does_not_read_is_an_error() {
    let repeated = |key: &str| GeneratorProblem::RepeatedKey(key.to_owned());
    let literal = |text: &str| GeneratorProblem::Source(SourceProblem::Literal(text.to_owned()));
    let file = |spec: &str| GeneratorProblem::Source(SourceProblem::File(spec.to_owned()));
    let line = |problem| GeneratorProblem::Source(problem);
    let long = [b"A=1\nB=".as_slice(), &[b'x'; 65_534]].concat();
    let cases = [
        (entry(&["A=1", "A=2"], &[], &[]), repeated("A")),
        (entry(&["A=1"], &[b"A=1"], &[]), repeated("A")),
        (entry(&[], &[b"A=1\nA=1"], &[]), repeated("A")),
        (entry(&["A=1"], &[], &[("x/A", b"\xff")]), repeated("A")),
        (entry(&["A"], &[], &[]), literal("A")),
        (entry(&["=A"], &[], &[]), literal("=A")),
        (entry(&[], &[], &[("a=b=c", b"")]), file("a=b=c")),
        (entry(&[], &[], &[("=b", b"")]), file("=b")),
        (entry(&[], &[], &[("a=", b"")]), file("a=")),
        (
            entry(&[], &[b"\nA=\xff"], &[]),
            line(SourceProblem::LineBytes(2)),
        ),
        (
            entry(&[], &[&long], &[]),
            line(SourceProblem::LineLength(2)),
        ),
    ];
    for (entry, problem) in cases {
        assert_eq!(generated(&entry), Err(problem));
    }
    let mut nameless = entry(&[], &[], &[]);
    nameless.name.value.clear();
    assert_eq!(generated(&nameless), Err(GeneratorProblem::NoName));
}

#[test]
fn cg_3_a_literal_keeps_its_quotes() {
    let cases = [
        ("a=1", "2", "a=2"),
        ("a='1'", "2", "a='2'"),
        ("a=\"1\"", "it's", "a=\"it's\""),
        ("a='1'", "'", "a='''"),
        ("a=1", "\"all\"", "a='\"all\"'"),
        ("a=1", "''", "a=\"''\""),
        ("a=", "x=y", "a=x=y"),
        ("a=1", "two\nlines", "a=two\nlines"),
    ];
    for (before, value, after) in cases {
        assert_eq!(literal_with_value(before, value).as_deref(), Some(after));
    }
    assert_eq!(new_literal("a", "1").as_deref(), Some("a=1"));
    assert_eq!(new_literal("", "1"), None);
    assert_eq!(new_literal("a=b", "1"), None);
    assert_eq!(new_literal("a b", "1"), None);
}

#[test]
fn cg_2_a_line_is_changed_in_its_place() {
    let file = "\u{feff}# heading\r\n  A=1\r\nB = two \r\nC\r\n";
    let changed = |key: &str, value: &str| {
        let lines = lines(file.as_bytes()).unwrap();
        let line = lines.iter().find(|line| line.key == key).unwrap();
        let start = u32::try_from(line.start).unwrap();
        env_with_value(file.as_bytes(), start, value).map(|it| String::from_utf8(it).unwrap())
    };
    let with = |from: &str, to: &str| Some(file.replace(from, to));
    assert_eq!(changed("A", "2 "), with("A=1", "A=2 "));
    assert_eq!(changed("B ", ""), with("B = two ", "B ="));
    assert_eq!(changed("C", "#3"), with("C\r\n", "C=#3\r\n"));
}

#[test]
fn cg_13_what_a_line_cannot_say_is_not_written() {
    let with_value = |content: &[u8], value| env_with_value(content, 0, value);
    assert_eq!(with_value(b"A=1\n", "two\nlines"), None);
    assert_eq!(with_value(b"A=1\n", "carriage return\r"), None);
    assert_eq!(with_value(b"A=1\r\n", "\r"), Some(b"A=\r\r\n".to_vec()));
    assert_eq!(with_value(b"A=1\n", &"x".repeat(70_000)), None);
    for key in ["", "#a", " a", "a=b", "a\nb"] {
        assert_eq!(env_with_new_line(b"A=1\n", key, "1"), None, "{key:?}");
    }
    assert_eq!(env_with_new_line(b"A=1\n", "B", "1\n"), None);
    assert_eq!(literal_with_value("A=1", "\tcolumn\n"), None);
    assert_eq!(literal_with_value("A=1", "next line\u{85}"), None);
    assert_eq!(content_with_value("\tcolumn\n"), None);
    assert_eq!(content_with_value("\tcolumn"), Some(b"\tcolumn".to_vec()));
    // The mark would move to the line that comes first.
    assert_eq!(env_without("A=1\n\u{feff}B=2\n".as_bytes(), 0), None);
}

#[test]
fn cg_4_a_line_is_taken_out() {
    assert_eq!(
        env_without(b"A=1\n# kept\nB=2", 11),
        Some(b"A=1\n# kept\n".to_vec())
    );
    let marked = "\u{feff}A=1\nB=2\n".as_bytes();
    assert_eq!(
        env_without(marked, 0),
        Some("\u{feff}B=2\n".as_bytes().to_vec())
    );
    assert_eq!(env_without(b"A=1\n", 1), None);
}

#[test]
fn cg_18_a_new_line_ends_as_the_others_do() {
    let cases: [(&[u8], &[u8]); 4] = [
        (b"", b"B=2\n"),
        (b"A=1\n", b"A=1\nB=2\n"),
        (b"A=1", b"A=1\nB=2"),
        (b"A=1\r\n", b"A=1\r\nB=2\r\n"),
    ];
    for (before, after) in cases {
        assert_eq!(env_with_new_line(before, "B", "2").as_deref(), Some(after));
    }
}

/// Text with whatever the parsers look at.
fn awkward() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "B", "=", "'", "\"", "#", " ", "\t", "\n", "\r", "\u{feff}", "\0", "\u{a0}", "é",
    ]);
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_new_value_is_read_back_or_not_written(file in awkward(), pick in any::<usize>(), value in awkward()) {
        let content = file.as_bytes();
        let before = lines(content).unwrap();
        if let Some(line) = before.get(pick % before.len().max(1)) {
            let start = u32::try_from(line.start).unwrap();
            if let Some(written) = env_with_value(content, start, &value) {
                let after = lines(&written).unwrap();
                prop_assert_eq!(after.len(), before.len());
                let changed = after.iter().find(|after| after.start == line.start).unwrap();
                prop_assert_eq!((changed.key, changed.value), (line.key, value.as_str()));
            } else {
                prop_assert!(value.contains('\n') || value.ends_with('\r'), "{:?}", value);
            }
        }
    }

    #[test]
    fn a_new_literal_is_read_back(before in awkward(), value in awkward()) {
        if let Some((key, _)) = literal(&before) {
            match literal_with_value(&before, &value) {
                Some(written) => prop_assert_eq!(literal(&written), Some((key, value.as_str()))),
                None => prop_assert!(value.starts_with('\t') && value.contains('\n')),
            }
        }
    }
}
