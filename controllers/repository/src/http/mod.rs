//! Git over HTTP(S).
//!
//! `redirect` holds the rules of where a credential may go, `exchange` one conversation with one server,
//! `body` the answer as a blocking reader, `gix_backend` the same conversation as gix's fetch wants it,
//! and `remote` the [`HttpRemote`] that puts them together.

mod body;
mod exchange;
mod gix_backend;
mod redirect;
mod remote;

pub use remote::HttpRemote;
