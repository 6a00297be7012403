//! Images and counts.

use super::*;

#[test]
fn ov_2_the_entry_that_supplied_a_value_is_edited() {
    let count = "replicas: [{name: web, count: 2}]\n";
    assert_eq!(
        edits(&own(count), &[("web", REPLICAS, json!(5))]),
        [
            "kustomization.yaml -replicas: [{name: web, count: 2}]",
            "kustomization.yaml +replicas: [{name: web, count: 5}]"
        ]
    );
    // Also where it said the same as the document.
    let count = "replicas:\n  - name: web\n    count: 1\n";
    assert_eq!(
        edits(&own(count), &[("web", REPLICAS, json!(5))]),
        [
            "kustomization.yaml -count: 1",
            "kustomization.yaml +count: 5"
        ]
    );
    let both = [
        ("web", IMAGE, json!("nginx:2")),
        ("other", IMAGE, json!("nginx:2")),
    ];
    assert_eq!(
        edits(
            &own("images:\n  - name: nginx\n    newTag: '1.0' # pinned\n"),
            &both
        ),
        [
            "kustomization.yaml -newTag: '1.0' # pinned",
            "kustomization.yaml +newTag: '2' # pinned"
        ]
    );
}

#[test]
fn ov_3_only_keys_that_an_entry_has_are_changed() {
    let both = |image: &str| [("web", IMAGE, json!(image)), ("other", IMAGE, json!(image))];
    let named = own("images:\n  - name: nginx\n    newName: mirror/nginx\n");
    assert_eq!(
        edits(&named, &both("elsewhere/nginx:1.0")),
        [
            "kustomization.yaml -newName: mirror/nginx",
            "kustomization.yaml +newName: elsewhere/nginx"
        ]
    );
    // A part that no entry writes is the document's.
    assert_eq!(
        edits(&named, &[("web", IMAGE, json!("mirror/nginx:2"))]),
        ["d.yaml -image: nginx:1.0", "d.yaml +image: nginx:2"]
    );
}

#[test]
fn ov_4_a_part_that_no_entry_writes_goes_to_the_document() {
    let files = own("images:\n  - name: nginx\n    newName: mirror/nginx\n");
    let digest = "mirror/nginx:1.0@sha256:ab";
    assert_eq!(
        edits(&files, &[("web", IMAGE, json!(digest))]),
        [
            "d.yaml -image: nginx:1.0",
            "d.yaml +image: nginx:1.0@sha256:ab"
        ]
    );
    assert_eq!(
        edits(&files, &[("web", IMAGE, json!("mirror/nginx"))]),
        ["d.yaml -image: nginx:1.0", "d.yaml +image: nginx"]
    );
    // Another name ends what the entry did, so the document says the tag as well.
    let tagged = own("images:\n  - name: nginx\n    newTag: '3'\n");
    assert_eq!(
        edits(&tagged, &[("web", IMAGE, json!("caddy:3"))]),
        ["d.yaml -image: nginx:1.0", "d.yaml +image: caddy:3"]
    );
}

#[test]
fn ov_5_a_tag_stays_text() {
    let both = |image: &str| [("web", IMAGE, json!(image)), ("other", IMAGE, json!(image))];
    let files = own("images:\n  - name: nginx\n    newTag: stable\n");
    for (tag, written) in [
        ("1.27", "\"1.27\""),
        ("v2", "v2"),
        ("1e3", "\"1e3\""),
        ("on", "\"on\""),
    ] {
        let expected = [
            "kustomization.yaml -newTag: stable".to_owned(),
            format!("kustomization.yaml +newTag: {written}"),
        ];
        assert_eq!(edits(&files, &both(&format!("nginx:{tag}"))), expected);
    }
}

#[test]
fn ov_6_chained_entries_each_keep_their_part() {
    let files = overlay(
        "images: [{name: mirror, newTag: '2'}]\n",
        "images: [{name: nginx, newName: mirror}]\n",
    );
    let both = [
        ("web", IMAGE, json!("mirror:4")),
        ("other", IMAGE, json!("mirror:4")),
    ];
    assert_eq!(
        edits(&files, &both),
        [
            "kustomization.yaml -images: [{name: mirror, newTag: '2'}]",
            "kustomization.yaml +images: [{name: mirror, newTag: '4'}]"
        ]
    );
}

