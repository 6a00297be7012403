//! The command that starts a service on the host.

use model::{RepositoryUrl, Scheme};
use percent_encoding::percent_decode_str;

use crate::conversation::Service;
use crate::error::RemoteError;

/// The user that Git hosts expect when the URL names none.
const USUAL_USER: &str = "git";

/// Whom and what a URL asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) user: String,
    path: String,
}

impl Place {
    /// Reads user and path as Git does: a URL with a scheme is percent-encoded and may name a home folder
    /// behind its slash, the short form is neither.
    pub(super) fn of(url: &RepositoryUrl) -> Result<Self, RemoteError> {
        if url.scheme() != Scheme::Ssh {
            return Err(RemoteError::Unsupported {
                what: "the URL is not one for SSH",
            });
        }
        let written_out = url.as_str().contains("://");
        let decoded = |text: &str| {
            if !written_out {
                return Some(text.to_owned());
            }
            let decoded = percent_decode_str(text).decode_utf8().ok()?;
            Some(decoded.into_owned())
        };
        let usable = |text: &String| !text.starts_with('-') && !text.chars().any(char::is_control);
        let unusable = || RemoteError::Unsupported {
            what: "the URL's user or path starts with a dash or holds a control character",
        };
        let user = decoded(url.user().unwrap_or(USUAL_USER));
        let user = user.filter(usable).ok_or_else(unusable)?;
        let path = decoded(url.path()).map(|path| match path.strip_prefix('/') {
            Some(home) if written_out && home.starts_with('~') => home.to_owned(),
            _ => path,
        });
        let path = path.filter(usable).ok_or_else(unusable)?;
        Ok(Self { user, path })
    }

    /// Returns the command in the quotes of a shell, exactly as Git writes it: hosts that are no shell parse
    /// that form only.
    pub(super) fn command(&self, service: Service) -> String {
        let mut command = format!("{} '", service.as_str());
        for character in self.path.chars() {
            match character {
                '\'' | '!' => command.extend(['\'', '\\', character, '\'']),
                _ => command.push(character),
            }
        }
        command.push('\'');
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> Result<Place, RemoteError> {
        Place::of(&RepositoryUrl::new(url).unwrap())
    }

    #[test]
    fn a_url_becomes_the_command_that_git_would_run() {
        let cases = [
            ("git@h:o/r.git", "git", "git-upload-pack 'o/r.git'"),
            ("git@h:/srv/r", "git", "git-upload-pack '/srv/r'"),
            ("me@h:~you/r", "me", "git-upload-pack '~you/r'"),
            ("git@h:o/r%20s", "git", "git-upload-pack 'o/r%20s'"),
            ("ssh://h/o/r.git", "git", "git-upload-pack '/o/r.git'"),
            ("ssh://me@h:22/o/r%20s", "me", "git-upload-pack '/o/r s'"),
            ("ssh://h/~you/r", "git", "git-upload-pack '~you/r'"),
            ("git@h:it's!", "git", r"git-upload-pack 'it'\''s'\!''"),
            ("git@h:$(x)`y`", "git", "git-upload-pack '$(x)`y`'"),
        ];
        for (url, user, command) in cases {
            let place = place(url).unwrap();
            assert_eq!(place.user, user, "{url}");
            assert_eq!(place.command(Service::UploadPack), command, "{url}");
        }
        let push = place("git@h:r").unwrap().command(Service::ReceivePack);
        assert_eq!(push, "git-receive-pack 'r'");
    }

    #[test]
    fn what_a_shell_or_a_program_could_misread_is_refused() {
        for url in [
            "ssh://h/%2d-x",
            "ssh://%2doProxyCommand=x@h/r",
            "-oProxyCommand=x@h:r",
            "ssh://h/r%0as",
            "ssh://h/r%00",
            "https://h/r",
        ] {
            // A path of a written-out URL begins with its slash, so only the decoded `-` of a user can lead.
            let refused = place(url);
            let leads_with_slash = url == "ssh://h/%2d-x";
            assert_eq!(refused.is_ok(), leads_with_slash, "{url} {refused:?}");
        }
    }
}
