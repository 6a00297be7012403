//! Who is believed on the server's own port, and that nobody notices when the front proxy's
//! certificates are replaced.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use testkit::pki::Authority;
use testkit::{ControlPlane, Kubectl, wait};

use crate::extension::{Extension, NAMESPACE, WIDGETS};

const CONFIG_MAP: &str = "extension-apiserver-authentication";

#[test]
fn only_the_front_proxy_may_say_who_asks_and_its_certificates_may_change() -> Result<()> {
    let control_plane = ControlPlane::start()?;
    let extension = Extension::start(&control_plane)?;
    forged_requests(&control_plane, &extension)?;
    own_credentials(&control_plane, &extension)?;
    let old = control_plane
        .front_proxy()
        .issue_client("front-proxy-client")?;
    rotation(&control_plane, &extension)?;
    // The API server adds authorities to the ConfigMap and never takes one out, so the old one is
    // believed until somebody deletes the object.
    assert_eq!(extension.ask_directly(Some(&old), WIDGETS, FORGED)?.0, 200);
    revocation(&control_plane, &extension)?;
    assert_eq!(extension.ask_directly(Some(&old), WIDGETS, FORGED)?.0, 401);
    extension.stop()
}

const FORGED: &[(&str, &str)] = &[
    ("X-Remote-User", "root"),
    ("X-Remote-Group", "system:masters"),
];

fn forged_requests(control_plane: &ControlPlane, extension: &Extension) -> Result<()> {
    let front_proxy = control_plane.front_proxy();
    assert_eq!(extension.ask_directly(None, WIDGETS, FORGED)?.0, 401);
    assert_eq!(
        extension
            .ask_directly(None, "/apis/example.test/v1", &[])?
            .0,
        401
    );
    let wrong_name = front_proxy.issue_client("somebody-else")?;
    let (code, body) = extension.ask_directly(Some(&wrong_name), WIDGETS, FORGED)?;
    assert_eq!(code, 401, "{body}");
    let evil = Authority::new("evil")?.issue_client("front-proxy-client", None)?;
    assert_eq!(extension.ask_directly(Some(&evil), WIDGETS, FORGED)?.0, 401);
    let right = front_proxy.issue_client("front-proxy-client")?;
    let (code, body) = extension.ask_directly(Some(&right), WIDGETS, FORGED)?;
    assert_eq!(code, 200, "{body}");
    let nobody = [("X-Remote-User", "nobody-in-particular")];
    let (code, body) = extension.ask_directly(Some(&right), WIDGETS, &nobody)?;
    assert!(
        code == 403 && body.contains("nobody-in-particular"),
        "{code} {body}"
    );
    assert_eq!(
        extension.ask_directly(None, "/readyz", &[])?,
        (200, "ok".to_owned())
    );
    Ok(())
}

fn own_credentials(control_plane: &ControlPlane, extension: &Extension) -> Result<()> {
    let clients = control_plane.client_authority();
    let carol = clients.issue_client("carol", Some("staff"))?;
    let (code, body) = extension.ask_directly(Some(&carol), WIDGETS, FORGED)?;
    assert!(
        code == 403 && body.contains(r#"User \"carol\""#),
        "{code} {body}"
    );
    let administrator = clients.issue_client("root", Some("system:masters"))?;
    assert_eq!(
        extension
            .ask_directly(Some(&administrator), WIDGETS, &[])?
            .0,
        200
    );

    let token = control_plane.service_account_token(NAMESPACE, "widget-server", None)?;
    let bearer = format!("Bearer {token}");
    let (code, body) =
        extension.ask_directly(None, WIDGETS, &[("Authorization", bearer.as_str())])?;
    assert!(
        code == 403 && body.contains("system:serviceaccount:demo-system:widget-server"),
        "{code} {body}"
    );
    let garbage = [("Authorization", "Bearer garbage")];
    assert_eq!(extension.ask_directly(None, WIDGETS, &garbage)?.0, 401);
    Ok(())
}

fn rotation(control_plane: &ControlPlane, extension: &Extension) -> Result<()> {
    let front_proxy = control_plane.front_proxy();
    let over = AtomicBool::new(false);
    let reads = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| read_until(&extension.admin, &over, &reads));
        let rotated = (|| {
            let some_reads = || {
                let seen = reads.load(Ordering::SeqCst);
                wait::until("three more reads", wait::GENEROUS, || {
                    (reads.load(Ordering::SeqCst) >= seen + 3 || reading.is_finished())
                        .then_some(())
                })
            };
            some_reads()?;
            front_proxy.trust_new_authority()?;
            wait_for_authorities(&extension.admin, 2)?;
            some_reads()?;
            front_proxy.switch_certificate()?;
            some_reads()?;
            front_proxy.drop_old_authority()?;
            let new = front_proxy.issue_client("front-proxy-client")?;
            wait::until_ok("the new certificate to be believed", wait::GENEROUS, || {
                let (code, body) = extension.ask_directly(Some(&new), WIDGETS, FORGED)?;
                ensure!(code == 200, "{code} {body}");
                Ok(())
            })?;
            some_reads()
        })();
        over.store(true, Ordering::SeqCst);
        let read = reading.join().unwrap();
        rotated.and(read)
    })?;
    eprintln!(
        "{} reads during the rotation, none failed",
        reads.load(Ordering::SeqCst)
    );
    Ok(())
}

fn read_until(admin: &Kubectl, over: &AtomicBool, reads: &AtomicUsize) -> Result<()> {
    while !over.load(Ordering::SeqCst) {
        let rows = admin.run(&["get", "widgets", "-A", "--no-headers"])?;
        ensure!(rows.lines().count() == 3, "{rows}");
        reads.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}

fn wait_for_authorities(admin: &Kubectl, count: usize) -> Result<()> {
    wait::until_ok("the authorities in the ConfigMap", wait::GENEROUS, || {
        let object = admin.json(&["get", "configmap", CONFIG_MAP, "-n", "kube-system"])?;
        let bundle = object["data"]["requestheader-client-ca-file"]
            .as_str()
            .unwrap_or_default();
        let found = bundle.matches("BEGIN CERTIFICATE").count();
        ensure!(found == count, "{found} authorities");
        Ok(())
    })
}

fn revocation(control_plane: &ControlPlane, extension: &Extension) -> Result<()> {
    let admin = &extension.admin;
    let new = control_plane
        .front_proxy()
        .issue_client("front-proxy-client")?;
    admin.run(&["delete", "configmap", CONFIG_MAP, "-n", "kube-system"])?;
    wait_for_authorities(admin, 1)?;
    wait::until_ok(
        "the new authority to be believed again",
        wait::GENEROUS,
        || {
            let (code, body) = extension.ask_directly(Some(&new), WIDGETS, FORGED)?;
            ensure!(code == 200, "{code} {body}");
            Ok(())
        },
    )?;
    wait::until_ok(
        "the aggregation layer to get through",
        wait::GENEROUS,
        || admin.run(&["get", "widgets", "-A"]),
    )?;
    Ok(())
}
