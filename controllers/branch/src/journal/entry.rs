//! What a record says, as bytes and back.
//!
//! A change of a sensitive object is encrypted as a whole, its digests included; only its number is in the clear. The
//! removal of one carries no content and is written like any other.

use std::borrow::Cow;

use model::{Change, Delivery, FolderPath};
use rand::Rng as _;
use serde::{Deserialize, Serialize};

use super::file::Owner;
use super::{DeliveryNumber, Entry, JournalKey, RecoveredDelivery, Sent, Settled};

/// What kind of record it is. Numbers are never given anew.
const OWNER: u8 = 1;
const ACCEPTED: u8 = 2;
const ACCEPTED_SEALED: u8 = 3;
const SENT: u8 = 4;
const SETTLED: u8 = 5;

/// The version of the format. Another one is not read.
pub(super) const VERSION: u32 = 1;

/// The first record: in which form the others are and whom they belong to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header<'a> {
    pub(super) version: u32,
    pub(super) owner: Cow<'a, Owner>,
}

/// A record, read back.
#[derive(Debug)]
pub(super) enum Record {
    Header(Header<'static>),
    Accepted(Box<RecoveredDelivery>),
    Sent(Sent),
    Settled(Settled),
    /// Its content cannot be decrypted.
    Locked(DeliveryNumber),
    /// It is not understood.
    Unreadable,
}

#[derive(Serialize)]
struct AcceptedAsWritten<'a> {
    number: DeliveryNumber,
    folder: Option<&'a FolderPath>,
    delivery: &'a Delivery,
}

/// Returns kind and bytes of the first record.
pub(super) fn header(owner: &Owner) -> (u8, Vec<u8>) {
    let owner = Cow::Borrowed(owner);
    let version = VERSION;
    (OWNER, json(&Header { version, owner }))
}

/// Returns kind and bytes of a record; `None` when it would have to be encrypted and there is no key.
pub(super) fn encode(entry: &Entry<'_>, key: Option<&JournalKey>) -> Option<(u8, Vec<u8>)> {
    match entry {
        Entry::Accepted {
            number,
            folder,
            delivery,
        } => {
            let written = AcceptedAsWritten {
                number: *number,
                folder: folder.as_ref(),
                delivery,
            };
            if !holds_secrets(delivery) {
                return Some((ACCEPTED, json(&written)));
            }
            let plain = zeroize::Zeroizing::new(json(&written));
            let place = number.0.to_le_bytes();
            let mut random = |bytes: &mut [u8]| rand::rng().fill_bytes(bytes);
            let sealed = key?.seal(&plain, &place, &mut random);
            Some((ACCEPTED_SEALED, [place.as_slice(), &sealed].concat()))
        }
        Entry::Sent(sent) => Some((SENT, json(sent))),
        Entry::Settled(settled) => Some((SETTLED, json(settled))),
    }
}

/// Reads a record.
pub(super) fn decode(kind: u8, bytes: &[u8], key: Option<&JournalKey>) -> Record {
    let read = match kind {
        OWNER => serde_json::from_slice(bytes).ok().map(Record::Header),
        ACCEPTED => serde_json::from_slice(bytes).ok().map(Record::Accepted),
        ACCEPTED_SEALED => unlock(bytes, key),
        SENT => serde_json::from_slice(bytes).ok().map(Record::Sent),
        SETTLED => serde_json::from_slice(bytes).ok().map(Record::Settled),
        _ => None,
    };
    read.unwrap_or(Record::Unreadable)
}

fn unlock(bytes: &[u8], key: Option<&JournalKey>) -> Option<Record> {
    let (place, sealed) = bytes.split_first_chunk::<8>()?;
    let number = DeliveryNumber(u64::from_le_bytes(*place));
    let opened = key.and_then(|key| key.open(sealed, place));
    let read = opened.and_then(|plain| serde_json::from_slice(&plain).ok());
    Some(read.map_or(Record::Locked(number), Record::Accepted))
}

fn holds_secrets(delivery: &Delivery) -> bool {
    match &delivery.change {
        Change::Upsert { object, .. } => object.is_sensitive(),
        Change::Remove { .. } => false,
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value)
        .expect("because names, numbers and JSON values can be written as JSON")
}
