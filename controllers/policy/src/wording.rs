//! How lists read in a message.

use std::fmt::Display;

/// Joins the items with commas.
pub(crate) fn joined<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    texts.join(", ")
}

/// Joins the items with commas, each in double quotes.
pub(crate) fn quoted<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    joined(items.into_iter().map(|item| format!("\"{item}\"")))
}
