//! Which build this is.

use serde_json::json;

/// The version of the product.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that was built, where the build was told.
pub const COMMIT: &str = match option_env!("GITOPS_REVERSER_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// Returns what `/build-info` answers.
pub fn as_json() -> String {
    json!({ "name": "gitops-reverser", "version": VERSION, "commit": COMMIT }).to_string()
}
