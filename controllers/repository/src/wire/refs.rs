//! Advertisements: the old form (`info/refs` of both services) and the answer to `ls-refs`.

use std::collections::BTreeMap;
use std::io::Read;

use model::{BranchName, CommitId};

use super::packet::{self, Packet, PacketError, PacketReader};
use crate::advertisement::{Advertisement, Head, ObjectFormat};

/// What the first lines of a server tell.
#[derive(Debug)]
pub(crate) enum Greeting {
    /// Protocol 2: capabilities only; refs have to be asked for.
    Capabilities(Capabilities),
    /// Protocol 0 or 1: everything at once.
    Refs(Advertisement, Capabilities),
}

/// The words by which a server says what it can do.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Capabilities(Vec<String>);

/// An advertisement that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefsError {
    #[error(transparent)]
    Packet(#[from] PacketError),
    #[error("{0}")]
    Malformed(&'static str),
    #[error("the repository's hash is neither sha1 nor sha256")]
    UnknownHash,
    #[error("more refs than the limit")]
    TooMany,
}

impl Capabilities {
    /// Says whether the server names the capability, with or without a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|word| word.split('=').next() == Some(name))
    }

    /// Returns the first value of a capability.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|word| value_of(word, name))
    }

    /// Returns the branch or other ref that `HEAD` is said to stand for.
    fn head_target(&self) -> Option<&str> {
        self.0
            .iter()
            .find_map(|word| value_of(word, "symref")?.strip_prefix("HEAD:"))
    }

    fn from_words(words: &[u8]) -> Self {
        let words = String::from_utf8_lossy(words);
        Self(words.split_ascii_whitespace().map(str::to_owned).collect())
    }

    pub(crate) fn object_format(&self) -> Result<ObjectFormat, RefsError> {
        match self.value("object-format") {
            None | Some("sha1") => Ok(ObjectFormat::Sha1),
            Some("sha256") => Ok(ObjectFormat::Sha256),
            Some(_) => Err(RefsError::UnknownHash),
        }
    }
}

fn value_of<'a>(word: &'a str, name: &str) -> Option<&'a str> {
    word.strip_prefix(name)?.strip_prefix('=')
}

/// Reads the answer to `GET info/refs`. `service` is the one that was asked for; a server may announce it first.
pub(crate) fn read_greeting<R: Read>(
    reader: R,
    service: &str,
    max_refs: usize,
) -> Result<Greeting, RefsError> {
    let mut packets = PacketReader::new(reader);
    let mut line = next_line(&mut packets)?;
    if let Some(announced) = line
        .as_deref()
        .and_then(|line| line.strip_prefix(b"# service="))
    {
        if announced != service.as_bytes() {
            return Err(RefsError::Malformed("the server announces another service"));
        }
        if packets.next()? != Some(Packet::Flush) {
            return Err(RefsError::Malformed("no flush after the announcement"));
        }
        line = next_line(&mut packets)?;
    }
    match line {
        Some(line) if line == b"version 2" => {
            read_capabilities(&mut packets).map(Greeting::Capabilities)
        }
        Some(line) if line == b"version 1" => {
            let first = next_line(&mut packets)?;
            read_refs(&mut packets, first, max_refs)
        }
        first => read_refs(&mut packets, first, max_refs),
    }
}

/// Reads the answer to `ls-refs`.
pub(crate) fn read_ls_refs<R: Read>(
    reader: R,
    object_format: ObjectFormat,
    max_refs: usize,
) -> Result<Advertisement, RefsError> {
    let mut packets = PacketReader::new(reader);
    let mut refs = Collected::new(object_format, max_refs);
    while let Some(line) = next_line(&mut packets)? {
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split(' ');
        let (Some(id), Some(name)) = (words.next(), words.next()) else {
            return Err(RefsError::Malformed("a ref line without a name"));
        };
        let target = words.find_map(|word| word.strip_prefix("symref-target:"));
        if name == "HEAD"
            && let Some(target) = target
        {
            refs.head_target = Some(target.to_owned());
        }
        if id != "unborn" {
            refs.add(id, name)?;
        }
    }
    Ok(refs.finish())
}

fn read_capabilities<R: Read>(packets: &mut PacketReader<R>) -> Result<Capabilities, RefsError> {
    let mut words = Vec::new();
    while let Some(line) = next_line(packets)? {
        if words.len() >= MOST_CAPABILITIES {
            return Err(RefsError::TooMany);
        }
        words.push(String::from_utf8_lossy(&line).into_owned());
    }
    Ok(Capabilities(words))
}

