//! Where the document of a new object goes.
//!
//! [`Placement`] is what a target declares about it: one [`Template`] for each type, and one for the rest. For
//! an object without a document, [`Placement::place`] walks the ladder (declared for the type, declared for all,
//! beside the folder's one kustomization, built in) and answers with a path or says why there is none;
//! [`guards`] then says which of the objects that meet at one path may have it. Where other objects of the type
//! live is never looked at (PL-2), and nothing here reads a folder, registers a file or writes one.
//!
//! Two paths that differ in the case of their letters are two paths, as they are for Git; only what no file on
//! some system can be called is escaped (D26).
//!
//! Reading order: [`declared`] is the configuration and its validation, [`template`] the language with its
//! [`variable`]s and `parse`r, [`ladder`] the choice, `builtin` its last rung, [`segment`](mod@segment) the
//! escaping, [`guards`] the admission to a path, [`unplaced`] the reasons for a refusal.

mod builtin;
mod declared;
mod guards;
mod ladder;
mod parse;
pub(crate) mod segment;
mod template;
#[cfg(test)]
mod tests;
mod type_key;
mod unplaced;
mod variable;

pub use declared::{Placement, Problem};
pub use guards::{Admission, Newcomers, Standing, admit, admit_all};
pub use ladder::{Placed, RenderRoot, Site};
pub use parse::TemplateError;
pub use template::{Subject, Template};
pub use type_key::{InvalidTypeKey, TypeKey};
pub use unplaced::Unplaced;
