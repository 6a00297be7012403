//! Conversions at the border between the CRD types and the words of the domain.

pub(crate) mod conditions;
pub(crate) mod grants;
pub(crate) mod selectors;
pub(crate) mod times;
