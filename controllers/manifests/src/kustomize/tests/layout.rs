//! What shape a folder has.

use super::*;
use crate::kustomize::{Layout, graph, layout};

fn layout_of(files: &[(&str, &str)], path: &str) -> Layout {
    let graph = graph(repository(files).tree(), &folder(path)).unwrap();
    layout(&graph, &folder(path))
}

/// A layout as mode, render root and bases; several roots as their folders.
fn told(files: &[(&str, &str)], path: &str) -> String {
    let layout = layout_of(files, path);
    let roots: Vec<_> = layout.roots().iter().map(FolderPath::as_str).collect();
    let Some(mode) = layout.mode() else {
        assert_eq!(layout.render_root(), None);
        return roots.join(" ");
    };
    let Some(root) = layout.render_root() else {
        return mode.as_str().to_owned();
    };
    assert_eq!(roots, [root.folder.as_str()]);
    let told = [mode.as_str(), &root.below].into_iter();
    let bases = root.read_only_bases.iter().map(String::as_str);
    told.chain(bases).collect::<Vec<_>>().join(" ")
}

/// A base and two environments, one of which has a part of its own.
const ENVIRONMENTS: [(&str, &str); 6] = [
    ("app/base/kustomization.yaml", "resources: [r.yaml]\n"),
    ("app/base/r.yaml", CONFIG_MAP),
    (
        "app/overlays/prod/Kustomization",
        "resources: [./../../base/]\n",
    ),
    (
        "app/overlays/test/kustomization.yml",
        "resources: [../../base, part]\n",
    ),
    (
        "app/overlays/test/part/kustomization.yaml",
        "resources: [p.yaml]\n",
    ),
    ("app/overlays/test/part/p.yaml", DEPLOYMENT),
];

#[test]
fn rf_5_a_folder_is_plain_a_root_an_overlay_or_covers_several_roots() {
    for (path, expected) in [
        ("nowhere", "Plain"),
        ("app/base", "KustomizeRoot ."),
        ("app/overlays/prod", "KustomizeOverlay . ./../../base/"),
        ("app/overlays/test", "KustomizeOverlay . ../../base"),
        ("app/overlays/test/part", "KustomizeRoot ."),
        ("app", "app/overlays/prod app/overlays/test"),
        (".", "app/overlays/prod app/overlays/test"),
    ] {
        assert_eq!(told(&ENVIRONMENTS, path), expected, "{path}");
    }
    let plain = [
        ("app/r.yaml", CONFIG_MAP),
        ("kustomization.yaml", "resources: [app/r.yaml]\n"),
    ];
    assert_eq!(
        told(&plain, "app"),
        "Plain",
        "the kustomization stands outside"
    );
}

#[test]
fn pl_6_rf_5_a_root_reached_through_nested_bases_inside_the_folder_is_one() {
    let files = [
        ("app/live/kustomization.yaml", "resources: [middle]\n"),
        ("app/live/middle/kustomization.yaml", "resources: [base]\n"),
        ("app/live/middle/base/kustomization.yaml", "resources: []\n"),
    ];
    assert_eq!(told(&files, "app"), "KustomizeRoot live");
    assert_eq!(told(&files, "."), "KustomizeRoot app/live");
    let other = ("app/x/kustomization.yaml", "resources: []\n");
    let unrelated = [files[0], files[1], files[2], other];
    assert_eq!(told(&unrelated, "app"), "app/live app/x");
}

#[test]
fn rf_5_bases_are_spelled_as_the_root_spells_them_or_reaches_them() {
    let files = [
        (
            "a/b/kustomization.yaml",
            "resources: [../../x/../one, sub, ../../files/r.yaml, ../../files/r.yaml/]\nbases: [../..//two]\n",
        ),
        (
            "a/b/sub/kustomization.yaml",
            "resources: [../../../two, ../../near.yaml]\n",
        ),
        ("a/near.yaml", CONFIG_MAP),
        ("files/r.yaml", CONFIG_MAP),
        (
            "one/kustomization.yaml",
            "resources: [../three, ../a/b/inside.yaml]\n",
        ),
        ("a/b/inside.yaml", CONFIG_MAP),
        ("two/kustomization.yaml", "resources: [../files]\n"),
        ("three/kustomization.yaml", "resources: []\n"),
    ];
    let bases = "../../x/../one ../../files ../..//two";
    assert_eq!(
        told(&files, "a/b"),
        format!("KustomizeOverlay . {bases} ../../three ..")
    );
    assert_eq!(
        told(&files, "a"),
        format!("KustomizeOverlay b {bases} ../../three"),
        "what lies in the folder is no base"
    );
    assert_eq!(
        told(&files, "a/b/sub"),
        "KustomizeOverlay . ../../../two ../.."
    );
}

#[test]
fn rf_5_what_only_patches_and_generators_read_is_no_base() {
    let files = [
        (
            "a/kustomization.yaml",
            "resources: [r.yaml, ../lost]\npatches: [{path: ../p.yaml}]\ngeneratorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator: [{name: g, envs: [../e.env]}]\n",
        ),
        ("a/r.yaml", CONFIG_MAP),
        ("p.yaml", CONFIG_MAP),
        ("e.env", ""),
    ];
    assert_eq!(told(&files, "a"), "KustomizeRoot .");
}
