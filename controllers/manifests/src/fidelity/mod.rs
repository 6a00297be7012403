//! Whether what Git says and what runs are the same thing.
//!
//! A `${…}` in Git that the live object does not hold literally is filled in by whoever applies the folder. Such a
//! place is never overwritten: mirroring it would put one cluster's value over everybody's template (RT-1).

mod tokens;

pub(crate) use tokens::{Divergence, divergences};
