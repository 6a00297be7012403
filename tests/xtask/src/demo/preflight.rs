//! What has to be there before anything is started, each told in one line when it is not.

use std::env;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use e2e::installation::Ports;

use super::Arguments;

/// Programs of the machine, and what a person does about a missing one.
const PROGRAMS: [(&str, &str); 4] = [
    (
        "go",
        "Go is not installed, and the control plane is built with it: install it from https://go.dev/dl",
    ),
    (
        "cc",
        "there is no C compiler (cc), and Rust links with it: install gcc or clang",
    ),
    (
        "make",
        "make is not installed, and the operator's allocator is built with it: install the package make",
    ),
    (
        "git",
        "git is not installed, and the Git server of the demo runs it: install the package git",
    ),
];

/// Fails with one line when something is missing.
pub(super) fn check(arguments: &Arguments) -> Result<()> {
    for (program, remedy) in PROGRAMS {
        ensure!(is_installed(program), "{remedy}");
    }
    if let Some(kubeconfig) = &arguments.kubeconfig {
        ensure!(
            kubeconfig.is_file(),
            "there is no kubeconfig {}",
            kubeconfig.display()
        );
    }
    if let Some(ports) = ports(arguments)? {
        for port in [ports.api, ports.health, ports.metrics] {
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
            free.map(drop).with_context(|| {
                format!("port {port} of 127.0.0.1 cannot be used, choose others with --first-port")
            })?;
        }
    }
    Ok(())
}

/// Returns the ports that the operator was told to take.
pub(super) fn ports(arguments: &Arguments) -> Result<Option<Ports>> {
    let Some(first) = arguments.first_port else {
        return Ok(None);
    };
    let after = |more: u16| {
        first
            .checked_add(more)
            .with_context(|| format!("there are no two ports after {first}"))
    };
    Ok(Some(Ports {
        api: first,
        health: after(1)?,
        metrics: after(2)?,
    }))
}

fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
