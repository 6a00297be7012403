//! Git over HTTP(S).
//!
//! `redirect` holds the rules of where a credential may go, `exchange` the [`HttpRemote`] and one conversation
//! with it, `body` the answer as a blocking reader, `gix_backend` the same conversation as gix's fetch wants it.

mod body;
mod exchange;
mod gix_backend;
mod redirect;

pub use exchange::HttpRemote;
