//! A repository as one text: each file after a line that names it.

use std::collections::BTreeMap;

/// The content of each file by its path.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Reads a text in which each file begins with a line such as `== base/kustomization.yaml`.
///
/// # Panics
/// When the text does not begin with such a line.
pub fn files(text: &str) -> Files {
    let mut files = Files::new();
    let mut current: Option<&mut Vec<u8>> = None;
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("== ") {
            current = Some(files.entry(path.trim_end().to_owned()).or_default());
            continue;
        }
        let file = current.as_mut();
        file.expect("because an archive begins with the name of a file")
            .extend_from_slice(line.as_bytes());
    }
    files
}

/// Writes files down as [`files`] reads them.
pub fn text(files: &Files) -> String {
    let mut text = String::new();
    for (path, content) in files {
        text.push_str(&format!("== {path}\n"));
        text.push_str(&String::from_utf8_lossy(content));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}
