//! Keeps our own credential out of what a server says: a hook may print what it was called with.
//!
//! [`text`](crate::text) recognises what looks like a credential; here the one is known that was sent, in each form
//! that a server may repeat it in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Secret;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::credential::Credential;
use crate::error::RemoteError;
use crate::remote::PushOutcome;
use crate::text::{CUT, HIDDEN};

/// A shorter password would be found in the middle of words.
const SHORTEST: usize = 4;

/// Hides nothing.
pub(crate) static NOTHING: Veil = Veil {
    secrets: Vec::new(),
};

/// What must not be shown of what a server says.
#[derive(Debug, Clone)]
pub(crate) struct Veil {
    /// Longest first, because one may hold another.
    secrets: Vec<Secret<String>>,
}

impl Veil {
    /// Hides what goes over the wire of a credential. Of an SSH key nothing does.
    pub(crate) fn over(credential: &Credential) -> Self {
        let mut forms = match credential {
            Credential::Anonymous | Credential::SshKey(_) => Vec::new(),
            Credential::Bearer(token) => vec![token.expose().clone()],
            Credential::Basic { username, password } => {
                let password = password.expose();
                vec![
                    password.clone(),
                    utf8_percent_encode(password, NON_ALPHANUMERIC).to_string(),
                    STANDARD.encode(format!("{username}:{password}")),
                ]
            }
        };
        forms.retain(|form| form.len() >= SHORTEST);
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Self {
            secrets: forms.into_iter().map(Secret::new).collect(),
        }
    }

    /// Hides it in the texts of an error.
    pub(crate) fn error(&self, mut error: RemoteError) -> RemoteError {
        if let Some(text) = error.text_of_the_server() {
            self.hide(text);
        }
        error
    }

    /// Hides it in what a push came to.
    pub(crate) fn push(&self, outcome: PushOutcome) -> PushOutcome {
        match outcome {
            PushOutcome::Refused { mut text } => {
                self.hide(&mut text);
                PushOutcome::Refused { text }
            }
            PushOutcome::Transient(error) => PushOutcome::Transient(self.error(error)),
            PushOutcome::Failed(error) => PushOutcome::Failed(self.error(error)),
            PushOutcome::Ambiguous { sent, cause } => PushOutcome::Ambiguous {
                sent,
                cause: self.error(cause),
            },
            known @ (PushOutcome::Landed { .. } | PushOutcome::Moved { .. }) => known,
        }
    }

    fn hide(&self, text: &mut String) {
        for secret in &self.secrets {
            let secret = secret.expose();
            if text.contains(secret) {
                *text = text.replace(secret, HIDDEN);
            }
            hide_cut(text, secret);
        }
    }
}

/// Hides the beginning of a secret where a long text was cut in the middle of it.
fn hide_cut(text: &mut String, secret: &str) {
    let Some(shown) = text.strip_suffix(CUT) else {
        return;
    };
    let ends = secret.char_indices().map(|(end, _)| &secret[..end]);
    let part = ends
        .rev()
        .find(|part| part.len() >= SHORTEST && shown.ends_with(part));
    if let Some(part) = part {
        let kept = shown.len() - part.len();
        text.replace_range(kept..kept + part.len(), HIDDEN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(password: &str) -> Veil {
        Veil::over(&Credential::Basic {
            username: "bot".to_owned(),
            password: Secret::new(password.to_owned()),
        })
    }

    #[test]
    fn b013_a_server_that_repeats_our_credential_is_not_repeated() {
        let veil = basic("s/cr+et");
        let cases = [
            ("denied for s/cr+et", "denied for ***"),
            (
                "https://bot:s%2Fcr%2Bet@git.test/",
                "https://bot:***@git.test/",
            ),
            ("got Ym90OnMvY3IrZXQ= and left", "got *** and left"),
            (
                "a long text that ends in s/cr+…",
                "a long text that ends in ***…",
            ),
            ("not cut s/cr+", "not cut s/cr+"),
        ];
        for (said, shown) in cases {
            let outcome = veil.push(PushOutcome::Refused {
                text: said.to_owned(),
            });
            let PushOutcome::Refused { text } = outcome else {
                unreachable!("because the kind of an outcome stays");
            };
            assert_eq!(text, shown);
        }
    }

    #[test]
    fn a_token_is_hidden_and_a_password_of_three_letters_is_not_looked_for() {
        let token = Veil::over(&Credential::Bearer(Secret::new("0123abcd".to_owned())));
        let error = token.error(RemoteError::ServerError {
            status: 500,
            words: "no 0123abcd here".to_owned(),
            retry_after: None,
        });
        assert_eq!(
            error.to_string(),
            "the server answered HTTP 500: no *** here"
        );
        let mut text = "the cat".to_owned();
        basic("cat").hide(&mut text);
        assert_eq!(text, "the cat");
    }
}
