//! The YAML files in the sources of the pinned tools.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::Text;

/// Reads every YAML file of every Go module that the tools are pinned to, each content once, after fetching the
/// modules that are missing. Returns also how many files are no UTF-8.
///
/// # Errors
/// Returns what is missing to fetch them, or that there are suspiciously few.
pub fn module_texts() -> Result<(Vec<Text>, usize)> {
    let mut texts = Vec::new();
    let mut seen = HashSet::new();
    let mut not_text = 0;
    for folder in testkit::tools::module_folders()? {
        let mut files = Vec::new();
        find(&folder, &mut files)?;
        files.sort();
        for file in files {
            let bytes =
                fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let Ok(bytes) = String::from_utf8(bytes) else {
                not_text += 1;
                continue;
            };
            if seen.insert(bytes.clone()) {
                let below = file
                    .strip_prefix(folder.parent().unwrap_or(&folder))
                    .unwrap_or(&file);
                let name = below.display().to_string();
                texts.push(Text { name, bytes });
            }
        }
    }
    ensure!(
        texts.len() > 1000,
        "the sources of the tools hold only {} YAML files",
        texts.len()
    );
    Ok((texts, not_text))
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        let path = entry.path();
        let kind = entry
            .file_type()
            .with_context(|| format!("cannot look at {}", path.display()))?;
        if kind.is_dir() {
            find(&path, files)?;
        } else if kind.is_file()
            && path
                .extension()
                .is_some_and(|end| end == "yaml" || end == "yml")
        {
            files.push(path);
        }
    }
    Ok(())
}
