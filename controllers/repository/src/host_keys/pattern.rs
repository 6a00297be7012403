//! Whether the hosts of a line include a host.

use hmac::{Hmac, KeyInit, Mac};
use russh::keys::ssh_key::known_hosts::HostPatterns;
use sha1::Sha1;

/// Says whether a line is about a host that has these names.
pub(super) fn matches(hosts: &HostPatterns, names: &[String]) -> bool {
    match hosts {
        HostPatterns::HashedName { salt, hash } => {
            names.iter().any(|name| is_hash_of(name, salt, hash))
        }
        HostPatterns::Patterns(patterns) => matches_patterns(patterns, names),
    }
}

/// One negated pattern that fits excludes the host, wherever it stands.
fn matches_patterns(patterns: &[String], names: &[String]) -> bool {
    let fits = |pattern: &str| {
        let pattern = pattern.to_lowercase();
        names.iter().any(|name| matches_wildcards(&pattern, name))
    };
    let mut found = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(excluded) if fits(excluded) => return false,
            Some(_) => {}
            None => found |= fits(pattern),
        }
    }
    found
}

fn is_hash_of(name: &str, salt: &[u8], hash: &[u8]) -> bool {
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(salt) else {
        return false;
    };
    mac.update(name.as_bytes());
    mac.verify_slice(hash).is_ok()
}

/// Matches `*` (any text) and `?` (any one byte); everything else stands for itself.
pub(super) fn matches_wildcards(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut read) = (0, 0);
    // Where to go on when the text behind the last star does not fit: the star swallows one byte more.
    let mut retry = None;
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, read));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[read] => {
                at += 1;
                read += 1;
            }
            Some(_) | None => {
                let Some((after_star, swallowed)) = retry else {
                    return false;
                };
                retry = Some((after_star, swallowed + 1));
                (at, read) = (after_star, swallowed + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}
