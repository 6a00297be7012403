//! For whom a GitTarget's sensitive objects are encrypted: `asked` reads what the target says and `keys` what its
//! Secret holds, both pure; this file fetches the Secret, and has a key made where the target wants one.

mod asked;
mod key_secret;
mod keys;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crds::GitTarget;
use fleet::TargetEncryption;
use manifests::Encryption;
use policy::{EncryptionGate, EncryptionProblem};

use self::asked::Asked;
use self::keys::{Found, Keys};
use crate::context::Context;
use crate::failure::Failure;
use crate::fingerprint_key::KeyFault;
use crate::place::{Place, is_leaving};

/// What is known of a target's encryption.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// What its condition says.
    pub(super) gate: EncryptionGate,
    /// What its branch writer is given.
    pub(super) order: Option<TargetEncryption>,
    /// What a person still has to do.
    pub(super) reminder: Option<String>,
}

/// Why sensitive objects cannot be encrypted. The text shows no key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    kind: EncryptionProblem,
    message: String,
}

impl Prepared {
    /// Nothing is asked for.
    pub(super) fn off() -> Self {
        Self {
            gate: EncryptionGate::NotRequired,
            order: None,
            reminder: None,
        }
    }

    /// The keys could not be read now; those that are in use stay in use.
    pub(super) fn as_before(before: Option<&TargetEncryption>) -> Self {
        let Some(order) = before else {
            return Self::off();
        };
        Self {
            gate: EncryptionGate::Ready {
                message: "the keys could not be read again and those known before are used; the log says why"
                    .to_owned(),
            },
            order: Some(order.clone()),
            reminder: None,
        }
    }

    fn faulty(fault: Fault) -> Self {
        Self {
            gate: EncryptionGate::Problem {
                kind: fault.kind,
                message: fault.message,
            },
            order: None,
            reminder: None,
        }
    }
}

/// Reads the keys, and makes what is missing and may be made.
pub(super) async fn prepare(
    context: &Context,
    place: &Place,
    target: &GitTarget,
) -> Result<Prepared, Failure> {
    let asked = match asked::read(place, target) {
        // A Secret that is deleted together with its target is not made anew.
        Ok(Some(asked)) => Asked {
            make: asked.make && !is_leaving(target),
            ..asked
        },
        Ok(None) => return Ok(Prepared::off()),
        Err(fault) => return Ok(Prepared::faulty(fault)),
    };
    let keys = match find_keys(context, &asked).await? {
        Ok(keys) => keys,
        Err(fault) => return Ok(Prepared::faulty(fault)),
    };
    let own = &context.settings.namespace;
    let fingerprint_key = match context.fingerprint_key.get(&context.client, own).await {
        Ok(key) => key,
        Err(KeyFault::Unusable(problem)) => {
            return Ok(Prepared::faulty(Fault::invalid(problem)));
        }
        Err(KeyFault::Api(failure)) => return Err(failure),
    };
    let stamp = keys.stamp();
    let gate = EncryptionGate::Ready {
        message: keys.message(),
    };
    let encryption = Encryption {
        recipients: keys.recipients,
        identities: Arc::new(keys.identities),
        fingerprint_key: Some(fingerprint_key),
    };
    let encryption = Arc::new(encryption);
    Ok(Prepared {
        gate,
        order: Some(TargetEncryption { stamp, encryption }),
        reminder: keys.reminder,
    })
}

/// Reads the target's Secret; one without a key gets one where the target says so.
async fn find_keys(context: &Context, asked: &Asked) -> Result<Result<Keys, Fault>, Failure> {
    let Some(secret_place) = &asked.secret else {
        return Ok(keys::without_secret(asked));
    };
    let secret = match context.secret(secret_place).await {
        Ok(secret) => secret,
        Err(failure) if failure.is_forbidden() => {
            return Ok(Err(Fault::invalid(format!(
                "Secret {secret_place} cannot be read: the operator may not; give it get on Secrets in the namespace"
            ))));
        }
        Err(failure) => return Err(failure),
    };
    match keys::read(asked, secret_place, secret.as_ref()) {
        Found::Keys(keys) => Ok(Ok(*keys)),
        Found::Faulty(fault) => Ok(Err(fault)),
        Found::NoKey => match key_secret::make(context, secret_place, secret).await? {
            Ok(made) => match keys::read(asked, secret_place, Some(&made)) {
                Found::Keys(keys) => Ok(Ok(*keys)),
                Found::Faulty(fault) => Ok(Err(fault)),
                Found::NoKey => Ok(Err(Fault::invalid(format!(
                    "a key was made in Secret {secret_place} and is not in it; look at what changes the Secret"
                )))),
            },
            Err(fault) => Ok(Err(fault)),
        },
    }
}

impl Fault {
    fn invalid(message: String) -> Self {
        Self {
            kind: EncryptionProblem::InvalidConfig,
            message,
        }
    }
}
