//! Secrets in builds.

use manifests::{Decision, Intent};
use sealing::NewIdentity;

use crate::support::{Bed, changed_lines, id};
use crate::{ROOT, config, folder};

fn secret(value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: login\n  namespace: demo\ntype: Opaque\ndata:\n  p: {value}\n"
    )
}

fn sealed(root: &str) -> Bed {
    folder(root).sealed_for(&NewIdentity::generate())
}

fn forget() -> Intent {
    Intent::Remove {
        id: id("", "secrets", "login"),
    }
}

#[test]
fn rg_8_a_sealed_file_is_listed_changed_and_taken_out() {
    for root in [
        "namespace: demo\nresources:\n- web.yaml\n- all.yaml\n",
        "resources:\n- web.yaml\n- all.yaml\n",
    ] {
        let mut bed = sealed(root);
        let start = bed.clone();
        let outcome = bed.apply(&[bed.upsert(&secret("YQ==")), bed.upsert(&config("new", "x"))]);
        assert_eq!(outcome.refusals().count(), 0, "{:?}", outcome.decisions);
        let path = bed
            .paths()
            .into_iter()
            .find(|path| path.ends_with("login.sops.yaml"))
            .unwrap();
        assert!(!bed.text(&path).contains("YQ=="));
        assert_eq!(bed.mirror(&secret("YQ==")), Vec::<String>::new());
        assert!(!bed.mirror(&secret("Yg==")).is_empty());
        bed.apply(&[
            forget(),
            Intent::Remove {
                id: id("", "configmaps", "new"),
            },
        ]);
        assert_eq!(changed_lines(&start, &bed), Vec::<String>::new());
    }
}

#[test]
fn se_7_a_plain_secret_that_is_listed_is_replaced_with_its_entry() {
    let plain = secret("YQ==").replace("  namespace: demo\n", "");
    let mut bed =
        sealed("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n- login.yaml # secret\n");
    bed.put("apps/login.yaml", &plain);
    let outcome = bed.apply(&[bed.upsert(&secret("YQ=="))]);
    assert_eq!(outcome.refusals().count(), 0);
    assert!(
        bed.paths()
            .iter()
            .all(|path| !bed.text(path).contains("YQ=="))
    );
    assert!(bed.text(ROOT).ends_with("\n- login.sops.yaml # secret\n"));
    assert_eq!(bed.find("apps/login.yaml"), None);
    // A plain one beside others in one file.
    let mut bed = sealed("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n");
    let all = format!("{}---\n{plain}", bed.text("apps/all.yaml"));
    bed.put("apps/all.yaml", &all);
    let before = bed.clone();
    let outcome = bed.apply(&[bed.upsert(&secret("Yg==")), bed.upsert(&config("a", "z"))]);
    assert_eq!(outcome.refusals().count(), 0, "{:?}", outcome.decisions);
    assert_eq!(
        bed.text("apps/all.yaml"),
        before
            .text("apps/all.yaml")
            .replace(&format!("---\n{plain}"), "")
            .replacen("key: x", "key: z", 1)
    );
    assert!(bed.text(ROOT).ends_with("- login.sops.yaml\n"));
    let outcome = bed.apply(&[forget()]);
    assert!(matches!(
        outcome.decisions[0].decision,
        Decision::Removed { .. }
    ));
    assert_eq!(bed.text(ROOT), before.text(ROOT));
}

#[test]
fn se_1_without_a_key_a_secret_is_refused_and_its_neighbours_land() {
    let mut bed = folder("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n");
    let outcome = bed.apply(&[bed.upsert(&secret("YQ==")), bed.upsert(&config("new", "x"))]);
    assert_eq!(outcome.refusals().count(), 1);
    assert!(bed.text(ROOT).contains("new.yaml"));
}

#[test]
fn rg_6_a_root_that_is_made_lists_sealed_files_and_no_configuration() {
    let mut bed = Bed::new().sealed_for(&NewIdentity::generate());
    bed.policy.bootstrap = true;
    let read = manifests::Placement::read(
        [] as [(&str, &str); 0],
        None,
        Some(true),
        &model::Sensitivity::default(),
    );
    bed.policy.placement = read.unwrap();
    let outcome = bed.apply(&[bed.upsert(&secret("YQ==")), bed.upsert(&config("new", "x"))]);
    assert_eq!(outcome.refusals().count(), 0, "{:?}", outcome.decisions);
    assert_eq!(
        bed.text(ROOT),
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - login.sops.yaml\n  - new.yaml\n"
    );
    assert!(bed.find("apps/.sops.yaml").is_some());
}
