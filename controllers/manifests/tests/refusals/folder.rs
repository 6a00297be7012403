//! What refuses the whole folder.

use model::{FileEntry, IssueKind, RefusalCode};

use crate::row::{CONF, Row};
use crate::support::{Bed, path_of};

const OTHER: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: other
  namespace: demo
";

pub(crate) fn rows() -> Vec<Row> {
    let parts = [entries(), texts(), documents(), identities()];
    parts.into_iter().flatten().collect()
}

fn put(path: &'static str, text: impl Into<String>) -> impl Fn(&mut Bed) {
    let text = text.into();
    move |bed| bed.put(path, &text)
}

fn remove(path: &'static str) -> impl Fn(&mut Bed) {
    move |bed| bed.remove(path)
}

fn entries() -> Vec<Row> {
    let link = |path| move |bed: &mut Bed| bed.put_entry(path, FileEntry::Symlink);
    let module = |path| move |bed: &mut Bed| bed.put_entry(path, FileEntry::Submodule);
    vec![
        Row::folder(
            IssueKind::ForeignSymlink,
            "a symbolic link with the name of a manifest",
        )
        .given(link("apps/link.yaml"))
        .at("apps/link.yaml")
        .mended(put("apps/link.yaml", OTHER)),
        Row::folder(
            IssueKind::ForeignSymlink,
            "a symbolic link that may lead to a folder",
        )
        .given(link("apps/shared"))
        .at("apps/shared")
        .mended(|bed| {
            bed.remove("apps/shared");
            bed.put_entry("apps/shared.txt", FileEntry::Symlink);
        }),
        Row::folder(IssueKind::ForeignSubmodule, "a submodule")
            .given(module("apps/vendor"))
            .at("apps/vendor")
            .mended(|bed| {
                bed.remove("apps/vendor");
                bed.put_entry("vendor", FileEntry::Submodule);
            }),
        Row::folder(
            IssueKind::ForeignFile,
            "ignore rules below the root of the folder",
        )
        .given(put("apps/deep/.gittargetignore", "x.yaml\n"))
        .at("apps/deep/.gittargetignore")
        .mended(|bed| {
            bed.remove("apps/deep/.gittargetignore");
            bed.put("apps/.gittargetignore", "/deep/x.yaml\n");
        }),
        Row::folder(IssueKind::ForeignSymlink, "a link on the way to the folder")
            .given(link("apps"))
            .at("apps")
            .mended(remove("apps")),
        Row::folder(
            IssueKind::ForeignSubmodule,
            "a submodule on the way to the folder",
        )
        .given(module("apps"))
        .at("apps")
        .mended(remove("apps")),
        Row::folder(IssueKind::ForeignFile, "a file on the way to the folder")
            .given(put("apps", "a file\n"))
            .at("apps")
            .mended(remove("apps")),
        Row::folder(IssueKind::UnsupportedKustomize, "a kustomization")
            .given(put(
                "apps/kustomization.yaml",
                "resources: []\ncomponents: [../c]\n",
            ))
            .at("apps/kustomization.yaml")
            .line("components")
            .field("components")
            .mended(remove("apps/kustomization.yaml")),
    ]
}

fn texts() -> Vec<Row> {
    vec![
        Row::folder(IssueKind::IgnoreShadowsManaged, "an ignore pattern that hides all YAML")
            .code(RefusalCode::IgnoreShadowsManagedPath)
            .given(put("apps/.gittargetignore", "# ours\nlegacy/\n**/*.yaml\n"))
            .at("apps/.gittargetignore")
            .line("**/*.yaml")
            .mended(put("apps/.gittargetignore", "# ours\nlegacy/\nold-*.yaml\n")),
        Row::folder(IssueKind::InvalidYaml, "a file that is not UTF-8")
            .given(|bed| {
                let bytes: &[u8] = &[b'a', b':', b' ', 0xff, b'\n'];
                bed.files.put(&path_of("apps/bytes.yaml"), bytes);
            })
            .at("apps/bytes.yaml")
            .mended(put("apps/bytes.yaml", OTHER)),
        Row::folder(IssueKind::InvalidYaml, "a file that does not parse")
            .given(put("apps/broken.yaml", "apiVersion: v1\nmetadata:\n\tname: x\n"))
            .at("apps/broken.yaml")
            .line("\tname")
            .mended(put("apps/broken.yaml", OTHER)),
        Row::folder(IssueKind::InvalidYaml, "an encrypted file's name without encryption")
            .given(put("apps/plain.sops.yaml", OTHER))
            .at("apps/plain.sops.yaml")
            .line("apiVersion")
            .field("sops")
            .mended(|bed| {
                bed.remove("apps/plain.sops.yaml");
                bed.put("apps/plain.yaml", OTHER);
            }),
        Row::folder(IssueKind::NonKrmYaml, "YAML that is no Kubernetes object")
            .given(put("apps/values.yaml", "# of the chart\nreplicas: 2\n"))
            .at("apps/values.yaml")
            .line("replicas")
            .field("apiVersion")
            .mended(put("apps/.gittargetignore", "/values.yaml\n")),
        Row::folder(IssueKind::NonKrmYaml, "an object without a name")
            .given(put("apps/nameless.yaml", "apiVersion: v1\nkind: ConfigMap\n"))
            .at("apps/nameless.yaml")
            .line("apiVersion")
            .field("metadata.name")
            .mended(put("apps/nameless.yaml", OTHER)),
        Row::folder(IssueKind::NonKrmYaml, "a list of objects in one document")
            .given(put(
                "apps/all.yaml",
                "# exported\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: other, namespace: demo}\n",
            ))
            .at("apps/all.yaml")
            .line("items:")
            .field("items")
            .mended(put("apps/all.yaml", OTHER)),
    ]
}

