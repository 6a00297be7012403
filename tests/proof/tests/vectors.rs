//! The edit vectors, to the byte.
#![allow(clippy::unwrap_used, reason = "a test reports a failure by panicking")]

use proof::vectors;

#[test]
fn ed_2_every_vector_gives_its_exact_bytes() {
    let vectors = vectors::parse(include_str!("../data/yaml-edit-vectors.json")).unwrap();
    assert_eq!(vectors.len(), 64);
    for vector in vectors {
        assert_eq!(vector.run().unwrap(), vector.after, "{}", vector.name);
    }
}

#[test]
fn a_vector_without_a_place_for_its_change_is_bad_and_not_refused() {
    let text =
        r#"[{"name": "x", "before": "a: 1\n", "op": "delete", "path": ["b"], "after": null}]"#;
    assert!(vectors::parse(text).unwrap()[0].run().is_err());
    assert!(vectors::parse("[{}]").is_err());
}
