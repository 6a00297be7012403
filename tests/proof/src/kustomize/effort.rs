//! How much is tried, and by which chance.

use std::env;
use std::str::FromStr;

use anyhow::{Context, Result};

use crate::dice::Dice;

/// How many folders each property is tried with in the ordinary run.
const CASES: usize = 300;
/// Decides the folders of the ordinary run.
const SEED: u64 = 20_261_130;

/// How much is tried.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// How many folders.
    pub cases: usize,
    /// What decides them.
    pub seed: u64,
}

impl Effort {
    /// Reads `KUSTOMIZE_CASES` and `KUSTOMIZE_SEED`, where they are set.
    ///
    /// # Errors
    /// Returns that one of them is no number.
    pub fn from_environment() -> Result<Self> {
        Ok(Self {
            cases: number("KUSTOMIZE_CASES", CASES)?,
            seed: number("KUSTOMIZE_SEED", SEED)?,
        })
    }

    /// Starts the choices.
    pub fn dice(self) -> Dice {
        Dice::new(self.seed)
    }
}

fn number<N: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    name: &str,
    otherwise: N,
) -> Result<N> {
    match env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name} is no number")),
        Err(_) => Ok(otherwise),
    }
}
