//! What tests need from the machine beyond Rust, Go and git.

use std::process::Command;

use anyhow::{Context, Result, bail};
use testkit::git::find_sshd;

/// Installs the SSH server where we may, and otherwise says what to install.
pub(super) fn openssh_server() -> Result<()> {
    if find_sshd().is_ok() {
        return Ok(());
    }
    let installed = is_root()? && apt_get(&["update"]) && apt_get(&["install", "-y", PACKAGE]);
    if !installed {
        bail!("the tests of Git over SSH run a real sshd: install the package {PACKAGE}");
    }
    find_sshd().map(drop)
}

const PACKAGE: &str = "openssh-server";

fn is_root() -> Result<bool> {
    let output = Command::new("id")
        .arg("-u")
        .output()
        .context("cannot run id")?;
    Ok(output.stdout.trim_ascii() == b"0")
}

/// Returns whether the package manager is there and did what it was told.
fn apt_get(arguments: &[&str]) -> bool {
    Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .is_ok_and(|status| status.success())
}
