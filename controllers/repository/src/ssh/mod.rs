//! Git over SSH, in this process.
//!
//! `command` is what the host is asked to run, `connection` a logged-in connection, `channel` the running
//! service on it as a blocking stream, `talk` the conversation with it, `client` the [`SshRemote`] that begins
//! conversations and keeps the connection for a while.
//!
//! A connection is reused for half a minute. No proxy is used, no file and no agent of the machine is read.

mod channel;
mod client;
mod command;
mod connection;
mod talk;

pub use client::SshRemote;
