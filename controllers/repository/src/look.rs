//! Asks a remote what it has.

use crate::advertisement::{Advertisement, ObjectFormat};
use crate::conversation::{Answer, Conversation, Protocol, Service, Transport, refs_error};
use crate::endpoint::Limits;
use crate::error::RemoteError;
use crate::wire::packet;
use crate::wire::refs::{self, Capabilities, Greeting};

/// Reads the branches and `HEAD` as a reader sees them.
pub(crate) fn look(transport: &mut impl Transport) -> Result<Advertisement, RemoteError> {
    let limits = transport.limits();
    let service = Service::UploadPack;
    let mut conversation = transport.begin(service, Protocol::Two, limits.call_timeout)?;
    let mut answer = conversation.advertise()?;
    let max_refs = limits.max_advertised_refs;
    let greeting = refs::read_greeting(&mut answer, service.as_str(), max_refs)
        .map_err(|error| conversation.failure().first_or(refs_error(&error)))?;
    answer.finish();
    match greeting {
        Greeting::Refs(advertisement, _) => Ok(advertisement),
        Greeting::Capabilities(capabilities) => {
            list_refs(&mut conversation, &capabilities, &limits)
        }
    }
}

/// Asks a protocol 2 server for its refs: the branches and `HEAD`, and when it has no branch, for all refs,
/// because then it matters whether it has any.
fn list_refs(
    conversation: &mut impl Conversation,
    capabilities: &Capabilities,
    limits: &Limits,
) -> Result<Advertisement, RemoteError> {
    let format = capabilities
        .object_format()
        .map_err(|error| refs_error(&error))?;
    let branches = ls_refs_request(capabilities, format, &["HEAD", "refs/heads/"]);
    let listed = ls_refs(conversation, branches, format, limits)?;
    if !listed.branches.is_empty() {
        return Ok(listed);
    }
    let everything = ls_refs_request(capabilities, format, &[]);
    ls_refs(conversation, everything, format, limits)
}

fn ls_refs(
    conversation: &mut impl Conversation,
    request: Vec<u8>,
    format: ObjectFormat,
    limits: &Limits,
) -> Result<Advertisement, RemoteError> {
    let limit = (limits.max_advertisement_bytes, "the list of refs");
    let mut answer = conversation
        .call(request, limit)
        .map_err(|failed| failed.error)?;
    let listed = refs::read_ls_refs(&mut answer, format, limits.max_advertised_refs)
        .map_err(|error| conversation.failure().first_or(refs_error(&error)))?;
    answer.finish();
    Ok(listed)
}

fn ls_refs_request(
    capabilities: &Capabilities,
    format: ObjectFormat,
    prefixes: &[&str],
) -> Vec<u8> {
    let mut body = Vec::new();
    packet::write_data(&mut body, b"command=ls-refs\n");
    if capabilities.has("object-format") {
        let line = format!("object-format={}\n", format.as_str());
        packet::write_data(&mut body, line.as_bytes());
    }
    packet::write_delimiter(&mut body);
    packet::write_data(&mut body, b"symrefs\n");
    if capabilities
        .value("ls-refs")
        .is_some_and(|words| words.split(' ').any(|word| word == "unborn"))
    {
        packet::write_data(&mut body, b"unborn\n");
    }
    for prefix in prefixes {
        packet::write_data(&mut body, format!("ref-prefix {prefix}\n").as_bytes());
    }
    packet::write_flush(&mut body);
    body
}
