//! What refuses a folder of which the kustomizations cannot be built.

use model::FileEntry;

use crate::kustomize::{OTHER, ROOT, files, part, refused, root};
use crate::row::Row;
use crate::support::Bed;

pub(crate) fn rows() -> Vec<Row> {
    let parts = [references(), builds(), generators()];
    parts.into_iter().flatten().collect()
}

/// Entries that lead somewhere else, or nowhere.
fn references() -> Vec<Row> {
    const OPERATIONS: &str = "# first\n- op: remove\n  path: /data\n";
    const PATCH: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n";
    let listed = |feature, reason, entry: &'static str, line| {
        let text = format!("bases: []\nresources:\n- {entry}\n");
        refused(feature, reason)
            .given(move |bed: &mut Bed| bed.put(ROOT, &text))
            .line(line)
            .field("resources[0]")
            .mended(root(""))
    };
    vec![
        listed(
            "render-failed",
            "a file that is not there",
            "gone.yaml",
            "gone",
        ),
        listed(
            "render-failed",
            "a path out of the repository",
            "../../x",
            "../../x",
        ),
        listed("render-failed", "an absolute path", "/etc/x.yaml", "/etc"),
        listed(
            "remote-base",
            "a base of another repository",
            "https://example.com/org/repo?ref=main",
            "https",
        ),
        listed(
            "remote-base",
            "a base by the name of its host",
            "github.com/org/repo//base",
            "github",
        ),
        listed(
            "remote-base",
            "a base that is fetched over ssh",
            "git@example.com:org/repo",
            "git@",
        ),
        refused("render-failed", "a base without a kustomization")
            .given(|bed| {
                root("- ../base")(bed);
                bed.put("base/other.yaml", OTHER);
            })
            .line("../base")
            .field("resources[2]")
            .mended(|bed| bed.put("base/kustomization.yaml", "resources: []\n")),
        refused("render-failed", "a file behind a symbolic link")
            .given(|bed| {
                root("- ../shared/x.yaml")(bed);
                bed.put_entry("shared", FileEntry::Symlink);
            })
            .line("../shared")
            .field("resources[2]")
            .mended(|bed| {
                bed.remove("shared");
                bed.put("shared/x.yaml", &OTHER.replace("other", "x"));
            }),
        part(
            "patches-outside-tree",
            "a patch that is not there",
            ("patches:\n- path: gone.yaml", "patches: []"),
            "gone",
            "patches[0].path",
        ),
        part(
            "patches-outside-tree",
            "a patch out of the repository",
            ("patches:\n- path: ../../x.yaml", "patches: []"),
            "../../x",
            "patches[0].path",
        ),
        part(
            "patches-inline",
            "a patch in the kustomization itself",
            (
                "patches:\n- patch: '{}'",
                "patches:\n- patch: ''\n  path: other.yaml",
            ),
            "patch: '{}'",
            "patches[0].patch",
        ),
        part(
            "unparseable",
            "a patch that names nothing",
            ("patches:\n- target: {kind: ConfigMap}", "patches: []"),
            "target",
            "patches[0]",
        ),
        part(
            "patches.options",
            "a patch that may change names",
            (
                "patches:\n- path: other.yaml\n  options: {allowNameChange: true}",
                "patches:\n- path: other.yaml\n  options: {allowNameChange: false}",
            ),
            "options",
            "patches[0].options.allowNameChange",
        ),
        refused("patches-json6902", "a patch that is a list of operations")
            .given(|bed| {
                root("patches:\n- path: p.yaml\n  target: {kind: ConfigMap}")(bed);
                bed.put("apps/p.yaml", OPERATIONS);
            })
            .at("apps/p.yaml")
            .line("# first")
            .mended(files([("apps/p.yaml", PATCH)])),
    ]
}

