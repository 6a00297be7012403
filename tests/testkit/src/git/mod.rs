//! Real Git servers on loopback, and the people who push to them.
//!
//! The protocol is spoken by the installed `git` and `sshd`; what is ours is only the little that
//! connects them to a port. Read `repository` for what is served, `http` and `ssh` for how, and
//! `clone` for the other person. `gitea` is another host altogether: a whole one, with its own accounts and rules.

mod cgi;
mod clone;
mod gitea;
mod http;
mod program;
mod repository;
mod ssh;

pub use self::cgi::Served;
pub use self::clone::GitClone;
pub use self::gitea::{Account, Gitea, Verification};
pub use self::http::{Access, GitServer, GitServerBuilder, Request, Shown};
pub use self::repository::{ObjectFormat, Repository, Update};
pub use self::ssh::{SshKey, SshServer, SshSetup, find_sshd, hash_known_hosts};
