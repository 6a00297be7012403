//! Keeps our own credential out of what a server says: a hook may print what it was called with.
//!
//! [`text`](crate::text) recognises what looks like a credential; here the one is known that was sent, in each form
//! that a server may repeat it in. A text may have been cut or changed before, so parts of it are hidden too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use model::Secret;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::credential::Credential;
use crate::error::RemoteError;
use crate::remote::PushOutcome;
use crate::text::HIDDEN;

/// A shorter password would be found in the middle of words.
const SHORTEST: usize = 4;
/// A part of a longer one is hidden from this length on.
const PART: usize = 6;
/// What a URL cannot hold as it is.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Hides nothing.
pub(crate) static NOTHING: Veil = Veil { forms: Vec::new() };

/// What must not be shown of what a server says.
#[derive(Debug, Clone)]
pub(crate) struct Veil {
    forms: Vec<Secret<String>>,
}

impl Veil {
    /// Hides what goes over the wire of a credential. Of an SSH key nothing does.
    pub(crate) fn over(credential: &Credential) -> Self {
        let mut forms = Vec::new();
        let mut hide = |secret: &str| {
            let percent = utf8_percent_encode(secret, RESERVED).to_string();
            forms.extend([secret.to_owned(), percent]);
        };
        match credential {
            Credential::Anonymous | Credential::SshKey(_) => {}
            Credential::Bearer(token) => hide(token.expose()),
            Credential::Basic { username, password } => {
                hide(password.expose());
                let pair = format!("{username}:{}", password.expose());
                forms.push(STANDARD_NO_PAD.encode(pair));
            }
        }
        forms.retain(|form| form.len() >= SHORTEST);
        Self {
            forms: forms.into_iter().map(Secret::new).collect(),
        }
    }

    /// Hides it in the texts of an error.
    pub(crate) fn error(&self, mut error: RemoteError) -> RemoteError {
        if let Some(text) = error.text_of_the_server() {
            *text = self.hide(text);
        }
        error
    }

    /// Hides it in what a push came to.
    pub(crate) fn push(&self, outcome: PushOutcome) -> PushOutcome {
        match outcome {
            PushOutcome::Refused { text } => PushOutcome::Refused {
                text: self.hide(&text),
            },
            PushOutcome::Transient(error) => PushOutcome::Transient(self.error(error)),
            PushOutcome::Failed(error) => PushOutcome::Failed(self.error(error)),
            PushOutcome::Ambiguous { sent, cause } => PushOutcome::Ambiguous {
                sent,
                cause: self.error(cause),
            },
            known @ (PushOutcome::Landed { .. } | PushOutcome::Moved { .. }) => known,
        }
    }

    /// Hides every form, and every part of one that is long enough to tell something.
    fn hide(&self, text: &str) -> String {
        let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(next) = rest.chars().next() {
            let forms = self.forms.iter().map(Secret::expose);
            let hidden = forms.map(|form| hidden_at(rest, form)).max().unwrap_or(0);
            if hidden == 0 {
                shown.push(next);
                rest = &rest[next.len_utf8()..];
            } else {
                // Parts that touch are one.
                if !shown.ends_with(HIDDEN) {
                    shown.push_str(HIDDEN);
                }
                rest = &rest[hidden..];
            }
        }
        shown
    }
}

/// Returns how much of a text's beginning is a form, or a part of one. Hexadecimal digits have two cases.
fn hidden_at(text: &str, form: &str) -> usize {
    let wanted = PART.min(form.len());
    let starts = form.char_indices().map(|(start, _)| &form[start..]);
    let common = |part: &str| {
        let pairs = text.char_indices().zip(part.chars());
        let same = pairs.take_while(|((_, a), b)| a.eq_ignore_ascii_case(b));
        same.last()
            .map_or(0, |((at, last), _)| at + last.len_utf8())
    };
    let longest = starts.map(common).max().unwrap_or(0);
    if longest >= wanted { longest } else { 0 }
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
        let veil = basic("s@3/cr+et-7");
        let cases = [
            ("denied for s@3/cr+et-7", "denied for ***"),
            (
                "https://bot:s%403%2Fcr%2Bet-7@git.test/",
                "https://bot:***@git.test/",
            ),
            ("s%403%2fcr%2bet-7, twice", "***, twice"),
            ("got Ym90OnNAMy9jcitldC03 and left", "got *** and left"),
            // What is left where the part before it was taken for a user and a password.
            ("https://***@3/cr+et-7@git.test/", "https://***@git.test/"),
            (
                "cut off in the middle: s@3/cr",
                "cut off in the middle: ***",
            ),
            ("too short to tell: s@3/c", "too short to tell: s@3/c"),
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
        assert_eq!(basic("cat").hide("the cat"), "the cat");
        assert_eq!(basic("four").hide("all four"), "all ***");
    }
}
