//! The files in `crds/yaml` are what the types generate.

use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the repository")
        .to_owned()
}

#[test]
fn generated_yaml_is_current() {
    let update = std::env::var_os("UPDATE_GENERATED").is_some();
    for (path, content) in crds::files() {
        let file = repository().join(&path);
        if update {
            std::fs::write(&file, &content).expect("the file is writable");
        }
        let on_disk = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            on_disk == content,
            "{path} is not what the types generate: run `cargo xtask generate`"
        );
    }
}

#[test]
fn no_file_is_left_over() {
    let expected: Vec<String> = crds::files().into_iter().map(|(path, _)| path).collect();
    let folder = repository().join("crds/yaml");
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let name = entry.expect("the folder is readable").file_name();
        let path = format!("crds/yaml/{}", name.to_string_lossy());
        assert!(expected.contains(&path), "{path} belongs to no kind");
    }
}
