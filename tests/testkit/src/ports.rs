//! Ports on loopback for programs that cannot choose one themselves.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};

/// Below the range from which the kernel takes the local port of an outgoing connection, so that
/// no client of ours takes a port between the moment it is chosen and the moment it is bound.
const CHOICE: Range<u16> = 20_000..32_000;
const ATTEMPTS: usize = 1_000;

static HANDED_OUT: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Chooses a port of 127.0.0.1 on which nothing listens, never the same one twice in a process.
///
/// Another process may still choose the same port; whoever binds it has to be ready to try again.
pub fn free() -> Result<u16> {
    let mut handed_out = HANDED_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..ATTEMPTS {
        let port = rand::random_range(CHOICE);
        if !handed_out.contains(&port) && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            handed_out.insert(port);
            return Ok(port);
        }
    }
    bail!(
        "no free port between {} and {} on 127.0.0.1",
        CHOICE.start,
        CHOICE.end
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_handed_out_twice() {
        let ports: BTreeSet<u16> = (0..50).map(|_| free().unwrap()).collect();
        assert_eq!(ports.len(), 50);
    }
}