/// What kustomize would not build.
fn builds() -> Vec<Row> {
    const BASE: &str = "apps/base/kustomization.yaml";
    const PATCH: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n";
    vec![
        refused("render-failed", "a kustomization that leads back to itself")
            .given(|bed| {
                root("- base")(bed);
                bed.put(BASE, "resources:\n- ../\n");
            })
            .line("- base")
            .field("resources")
            .mended(files([(BASE, "resources: []\n")])),
        refused("render-failed", "two ways to one base")
            .given(|bed| {
                root("- a\n- b")(bed);
                bed.put("apps/a/kustomization.yaml", "resources: [../base]\n");
                bed.put("apps/b/kustomization.yaml", "resources: [../base]\n");
                bed.put(BASE, "resources: [x.yaml]\n");
                bed.put("apps/base/x.yaml", &OTHER.replace("other", "x"));
            })
            .line("- b")
            .field("resources")
            .mended(files([("apps/b/kustomization.yaml", "resources: []\n")])),
        refused("render-failed", "a file that is listed twice")
            .given(root("- ./other.yaml"))
            .line("./other")
            .field("resources")
            .mended(root("")),
        refused("render-failed", "two objects that one namespace makes one")
            .given(|bed| {
                root("- x.yaml")(bed);
                let x = OTHER.replace("  name: other", "  name: other\n  namespace: x");
                bed.put("apps/x.yaml", &x);
            })
            .line("namespace: demo")
            .field("namespace")
            .mended(|bed| bed.put("apps/x.yaml", &OTHER.replace("other", "x"))),
        refused("render-failed", "a patch for nothing that is there")
            .given(|bed| {
                root("patches:\n- path: p.yaml")(bed);
                bed.put("apps/p.yaml", PATCH);
            })
            .at("apps/p.yaml")
            .line("apiVersion")
            .mended(|bed| bed.put("apps/p.yaml", &PATCH.replace("gone", "other"))),
        refused("render-failed", "an object without a name in a build")
            .given(|bed| {
                root("- x.yaml")(bed);
                bed.put(
                    "apps/x.yaml",
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
                );
            })
            .at("apps/x.yaml")
            .line("apiVersion")
            .field("metadata.name")
            .mended(|bed| bed.put("apps/x.yaml", &OTHER.replace("other", "x"))),
        refused("components", "a base elsewhere that is refused")
            .given(|bed| {
                root("- ../base")(bed);
                bed.put(
                    "base/kustomization.yaml",
                    "components: [x]\nresources: []\n",
                );
            })
            .at("base/kustomization.yaml")
            .line("components")
            .field("components")
            .mended(files([("base/kustomization.yaml", "resources: []\n")])),
    ]
}

fn generators() -> Vec<Row> {
    const BARE: &str =
        "generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n- name: x\n";
    let generated = |feature, reason, given: &str, line, field, mended: &str| {
        refused(feature, reason)
            .given(root(&format!("{BARE}{given}")))
            .line(line)
            .field(field)
            .mended(root(&format!("{BARE}{mended}")))
    };
    vec![
        part(
            "configMapGenerator",
            "a generated name with a hash",
            (
                "configMapGenerator:\n- name: x\n  literals: [a=b]",
                "configMapGenerator:\n- name: x\n  literals: [a=b]\n  options: {disableNameSuffixHash: true}",
            ),
            "name: x",
            "configMapGenerator",
        ),
        generated(
            "configMapGenerator",
            "a generator that changes another object",
            "  behavior: merge",
            "behavior",
            "configMapGenerator[0].behavior",
            "  behavior: create",
        ),
        generated(
            "render-failed",
            "a generator's file that is not there",
            "  files:\n  - gone.txt",
            "gone",
            "configMapGenerator[0].files",
            "  files:\n  - web.yaml",
        ),
        generated(
            "render-failed",
            "a generator's lines that are not there",
            "  envs:\n  - gone.env",
            "gone",
            "configMapGenerator[0].envs",
            "  envs: []",
        ),
        generated(
            "render-failed",
            "a literal without an equals sign",
            "  literals:\n  - a=b\n  - c",
            "- c",
            "configMapGenerator[0]",
            "  literals:\n  - a=b\n  - c=",
        ),
        generated(
            "render-failed",
            "a key that two inputs give",
            "  literals:\n  - a=b\n  - a=c",
            "a=c",
            "configMapGenerator[0]",
            "  literals:\n  - a=b\n  - c=c",
        ),
        refused("unparseable", "a generator without a name")
            .given(root(&BARE.replace("name: x", "literals: [a=b]")))
            .line("literals")
            .field("configMapGenerator[0]")
            .mended(root(&format!("{BARE}  literals: [a=b]"))),
        refused("render-failed", "a generated object that is there already")
            .given(root(&BARE.replace("name: x", "name: other")))
            .line("name: other")
            .field("configMapGenerator")
            .mended(root(BARE)),
    ]
}
