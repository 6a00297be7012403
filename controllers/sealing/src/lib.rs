//! Sensitive documents as SOPS files: sealed, opened, and sealed again, without the `sops` program.
//!
//! The only place that can make the bytes of a sensitive document ([`SealedBytes`]), and the only one that knows
//! `age`. It decides nothing about files, folders or plans, reads no clock and no file; time and randomness are
//! arguments. Text is laid out by the caller's [`Layout`], which sees encrypted values only, and is proved here.
//!
//! Reading order: [`document`] (what stands in a file, and opening it), [`seal`] (making it), then what both use:
//! `encryption` and `rule` (which values), `metadata` (the `sops` block), `ciphertext` (one value), [`age_keys`] (for whom),
//! [`fingerprint`] (unchanged without a private key), `journal_key` (records of what is not published yet), [`sops_config`] (for whom a new document is); below them
//! `reader`, `tree`, `scalar` and `timestamp`, which read YAML the way the real tool does.

pub mod age_keys;
mod ciphertext;
pub mod document;
mod encryption;
pub mod fingerprint;
mod journal_key;
mod layout;
mod metadata;
mod plaintext;
mod random;
mod reader;
mod rule;
mod scalar;
pub mod seal;
mod sealed_bytes;
pub mod sops_config;
mod timestamp;
mod tree;

pub use age_keys::{Identities, InvalidIdentity, InvalidRecipient, NewIdentity, Recipient};
pub use document::{OpenDocument, OpenError, ReadError, SealedDocument};
pub use fingerprint::{FingerprintKey, Standing};
pub use journal_key::JournalKey;
pub use layout::Layout;
pub use metadata::MetadataError;
pub use plaintext::Plaintext;
pub use random::RandomSource;
pub use reader::SyntaxError;
pub use rule::RuleError;
pub use seal::{SealError, Sealer};
pub use sealed_bytes::SealedBytes;
pub use sops_config::{ConfigError, Creation, SopsConfig};
