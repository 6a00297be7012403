//! What a GitTarget says about encryption. Pure.

use std::collections::BTreeSet;

use crds::GitTarget;
use sealing::Recipient;

use super::Fault;
use crate::place::Place;

/// What a target asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// Those that are written out.
    pub(super) recipients: BTreeSet<Recipient>,
    /// Where private keys are.
    pub(super) secret: Option<Place>,
    /// Whether the public halves of those keys are recipients too.
    pub(super) extract: bool,
    /// Whether a key is made where there is none.
    pub(super) make: bool,
}

/// Reads what is asked for; `None` while encryption is not turned on.
pub(super) fn read(place: &Place, target: &GitTarget) -> Result<Option<Asked>, Fault> {
    let Some(encryption) = &target.spec.encryption else {
        return Ok(None);
    };
    let age = encryption
        .age
        .as_ref()
        .filter(|age| age.enabled == Some(true));
    let Some(age) = age else {
        return Ok(None);
    };
    let wanted = age.recipients.as_ref();
    let said = |flag: Option<bool>| flag.unwrap_or(false);
    let extract = said(wanted.and_then(|wanted| wanted.extract_from_secret));
    let make = said(wanted.and_then(|wanted| wanted.generate_when_missing));
    let secret = encryption
        .secret_ref
        .as_ref()
        .and_then(|reference| Place::named(place.namespace.as_str(), &reference.name));
    if make && !extract {
        return Err(Fault::invalid(
            "spec.encryption.age.recipients.generateWhenMissing needs extractFromSecret: set it to true, or remove generateWhenMissing"
                .to_owned(),
        ));
    }
    if extract && secret.is_none() {
        return Err(Fault::invalid(
            "spec.encryption.age.recipients.extractFromSecret needs spec.encryption.secretRef: name the Secret with the age keys"
                .to_owned(),
        ));
    }
    let public_keys = wanted.and_then(|wanted| wanted.public_keys.as_ref());
    Ok(Some(Asked {
        recipients: parse(public_keys.into_iter().flatten())?,
        secret,
        extract,
        make,
    }))
}

fn parse<'a>(keys: impl Iterator<Item = &'a String>) -> Result<BTreeSet<Recipient>, Fault> {
    let mut recipients = BTreeSet::new();
    for (index, key) in keys.enumerate() {
        let key = key.trim();
        if key.is_empty() {
            continue;
        }
        let recipient = key.parse().map_err(|error: sealing::InvalidRecipient| {
            let field = format!("spec.encryption.age.recipients.publicKeys[{index}]");
            Fault::invalid(format!("{field}: {error}"))
        })?;
        recipients.insert(recipient);
    }
    Ok(recipients)
}
