//! What a Secret with age keys holds. Pure.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use policy::EncryptionProblem;
use sealing::{Identities, Recipient};

use super::Fault;
use super::asked::Asked;
use crate::place::Place;

/// How entries with private keys end.
const SUFFIX: &str = ".agekey";
/// Stands on a Secret whose key we made until a person has a copy of it.
pub(super) const BACKUP_WARNING: &str = "configbutler.ai/backup-warning";
/// What that annotation says.
pub(super) const REMOVE_AFTER_BACKUP: &str = "REMOVE_AFTER_BACKUP";

/// Whom to encrypt for, and what opens it again.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    pub(super) recipients: BTreeSet<Recipient>,
    pub(super) identities: Identities,
    /// What a person still has to do.
    pub(super) reminder: Option<String>,
}

/// What a Secret comes to.
#[derive(Debug)]
pub(super) enum Found {
    /// Keys that can be used.
    Keys(Box<Keys>),
    /// No key, and one may be made.
    NoKey,
    /// Something that a person has to change.
    Faulty(Fault),
}

/// Returns the keys of a target that names no Secret.
pub(super) fn without_secret(asked: &Asked) -> Result<Keys, Fault> {
    let keys = Keys {
        recipients: asked.recipients.clone(),
        identities: Identities::default(),
        reminder: None,
    };
    keys.or_nobody()
}

/// Reads the keys of a target's Secret.
pub(super) fn read(asked: &Asked, place: &Place, secret: Option<&Secret>) -> Found {
    let Some(secret) = secret else {
        return match asked {
            Asked { make: true, .. } => Found::NoKey,
            Asked { extract: true, .. } => Found::Faulty(Fault {
                kind: EncryptionProblem::SecretCreateDisabled,
                message: format!(
                    "Secret {place} does not exist, and generateWhenMissing is not set; create it with an entry \
                     that ends in {SUFFIX}, or set spec.encryption.age.recipients.generateWhenMissing"
                ),
            }),
            _ => Found::Faulty(Fault {
                kind: EncryptionProblem::MissingSecret,
                message: format!(
                    "Secret {place} does not exist; create it with an entry that ends in {SUFFIX}, or remove \
                     spec.encryption.secretRef"
                ),
            }),
        };
    };
    let identities = match identities(place, secret) {
        Ok(identities) => identities,
        Err(fault) => return Found::Faulty(fault),
    };
    if identities.is_empty() && asked.make {
        return Found::NoKey;
    }
    if identities.is_empty() && asked.extract {
        return Found::Faulty(Fault::invalid(format!(
            "Secret {place} has no entry that ends in {SUFFIX}; add one with an age private key, or set \
             spec.encryption.age.recipients.generateWhenMissing"
        )));
    }
    let mut recipients = asked.recipients.clone();
    if asked.extract {
        recipients.extend(identities.recipients());
    }
    let keys = Keys {
        recipients,
        identities,
        reminder: reminder(place, secret),
    };
    match keys.or_nobody() {
        Ok(keys) => Found::Keys(Box::new(keys)),
        Err(fault) => Found::Faulty(fault),
    }
}

fn identities(place: &Place, secret: &Secret) -> Result<Identities, Fault> {
    let mut all = Identities::default();
    let entries = secret.data.iter().flatten();
    for (name, content) in entries.filter(|(name, _)| name.ends_with(SUFFIX)) {
        let wrong = |problem: String| {
            Fault::invalid(format!(
                "Secret {place}, entry {name}: {problem}; correct the entry"
            ))
        };
        let text =
            std::str::from_utf8(&content.0).map_err(|_| wrong("it is not text".to_owned()))?;
        all.extend(Identities::parse(text).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(all)
}

fn reminder(place: &Place, secret: &Secret) -> Option<String> {
    secret.annotations().get(BACKUP_WARNING)?;
    Some(format!(
        "Secret {place} holds the only copy of an age private key; without it nothing in Git can be decrypted. \
         Keep a copy elsewhere, then remove the annotation {BACKUP_WARNING}"
    ))
}

impl Keys {
    fn or_nobody(self) -> Result<Self, Fault> {
        if self.recipients.is_empty() {
            return Err(Fault::invalid(
                "spec.encryption names no recipient; list age public keys in age.recipients.publicKeys, or set \
                 extractFromSecret"
                    .to_owned(),
            ));
        }
        Ok(self)
    }

    /// Names the keys without showing a private one.
    pub(super) fn stamp(&self) -> String {
        let list = |recipients: &BTreeSet<Recipient>| {
            let texts: Vec<_> = recipients.iter().map(ToString::to_string).collect();
            texts.join(",")
        };
        format!(
            "for {}; opened by {}",
            list(&self.recipients),
            list(&self.identities.recipients())
        )
    }

    /// Says it to people.
    pub(super) fn message(&self) -> String {
        let count = match self.recipients.len() {
            1 => "one recipient".to_owned(),
            count => format!("{count} recipients"),
        };
        let mut message = format!("sensitive objects are encrypted for {count}");
        if let Some(reminder) = &self.reminder {
            message = format!("{message}. {reminder}");
        }
        message
    }
}
