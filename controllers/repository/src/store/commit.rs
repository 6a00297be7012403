//! Encodes commits, so that equal inputs give equal bytes.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::actor;
use gix::date::Time;
use gix::objs::{Commit, Kind, WriteTo as _};
use model::{Millis, Signature};

use super::objects::{NewObject, Objects};
use crate::error::StoreError;
use crate::sign::SigningKey;

/// The text around a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitText {
    /// The message.
    pub message: String,
    /// Who made the change.
    pub author: Signature,
    /// Who wrote the commit.
    pub committer: Signature,
    /// When, in milliseconds since 1970; the commit says it in UTC. Fixed once per commit, because a commit
    /// that is built again must have the same id.
    pub time_ms: Millis,
}

/// Adds a commit to the objects, signed if there is a key, and returns its id.
pub(super) fn add(
    objects: &mut Objects,
    tree: ObjectId,
    parent: Option<ObjectId>,
    text: &CommitText,
    key: Option<&SigningKey>,
) -> Result<ObjectId, StoreError> {
    let mut commit = Commit {
        tree,
        parents: parent.into_iter().collect(),
        author: dated(&text.author, text.time_ms),
        committer: dated(&text.committer, text.time_ms),
        encoding: None,
        message: message(&text.message).into(),
        extra_headers: Vec::new(),
    };
    let mut bytes = encode(objects, &commit)?;
    if let Some(key) = key {
        let signature = key.sign(&bytes)?;
        let header = signature_header(objects.hash_kind());
        commit.extra_headers.push((header.into(), signature.into()));
        bytes = encode(objects, &commit)?;
    }
    let id = gix::objs::compute_hash(objects.hash_kind(), Kind::Commit, &bytes)
        .map_err(|error| objects.damage(format!("a commit cannot be named: {error}")))?;
    let object = NewObject {
        kind: Kind::Commit,
        bytes: bytes.into(),
        base: None,
    };
    objects.add(BTreeMap::from([(id, object)]))?;
    Ok(id)
}

fn encode(objects: &Objects, commit: &Commit) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    commit
        .write_to(&mut bytes)
        .map_err(|error| objects.damage(format!("a commit cannot be encoded: {error}")))?;
    Ok(bytes)
}

/// Names the header that Git looks for a signature in; it ignores the other one.
fn signature_header(hash: gix::hash::Kind) -> &'static str {
    match hash {
        gix::hash::Kind::Sha256 => "gpgsig-sha256",
        _ => "gpgsig",
    }
}

/// Cleans the names again, so that no caller can write a header that is not one (D31).
fn dated(who: &Signature, time_ms: Millis) -> actor::Signature {
    let who = Signature::cleaned(&who.name, &who.email);
    actor::Signature {
        name: who.name.into(),
        email: who.email.into(),
        time: Time {
            seconds: i64::try_from(time_ms / 1000).unwrap_or(i64::MAX),
            offset: 0,
        },
    }
}

/// Takes out NUL, which no commit can hold (D31), and ends the last line as Git does.
fn message(text: &str) -> String {
    let mut text = text.replace('\0', "");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
