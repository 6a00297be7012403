//! What leaves a new document without a place.

use manifests::Placement;
use model::{IssueKind, RefusalCode, Sensitivity};
use sealing::NewIdentity;

use crate::row::{CONF, Row};
use crate::support::{Bed, encryption};

const HOME: &str = "apps/demo/configmaps/conf.yaml";

const OTHER: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: other
  namespace: demo
data:
  a: |
    one";

const SECRET: &str = "\
apiVersion: v1
kind: Secret
metadata:
  name: conf
  namespace: demo
data:
  p: cGxhaW4=
";

const TENANT: &str = "\
apiVersion: core.cozystack.io/v1
kind: TenantSecret
metadata:
  name: t
  namespace: demo
data:
  p: cGxhaW4=
";

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = paths();
    rows.extend(meetings());
    rows
}

fn put(path: &'static str, text: &'static str) -> impl Fn(&mut Bed) {
    move |bed| bed.put(path, text)
}

fn templates<const N: usize>(
    by_type: [(&'static str, &'static str); N],
    default: Option<&'static str>,
) -> impl Fn(&mut Bed) {
    move |bed| {
        let key = NewIdentity::generate();
        bed.encryption = Some(encryption(&key));
        let read = Placement::read(by_type, default, None, &Sensitivity::default());
        bed.policy.placement = read.unwrap();
    }
}

fn paths() -> Vec<Row> {
    let long = "x".repeat(60);
    let labelled = CONF.replace(
        "  name:",
        &format!("  labels: {{a: {long}, b: {long}, c: {long}, d: {long}}}\n  name:"),
    );
    vec![
        Row::placement(
            RefusalCode::InvalidPath,
            "a folder where the file should be",
        )
        .given(put("apps/demo/configmaps/conf.yaml/note.txt", ""))
        .at(HOME)
        .mended(|bed| {
            bed.remove("apps/demo/configmaps/conf.yaml/note.txt");
            bed.put("apps/demo/configmaps/note.txt", "");
        }),
        Row::placement(RefusalCode::InvalidPath, "a file where a folder should be")
            .given(put("apps/demo", ""))
            .at(HOME)
            .mended(|bed| bed.remove("apps/demo")),
        Row::placement(
            RefusalCode::InvalidPath,
            "a file that becomes a folder in the same batch",
        )
        .given(templates(
            [
                ("v1/configmaps", "x.yaml"),
                ("v1/services", "x.yaml/{name}.yaml"),
            ],
            None,
        ))
        .live([
            CONF,
            "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: demo}}",
        ])
        .at("apps/x.yaml/web.yaml")
        .mended(templates(
            [
                ("v1/configmaps", "x.yaml"),
                ("v1/services", "x/{name}.yaml"),
            ],
            None,
        )),
        Row::placement(RefusalCode::InvalidPath, "a name that no file system holds")
            .given(templates(
                [(
                    "v1/configmaps",
                    "{label:a}-{label:b}-{label:c}-{label:d}-{name}-{namespace}.yaml",
                )],
                None,
            ))
            .live([&labelled])
            .at_part("apps/xxxx")
            .mended(templates(
                [(
                    "v1/configmaps",
                    "{label:a}/{label:b}/{label:c}/{label:d}/{name}.yaml",
                )],
                None,
            )),
        Row::object(
            RefusalCode::IgnoreShadowsManagedPath,
            IssueKind::IgnoreShadowsManaged,
            "a path that the ignore rules hide",
        )
        .given(put("apps/.gittargetignore", "# ours\n/demo/\n"))
        .at(HOME)
        .mended(put("apps/.gittargetignore", "# ours\n/demo/legacy/\n")),
    ]
}

fn meetings() -> Vec<Row> {
    let sealed =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: demo}\nsops: {mac: x}\n";
    let without_key = |bed: &mut Bed| bed.encryption = Some(encryption(&NewIdentity::generate()));
    vec![
        Row::placement(
            RefusalCode::MultiDocumentTarget,
            "a file that takes no further document",
        )
        .given(put(HOME, OTHER))
        .at(HOME)
        .mended(|bed| bed.put(HOME, &format!("{OTHER}\n"))),
        Row::placement(
            RefusalCode::PlaintextOntoEncrypted,
            "a plain object and an encrypted file",
        )
        .given(put(HOME, sealed))
        .at(HOME)
        .mended(|bed| {
            bed.remove(HOME);
            bed.put("apps/x.sops.yaml", sealed);
        }),
        Row::placement(
            RefusalCode::PlaintextOntoEncrypted,
            "a template that names encrypted files",
        )
        .given(templates(
            [("v1/configmaps", "{namespace}/{name}.sops.yaml")],
            None,
        ))
        .at("apps/demo/conf.sops.yaml")
        .mended(templates(
            [("v1/configmaps", "{namespace}/{name}{sensitiveSuffix}")],
            None,
        )),
        Row::placement(
            RefusalCode::SensitiveAppend,
            "a sensitive object and a file that exists",
        )
        .live([SECRET])
        .given(move |bed| {
            without_key(bed);
            bed.put(
                "apps/demo/secrets/conf.sops.yaml",
                &sealed.replace("Secret", "ConfigMap"),
            );
        })
        .at("apps/demo/secrets/conf.sops.yaml")
        .mended(|bed| bed.remove("apps/demo/secrets/conf.sops.yaml")),
        Row::placement(
            RefusalCode::SensitiveAppend,
            "two sensitive objects whose names make one path",
        )
        .live([
            &SECRET
                .replace("name: conf", "name: a-b")
                .replace("demo", "c"),
            &SECRET
                .replace("name: conf", "name: a")
                .replace("demo", "b-c"),
        ])
        .given(templates(
            [("v1/secrets", "{name}-{namespace}{sensitiveSuffix}")],
            None,
        ))
        .at("apps/a-b-c.sops.yaml")
        .mended(templates(
            [("v1/secrets", "{name}/{namespace}{sensitiveSuffix}")],
            None,
        )),
        Row::placement(
            RefusalCode::SensitiveAppend,
            "a shared template that a sensitive type reaches",
        )
        .live([TENANT])
        .given(|bed| {
            *bed = Bed::with_sensitive(&["core.cozystack.io/tenantsecrets"]);
            templates(
                [("v1/secrets", "{namespace}/{name}{sensitiveSuffix}")],
                Some("all.yaml"),
            )(bed);
        })
        .mended(templates(
            [
                ("v1/secrets", "{namespace}/{name}{sensitiveSuffix}"),
                (
                    "core.cozystack.io/v1/tenantsecrets",
                    "t/{namespace}/{name}{sensitiveSuffix}",
                ),
            ],
            Some("all.yaml"),
        )),
        Row::placement(
            RefusalCode::MixedSensitivityNewFile,
            "plain and sensitive objects at one new path",
        )
        .live([CONF, SECRET])
        .given(templates(
            [
                ("v1/configmaps", "{namespace}/{name}.yaml"),
                ("v1/secrets", "{namespace}/{name}.yaml"),
            ],
            None,
        ))
        .at("apps/demo/conf.yaml")
        .mended(templates(
            [
                ("v1/configmaps", "{namespace}/{name}{sensitiveSuffix}"),
                ("v1/secrets", "{namespace}/{name}{sensitiveSuffix}"),
            ],
            None,
        )),
    ]
}
