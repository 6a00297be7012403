//! The key that the commits of a GitProvider are signed with: `key_secret` reads one out of a Secret and puts a new one
//! in, pure; this file talks to the API server, and gives branch writers a way to ask for the key before they commit.

mod key_secret;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use branch::SigningKey;
use crds::GitProvider;
use fleet::{BranchSigning, SigningSource};
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::{Api, Client};
use repository::SigningKeyError;

use crate::context::Context;
use crate::failure::Failure;
use crate::place::{Place, is_leaving};

/// How long a branch writer waits for its Secret before it goes on with the key that it knows.
const LONGEST_READ: Duration = Duration::from_secs(10);
/// What an API server answers to a change of an immutable Secret.
const INVALID: u16 = 422;

/// A key, and the version of the Secret that it came from. Opening an encrypted key takes long, so it is done once.
#[derive(Debug, Clone)]
pub(crate) struct KnownKey {
    version: String,
    pub(crate) key: Arc<SigningKey>,
}

/// Why commits cannot be signed. The texts show nothing of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SigningFault {
    #[error("spec.commit.signing.secretRef names nothing that can exist; correct the name")]
    BadReference,
    #[error(
        "commits are to be signed and Secret {0} does not exist; create it with an entry signing.key, or set \
         spec.commit.signing.generateWhenMissing"
    )]
    SecretNotFound(Place),
    #[error(
        "commits are to be signed and Secret {0} has no entry signing.key; add a private key, or set \
         spec.commit.signing.generateWhenMissing"
    )]
    KeyNotFound(Place),
    #[error(
        "commits are to be signed and the key in entry {entry} of Secret {secret} cannot be used: {problem}"
    )]
    Unusable {
        secret: Place,
        entry: &'static str,
        problem: String,
    },
    #[error(
        "no signing key can be made in Secret {secret}: {problem}; allow it, or create the Secret yourself"
    )]
    CannotMake { secret: Place, problem: String },
}

/// Reads the key of a GitProvider, and has one made where there is none and the provider says so. `None` when its commits
/// are not signed. `known` is the key of the last look.
pub(crate) async fn prepare(
    context: &Context,
    place: &Place,
    provider: &GitProvider,
    known: &mut Option<KnownKey>,
) -> Result<Option<Result<KnownKey, SigningFault>>, Failure> {
    let Some(signing) = provider
        .spec
        .commit
        .as_ref()
        .and_then(|commit| commit.signing.as_ref())
    else {
        *known = None;
        return Ok(None);
    };
    let Some(secret_place) = secret_of(place, provider) else {
        return Ok(Some(Err(SigningFault::BadReference)));
    };
    let secret = context.secret(&secret_place).await?;
    // A Secret that is deleted together with its provider is not made anew.
    let may_make = signing.generate_when_missing == Some(true) && !is_leaving(provider);
    let secret = match secret {
        Some(secret) if !(may_make && key_secret::lacks_key(&secret)) => Some(secret),
        secret if may_make => match make(context, &secret_place, secret).await? {
            Ok(secret) => Some(secret),
            Err(fault) => return Ok(Some(Err(fault))),
        },
        secret => secret,
    };
    let found = read(&secret_place, secret, known.as_ref()).await;
    known.clone_from(&found.as_ref().ok().cloned());
    Ok(Some(found))
}

/// Describes what the commits of a provider's branches are signed with; `None` leaves them unsigned.
pub(crate) fn order(
    client: &Client,
    place: &Place,
    provider: &GitProvider,
) -> Option<BranchSigning> {
    provider.spec.commit.as_ref()?.signing.as_ref()?;
    let secret = secret_of(place, provider);
    let stamp = secret.as_ref().map(ToString::to_string).unwrap_or_default();
    let source = source(client.clone(), secret);
    Some(BranchSigning { stamp, source })
}

