//! `cargo xtask vectors`: runs files of edits against the exact bytes that they must give.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use proof::vectors::{self, Vector};

/// Run YAML edit vectors and print each that gives other bytes. Ends with 1 when one does, and with 2 when a file
/// cannot be read or a vector asks for what its text does not have.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Files in the format of tests/proof/data/yaml-edit-vectors.json.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

const BAD_INPUT: u8 = 2;

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut vectors: Vec<Vector> = Vec::new();
    let mut bad = false;
    for file in &arguments.files {
        let read = fs::read_to_string(file).map_err(|error| error.to_string());
        match read.and_then(|text| vectors::parse(&text).map_err(|error| error.to_string())) {
            Ok(more) => vectors.extend(more),
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                bad = true;
            }
        }
    }
    let (mut passed, mut failed) = (0_usize, 0_usize);
    for vector in &vectors {
        match vector.run() {
            Ok(after) if after == vector.after => passed += 1,
            Ok(after) => {
                failed += 1;
                print_difference(vector, after.as_deref());
            }
            Err(error) => {
                eprintln!("{error}");
                bad = true;
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(match (bad, failed) {
        (true, _) => ExitCode::from(BAD_INPUT),
        (false, 0) => ExitCode::SUCCESS,
        (false, _) => ExitCode::FAILURE,
    })
}

fn print_difference(vector: &Vector, after: Option<&str>) {
    let show = |text: Option<&str>| text.map_or("refused".to_owned(), |text| format!("{text:?}"));
    println!("{}", vector.name);
    println!("  before   {:?}", vector.before);
    println!("  expected {}", show(vector.after.as_deref()));
    println!("  actual   {}", show(after));
}
