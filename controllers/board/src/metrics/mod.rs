//! Metric families that cannot grow without bound, and the list from which the reference is printed.
//!
//! A crate registers its families through a [`Registrar`] and keeps the [`Family`] handles by value. Every
//! family has a cap on its series; what comes later is counted in one overflow series. A gauge about a
//! work loop is not kept but read when somebody asks ([`Registrar::observe`]), so it never shows the last
//! healthy moment of a loop that is stuck. Read [`family`] first, then [`registrar`].

pub mod family;
pub mod registrar;

pub use family::{Family, FamilyKind, FamilySpec, MAX_SERIES, OVERFLOW_LABEL};
pub use registrar::{FamilyRow, Observations, RegisterError, Registrar};
