//! Makes an age key where a target wants one and there is none.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, ResourceExt};
use sealing::NewIdentity;

use super::Fault;
use super::keys::{BACKUP_WARNING, REMOVE_AFTER_BACKUP};
use crate::context::Context;
use crate::convert::times;
use crate::failure::Failure;
use crate::place::Place;

/// Tells people the public half of the key that was made. Never read: whoever writes it could choose whom
/// secrets are encrypted for.
const RECIPIENT: &str = "configbutler.ai/age-recipient";

/// What an API server answers to a change of an immutable Secret.
const INVALID: u16 = 422;

/// Creates the Secret, or adds an entry to the one that is there, and returns it.
pub(super) async fn make(
    context: &Context,
    place: &Place,
    secret: Option<Secret>,
) -> Result<Result<Secret, Fault>, Failure> {
    let identity = NewIdentity::generate();
    let entry = format!("{}.agekey", times::compact_date(context.wall()));
    let api: Api<Secret> = context.api(place);
    let parameters = PostParams::default();
    let written = match secret {
        None => {
            let secret = with_key(new_secret(place), &entry, &identity);
            api.create(&parameters, &secret).await
        }
        Some(secret) => {
            let secret = with_key(secret, &entry, &identity);
            api.replace(place.name.as_str(), &parameters, &secret).await
        }
    };
    match written {
        Ok(secret) => {
            let recipient = identity.recipient();
            tracing::info!(secret = %place, %recipient, "made an age key");
            Ok(Ok(secret))
        }
        Err(kube::Error::Api(status)) if status.is_forbidden() || status.code == INVALID => {
            Ok(Err(Fault::invalid(format!(
                "no age key can be made in Secret {place}: {}; allow it, or create the Secret yourself",
                status.message
            ))))
        }
        Err(error) => Err(Failure::api("for a new age key")(error)),
    }
}

fn new_secret(place: &Place) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(place.name.to_string()),
            namespace: Some(place.namespace.to_string()),
            ..ObjectMeta::default()
        },
        type_: Some("Opaque".to_owned()),
        ..Secret::default()
    }
}

/// Adds the key and what people are told about it.
fn with_key(mut secret: Secret, entry: &str, identity: &NewIdentity) -> Secret {
    let data = secret.data.get_or_insert_with(BTreeMap::new);
    let text = identity.entry();
    data.insert(
        entry.to_owned(),
        ByteString(text.expose().as_bytes().to_vec()),
    );
    let annotations = secret.annotations_mut();
    annotations.insert(RECIPIENT.to_owned(), identity.recipient().to_string());
    annotations.insert(BACKUP_WARNING.to_owned(), REMOVE_AFTER_BACKUP.to_owned());
    secret
}
