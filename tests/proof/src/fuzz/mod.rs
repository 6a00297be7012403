//! Bytes turned into questions whose answers can be told right from wrong without another reader at hand.
//!
//! A target is a plain function over bytes, so any driver can feed it. Ours is [`drive`]: it changes pieces of a
//! corpus, by a seed, for as long as it is told. Reading order: [`parser`], [`patcher`], [`emitter`], [`wording`],
//! [`driver`], [`noise`].

pub mod driver;
pub mod emitter;
pub mod noise;
pub mod parser;
pub mod patcher;
pub mod wording;

pub use driver::{Failure, Run, drive};

/// A question made from bytes. The error says what is wrong with the answer.
pub type Target = fn(&[u8]) -> Result<(), String>;

/// Every target, by name.
pub const TARGETS: [(&str, Target); 4] = [
    ("parser", parser::check),
    ("patcher", patcher::check),
    ("emitter", emitter::check),
    ("wording", wording::check),
];

/// Fails with a message, unless something holds.
fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}