/// Makes a way to ask for the key of a Secret. The Secret is read each time, so that a key that was changed is used by
/// the next commit, and one that was taken away by none; only while the API server does not answer, the key that was
/// read last goes on.
fn source(client: Client, secret: Option<Place>) -> SigningSource {
    let runtime = tokio::runtime::Handle::current();
    let known: Arc<ArcSwapOption<KnownKey>> = Arc::default();
    Arc::new(move || {
        let place = secret.as_ref().ok_or(SigningFault::BadReference);
        let place = place.map_err(|fault| fault.to_string())?;
        let before = known.load_full();
        let answer = runtime.block_on(async {
            let api: Api<Secret> = Api::namespaced(client.clone(), place.namespace.as_str());
            let reading = api.get_opt(place.name.as_str());
            match tokio::time::timeout(LONGEST_READ, reading).await {
                Ok(Ok(secret)) => Ok(read(place, secret, before.as_deref()).await),
                Ok(Err(error)) => Err(Failure::api("for a Secret")(error).to_string()),
                Err(_) => Err("the API server does not answer".to_owned()),
            }
        });
        match (answer, before) {
            (Ok(found), _) => {
                known.store(found.as_ref().ok().cloned().map(Arc::new));
                found
                    .map(|found| found.key)
                    .map_err(|fault| fault.to_string())
            }
            (Err(problem), Some(before)) => {
                tracing::warn!(secret = %place, "cannot read the signing key again, the one known before is used: {problem}");
                Ok(Arc::clone(&before.key))
            }
            (Err(problem), None) => Err(format!(
                "commits are to be signed and Secret {place} cannot be read: {problem}"
            )),
        }
    })
}

/// Reads the key of a Secret, unless it is known from the same version of it.
async fn read(
    place: &Place,
    secret: Option<Secret>,
    known: Option<&KnownKey>,
) -> Result<KnownKey, SigningFault> {
    let secret = secret.ok_or_else(|| SigningFault::SecretNotFound(place.clone()))?;
    let version = key_secret::version(&secret);
    if let Some(known) = known.filter(|known| known.version == version) {
        return Ok(known.clone());
    }
    // Off the threads that serve others: a passphrase is slow on purpose.
    let found = tokio::task::spawn_blocking(move || key_secret::read(&secret)).await;
    let unusable = |entry, problem: String| SigningFault::Unusable {
        secret: place.clone(),
        entry,
        problem,
    };
    match found {
        Ok(Ok(Some(key))) => Ok(KnownKey {
            version,
            key: Arc::new(key),
        }),
        Ok(Ok(None)) => Err(SigningFault::KeyNotFound(place.clone())),
        Ok(Err((entry, error))) => Err(unusable(entry, error.to_string())),
        Err(_) => Err(unusable(
            key_secret::KEY,
            SigningKeyError::Unreadable.to_string(),
        )),
    }
}

/// Creates the Secret, or adds the key to the one that is there, and returns it.
async fn make(
    context: &Context,
    place: &Place,
    secret: Option<Secret>,
) -> Result<Result<Secret, SigningFault>, Failure> {
    let is_new = secret.is_none();
    let secret = secret.unwrap_or_else(|| key_secret::empty(place));
    let cannot = |problem: String| SigningFault::CannotMake {
        secret: place.clone(),
        problem,
    };
    let made = tokio::task::spawn_blocking(move || key_secret::with_new_key(secret)).await;
    let (secret, public_key) = match made {
        Ok(Ok(made)) => made,
        Ok(Err(error)) => return Ok(Err(cannot(error.to_string()))),
        Err(_) => return Ok(Err(cannot(SigningKeyError::Unreadable.to_string()))),
    };
    let api: Api<Secret> = context.api(place);
    let parameters = PostParams::default();
    let written = if is_new {
        api.create(&parameters, &secret).await
    } else {
        // Carries the version that was read, so a key that somebody added meanwhile is not replaced.
        api.replace(place.name.as_str(), &parameters, &secret).await
    };
    match written {
        Ok(secret) => {
            tracing::info!(secret = %place, %public_key, "made a signing key");
            Ok(Ok(secret))
        }
        Err(kube::Error::Api(status)) if status.is_forbidden() || status.code == INVALID => {
            Ok(Err(cannot(status.message.clone())))
        }
        Err(error) => Err(Failure::api("for a new signing key")(error)),
    }
}

fn secret_of(place: &Place, provider: &GitProvider) -> Option<Place> {
    let signing = provider.spec.commit.as_ref()?.signing.as_ref()?;
    Place::named(place.namespace.as_str(), &signing.secret_ref.name)
}
