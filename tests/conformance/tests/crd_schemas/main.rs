//! What a real API server says about the schemas of the ten kinds.
//!
//! `samples` are accepted, `fields` are explained, `rules` speak in the words of the table, `grant_lists` keep
//! absent and empty apart, and `status` has its bounds. The data stands in `data/`.

mod cluster;
mod fields;
mod grant_lists;
mod rules;
mod samples;
mod status;