#[test]
fn ov_7_what_an_entry_cannot_say_is_refused() {
    let tag = own("images:\n  - name: nginx\n    newTag: '2'\n");
    let digest = own("images:\n  - name: nginx\n    digest: sha256:ab\n");
    for (files, image) in [
        (&tag, "nginx"),
        (&tag, "nginx:2@sha256:cd"),
        (&digest, "nginx:2"),
        (&digest, "nginx"),
    ] {
        assert_eq!(
            refusals(files, &[("web", IMAGE, json!(image))]),
            ["web: kustomize-render-refused app/kustomization.yaml:4"],
            "{image}"
        );
    }
    let replicas = own("replicas:\n  - name: web\n    count: 2\n");
    assert_eq!(
        refusals(&replicas, &[("web", REPLICAS, json!(null))]),
        ["web: kustomize-render-refused app/kustomization.yaml:4"]
    );
    // Two containers and one entry.
    let two = DEPLOYMENT.to_owned() + "        - name: two\n          image: nginx:1.0\n";
    let mut files = tag.clone();
    files[1].1 = two;
    let second = "/spec/template/spec/containers/1/image";
    assert_eq!(
        refusals(
            &files,
            &[
                ("web", IMAGE, json!("nginx:3")),
                ("web", second, json!("nginx:4"))
            ]
        ),
        ["web: write-fan-in app/kustomization.yaml:4"]
    );
}

#[test]
fn ov_8_an_entry_that_serves_others_changes_only_with_all_of_them() {
    let files = own("images:\n  - name: nginx\n    newTag: '2'\n");
    assert_eq!(
        refusals(&files, &[("web", IMAGE, json!("nginx:3"))]),
        ["web: kustomize-render-refused app/kustomization.yaml:4"]
    );
    let apart = [
        ("web", IMAGE, json!("nginx:3")),
        ("other", IMAGE, json!("nginx:4")),
    ];
    assert_eq!(
        refusals(&files, &apart),
        [
            "other: write-fan-in app/kustomization.yaml:4",
            "web: write-fan-in app/kustomization.yaml:4"
        ]
    );
    let together = [
        ("web", IMAGE, json!("nginx:3")),
        ("other", IMAGE, json!("nginx:3")),
    ];
    assert_eq!(edits(&files, &together).len(), 2);
}

#[test]
fn ov_11_what_a_base_says_is_overridden_in_the_overlay() {
    let plain = overlay("", "");
    assert_eq!(
        edits(&plain, &[("web", REPLICAS, json!(4))]),
        [
            "kustomization.yaml +replicas:",
            "kustomization.yaml +- count: 4",
            "kustomization.yaml +name: web"
        ]
    );
    // The base says no count for this one.
    assert_eq!(edits(&plain, &[("other", REPLICAS, json!(4))]).len(), 3);
    let both = |image: &str| [("web", IMAGE, json!(image)), ("other", IMAGE, json!(image))];
    assert_eq!(
        edits(&plain, &both("nginx:1.27")),
        [
            "kustomization.yaml +images:",
            "kustomization.yaml +- name: nginx",
            "kustomization.yaml +newTag: \"1.27\""
        ]
    );
    assert_eq!(
        edits(&plain, &both("mirror/nginx@sha256:ab")),
        [
            "kustomization.yaml +images:",
            "kustomization.yaml +- digest: sha256:ab",
            "kustomization.yaml +name: nginx",
            "kustomization.yaml +newName: mirror/nginx"
        ]
    );
    assert_eq!(
        refusals(&plain, &[("web", IMAGE, json!("nginx:3"))]),
        ["web: kustomize-render-refused app/kustomization.yaml:1"]
    );
    assert_eq!(
        refusals(&plain, &both("nginx")),
        [
            "other: write-escapes-scope base/o.yaml:10",
            "web: write-escapes-scope base/d.yaml:14"
        ]
    );
    // The entry of a base is not written either.
    let pinned = overlay(
        "",
        "images: [{name: nginx, newTag: '2'}]\nreplicas: [{name: web, count: 2}]\n",
    );
    assert_eq!(edits(&pinned, &both("nginx:3")).len(), 3);
    assert_eq!(edits(&pinned, &[("web", REPLICAS, json!(4))]).len(), 3);
    // An entry for the name gets the key.
    let named = overlay(
        "images:\n  - name: mirror\n  - name: caddy\n    newTag: '1'\n",
        "images: [{name: nginx, newName: mirror}]\n",
    );
    assert_eq!(
        edits(&named, &both("mirror:3")),
        ["kustomization.yaml +newTag: '3'"]
    );
}