/// The most lines of a protocol 2 greeting; real servers send fewer than twenty.
const MOST_CAPABILITIES: usize = 1_000;

fn read_refs<R: Read>(
    packets: &mut PacketReader<R>,
    first: Option<Vec<u8>>,
    max_refs: usize,
) -> Result<Greeting, RefsError> {
    let Some(first) = first else {
        // Some servers answer for an empty repository with nothing but a flush.
        let refs = Collected::new(ObjectFormat::Sha1, max_refs);
        return Ok(Greeting::Refs(refs.finish(), Capabilities::default()));
    };
    let zero = first
        .iter()
        .position(|byte| *byte == 0)
        .ok_or(RefsError::Malformed("no capabilities behind the first ref"))?;
    let capabilities = Capabilities::from_words(&first[zero + 1..]);
    let mut refs = Collected::new(capabilities.object_format()?, max_refs);
    refs.head_target = capabilities.head_target().map(str::to_owned);
    let mut line = Some(first[..zero].to_vec());
    while let Some(current) = line {
        let text = String::from_utf8_lossy(&current);
        let (id, name) = text
            .split_once(' ')
            .ok_or(RefsError::Malformed("a ref line without a name"))?;
        // `.have` names objects of a fork network, `capabilities^{}` stands for no ref at all, and
        // `shallow` lines tell about the server's own history.
        if name != ".have" && name != "capabilities^{}" && id != "shallow" {
            refs.add(id, name)?;
        }
        line = next_line(packets)?;
    }
    Ok(Greeting::Refs(refs.finish(), capabilities))
}

/// Returns the next line without its line feed, or `None` at the end of the section.
fn next_line<R: Read>(packets: &mut PacketReader<R>) -> Result<Option<Vec<u8>>, RefsError> {
    match packets.next()? {
        Some(Packet::Data(line)) => Ok(Some(packet::trimmed(&line).to_vec())),
        Some(Packet::Flush | Packet::ResponseEnd) => Ok(None),
        Some(Packet::Delimiter) => Err(RefsError::Malformed("an unexpected delimiter")),
        None => Err(RefsError::Packet(PacketError::Truncated)),
    }
}

/// Refs while they are being read.
struct Collected {
    object_format: ObjectFormat,
    max_refs: usize,
    branches: BTreeMap<BranchName, CommitId>,
    other_refs: usize,
    head_id: Option<CommitId>,
    head_target: Option<String>,
}

impl Collected {
    fn new(object_format: ObjectFormat, max_refs: usize) -> Self {
        Self {
            object_format,
            max_refs,
            branches: BTreeMap::new(),
            other_refs: 0,
            head_id: None,
            head_target: None,
        }
    }

    fn add(&mut self, id: &str, name: &str) -> Result<(), RefsError> {
        if self.branches.len() + self.other_refs >= self.max_refs {
            return Err(RefsError::TooMany);
        }
        if id.len() != self.object_format.hex_len() {
            return Err(RefsError::Malformed("an object id of the wrong length"));
        }
        let id =
            CommitId::new(id).map_err(|_| RefsError::Malformed("an object id that is no hex"))?;
        if name == "HEAD" {
            self.head_id = Some(id);
            return Ok(());
        }
        // A name that is not allowed as a branch of ours still counts as a ref.
        let branch = name
            .strip_prefix("refs/heads/")
            .and_then(|short| BranchName::new(short).ok());
        match branch {
            Some(branch) => {
                self.branches.insert(branch, id);
            }
            // A peeled tag repeats the ref before it.
            None if name.ends_with("^{}") => {}
            None => self.other_refs += 1,
        }
        Ok(())
    }

    fn finish(self) -> Advertisement {
        let named = self
            .head_target
            .as_deref()
            .and_then(|target| target.strip_prefix("refs/heads/"))
            .and_then(|short| BranchName::new(short).ok())
            .map(Head::Branch);
        Advertisement {
            head: named.or(self.head_id.map(Head::Detached)),
            branches: self.branches,
            other_refs: self.other_refs,
            object_format: self.object_format,
        }
    }
}

#[cfg(test)]
#[path = "refs_tests.rs"]
mod tests;