fn documents() -> Vec<Row> {
    let third = OTHER.replace("other", "third");
    vec![
        Row::folder(
            IssueKind::ImpureManagedFile,
            "an empty document beside others",
        )
        .given(put(
            "apps/many.yaml",
            format!("{OTHER}---\n# nothing here\n--- # empty\n{third}"),
        ))
        .at("apps/many.yaml")
        .line("---")
        .mended(put(
            "apps/many.yaml",
            format!("{OTHER}---\n# nothing here\n{third}"),
        )),
        Row::folder(
            IssueKind::ImpureManagedFile,
            "something else beside Kubernetes documents",
        )
        .given(put("apps/many.yaml", format!("{OTHER}---\nreplicas: 2\n")))
        .at("apps/many.yaml")
        .line("replicas")
        .field("apiVersion")
        .mended(put("apps/many.yaml", format!("{OTHER}---\n{third}"))),
        Row::folder(
            IssueKind::MixedManagedAllowlisted,
            "an object in the configuration of SOPS",
        )
        .given(put(
            "apps/.sops.yaml",
            format!("creation_rules: []\n---\n{OTHER}"),
        ))
        .at("apps/.sops.yaml")
        .line("apiVersion")
        .mended(|bed| {
            bed.put("apps/.sops.yaml", "creation_rules: []\n");
            bed.put("apps/other.yaml", OTHER);
        }),
    ]
}

fn identities() -> Vec<Row> {
    let old = CONF.replace("two", "one");
    let deployment =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: demo}\n";
    let beta = deployment
        .replace("apps/v1", "apps/v1beta1")
        .replace("{name", "{ name");
    let sealed = format!("# sealed\n{old}sops: {{mac: x}}\n");
    let in_two_files = {
        let old = old.clone();
        move |bed: &mut Bed| {
            bed.put("apps/a.yaml", &old);
            bed.put("apps/b.yaml", &format!("# again\n{old}"));
        }
    };
    let plain_and_sealed = {
        let old = old.clone();
        move |bed: &mut Bed| {
            bed.put("apps/a.yaml", &old);
            bed.put("apps/b.sops.yaml", &sealed);
        }
    };
    vec![
        Row::folder(IssueKind::DuplicateIdentity, "one object in two files")
            .given(in_two_files)
            .at("apps/b.yaml")
            .line("name:")
            .field("metadata.name")
            .mended(remove("apps/b.yaml")),
        Row::folder(IssueKind::DuplicateIdentity, "one object twice in a file")
            .given(put(
                "apps/a.yaml",
                format!("{old}---\n{}", old.replace("name: conf", "name: 'conf'")),
            ))
            .at("apps/a.yaml")
            .line("name: 'conf'")
            .field("metadata.name")
            .mended(put("apps/a.yaml", old)),
        Row::folder(
            IssueKind::DuplicateIdentity,
            "one object plain and encrypted",
        )
        .given(plain_and_sealed)
        .at("apps/b.sops.yaml")
        .line("name:")
        .field("metadata.name")
        .mended(remove("apps/b.sops.yaml")),
        Row::folder(IssueKind::DuplicateIdentity, "one object in two versions")
            .given(put("apps/a.yaml", format!("{deployment}---\n{beta}")))
            .at("apps/a.yaml")
            .line("{ name: web")
            .field("metadata.name")
            .mended(put("apps/a.yaml", deployment)),
    ]
}
