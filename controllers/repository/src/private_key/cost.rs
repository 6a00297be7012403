//! What it costs to try a passphrase. Whoever wrote a key chose that, and a key that takes hours keeps its reader.

use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::Kdf as Pbes2Kdf;
use russh::keys::PrivateKey;
use russh::keys::ssh_key::Kdf;

/// The most rounds of bcrypt that are spent; `ssh-keygen` writes 24 unless it is told otherwise, and each takes some
/// milliseconds.
const MOST_ROUNDS: u32 = 1024;
/// The most rounds of PBKDF2 that are spent, some seconds; OpenSSL writes 2,048, and 600,000 are recommended.
const MOST_ITERATIONS: u32 = 5_000_000;
/// The most memory that scrypt may take, in bytes; OpenSSL takes 16 MiB.
const MOST_MEMORY: u64 = 256 << 20;
/// How often scrypt may go over it.
const MOST_PASSES: u16 = 16;

/// Says whether whoever wrote the key made it so slow to decrypt that trying would keep everybody else waiting.
pub(super) fn is_too_slow(key: &PrivateKey) -> bool {
    matches!(key.kdf(), Kdf::Bcrypt { rounds, .. } if *rounds > MOST_ROUNDS)
}

/// Says the same of an encrypted key of PKCS#8; `None` where the bytes are none.
pub(super) fn is_too_slow_pkcs8(der: &[u8]) -> Option<bool> {
    let info = EncryptedPrivateKeyInfoRef::try_from(der).ok()?;
    let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
        // The older schemes have at most 2^16 rounds of one hash.
        return Some(false);
    };
    Some(match &parameters.kdf {
        Pbes2Kdf::Pbkdf2(pbkdf2) => pbkdf2.iteration_count > MOST_ITERATIONS,
        Pbes2Kdf::Scrypt(scrypt) => {
            let blocks = scrypt
                .cost_parameter
                .saturating_mul(scrypt.block_size.into());
            blocks.saturating_mul(128) > MOST_MEMORY || scrypt.parallelization > MOST_PASSES
        }
        // What is not known is not tried.
        _ => true,
    })
}
