//! The Go installation: which version, for which platform, and one clear line when it will not do.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

/// What the `go` command says about itself.
#[derive(Clone, Debug)]
pub(super) struct Go {
    /// Such as `go1.26.8`.
    pub(super) version: String,
    /// Such as `linux/amd64`.
    pub(super) platform: String,
}

impl Go {
    /// Asks the `go` that builds the module in `folder`, which wants at least version `wanted`.
    pub(super) fn find(folder: &Path, wanted: &str) -> Result<Self> {
        // The folder matters: a Go that may fetch a newer toolchain decides by the go.mod there.
        let answer = Command::new("go")
            .args(["env", "GOVERSION", "GOOS", "GOARCH"])
            .env("GOWORK", "off")
            .current_dir(folder)
            .output()
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => anyhow!(
                    "Go is not installed, and the control plane is built with it: install Go \
                     {wanted} or newer from https://go.dev/dl"
                ),
                _ => anyhow!(error).context("cannot run go"),
            })?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let mut lines = text.lines().map(str::to_owned);
        let (Some(version), Some(system), Some(architecture)) =
            (lines.next(), lines.next(), lines.next())
        else {
            let complaint = String::from_utf8_lossy(&answer.stderr);
            bail!(
                "the control plane needs Go {wanted} or newer, and the one installed says: {}",
                complaint.trim()
            );
        };
        check_version(&version, wanted)?;
        Ok(Self {
            version,
            platform: format!("{system}/{architecture}"),
        })
    }
}

fn check_version(installed: &str, wanted: &str) -> Result<()> {
    let too_old = match (version_parts(installed), version_parts(wanted)) {
        (Some(installed), Some(wanted)) => installed < wanted,
        // A development build has no number; the compiler will tell whether it is new enough.
        (None, _) => false,
        (_, None) => return Err(anyhow!("{wanted} is not a Go version")),
    };
    if too_old {
        bail!(
            "{installed} is too old to build the control plane: install Go {wanted} or newer from \
             https://go.dev/dl"
        );
    }
    Ok(())
}

/// Reads `go1.26.8`, `1.26`, `go1.27rc1` as three numbers.
fn version_parts(text: &str) -> Option<[u32; 3]> {
    let text = text.strip_prefix("go").unwrap_or(text);
    let numeric: &str = text
        .split(|c: char| c != '.' && !c.is_ascii_digit())
        .next()?;
    let mut parts = [0; 3];
    for (part, digits) in parts.iter_mut().zip(numeric.split('.')) {
        *part = digits.parse().ok()?;
    }
    Some(parts)
}

/// Reads the version from the `go` line of a go.mod file.
pub(super) fn wanted_version(go_mod: &str) -> Result<&str> {
    go_mod
        .lines()
        .find_map(|line| line.strip_prefix("go "))
        .map(str::trim)
        .context("the go.mod file has no line that starts with `go `")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let cases = [
            ("go1.26.8", "1.26.0", true),
            ("go1.26", "1.26.0", true),
            ("go1.27rc1", "1.26.0", true),
            ("go1.9.7", "1.26.0", false),
            ("go1.25.12", "1.26.0", false),
            ("devel go1.28-abcdef", "1.26.0", true),
        ];
        for (installed, wanted, fine) in cases {
            assert_eq!(
                check_version(installed, wanted).is_ok(),
                fine,
                "{installed}"
            );
        }
    }

    #[test]
    fn an_old_go_is_told_in_one_line() {
        let error = check_version("go1.19.2", "1.26.0").unwrap_err().to_string();
        assert!(
            error.contains("go1.19.2") && error.contains("1.26.0"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }
}
