//! Where the repository is, and how commands run cargo in it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("because this crate is two folders below the root")
        .to_owned()
}

/// Returns cargo at the root of the repository, as if a person had typed it.
///
/// `cargo run` tells us about our own package through the environment. Build scripts of our
/// dependencies would take that for a change, and everything would be built again.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    for (name, _) in env::vars_os() {
        let told_by_cargo = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_")
                || name.starts_with("CARGO_MANIFEST_")
                || ["CARGO", "CARGO_BIN_NAME", "CARGO_CRATE_NAME", "OUT_DIR"].contains(&name)
        });
        if told_by_cargo {
            command.env_remove(name);
        }
    }
    command
}
