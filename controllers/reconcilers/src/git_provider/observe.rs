//! Reads the GitProvider and its Secret, and asks the server when it is time.

use std::sync::Arc;

use crds::GitProvider;
use model::Millis;

use super::Memory;
use crate::context::{Context, fresh_request};
use crate::failure::Failure;
use crate::place::Place;
use crate::proof::Proof;
use crate::remote_access::{self, AccessFault, Ask};
use crate::signing::{self, SigningFault};

/// Everything that the decision needs.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) object: Arc<GitProvider>,
    pub(super) now: Millis,
    /// What the server said, or why it could not be asked.
    pub(super) proof: Result<Proof, AccessFault>,
    /// The public half of the key that commits are signed with, or why there is none; `None` when they are not signed.
    pub(super) signing: Option<Result<String, SigningFault>>,
    /// A request for a fresh look that this look answers.
    pub(super) request: Option<String>,
}

pub(super) async fn observe(
    context: &Context,
    place: &Place,
    object: Arc<GitProvider>,
    memory: &mut Memory,
) -> Result<Observed, Failure> {
    let handled = object
        .status
        .as_ref()
        .and_then(|status| status.last_handled_reconcile_at.as_deref());
    let request = fresh_request(object.as_ref(), handled);
    let access = remote_access::read(context, place, &object).await?;
    let proof = match access {
        Err(fault) => {
            memory.proof = None;
            Err(fault)
        }
        Ok(access) => {
            let asked = request.is_some();
            Ok(remote_access::prove(context, &access, Ask::Look, asked, &mut memory.proof).await)
        }
    };
    let signing = signing::prepare(context, place, &object, &mut memory.signing).await?;
    Ok(Observed {
        signing: signing.map(|found| found.map(|found| found.key.public_key())),
        object,
        now: context.wall(),
        proof,
        request,
    })
}
