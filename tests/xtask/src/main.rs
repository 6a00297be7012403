//! The project's commands, run as `cargo xtask COMMAND`.
//!
//! One file per command, and nothing else: what commands share with tests is in `testkit`.
#![allow(
    clippy::disallowed_methods,
    reason = "commands run cargo and the package manager; nothing of this is in the product"
)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command talks to whoever typed it"
)]

mod bench;
mod controlplane;
mod demo;
mod generate;
mod repository;
mod test;
mod vectors;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Commands for people who work on this project.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Bench(bench::Arguments),
    Controlplane(controlplane::Arguments),
    Generate(generate::Arguments),
    Test(test::Arguments),
    Vectors(vectors::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Controlplane(arguments) => controlplane::run(&arguments),
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Vectors(arguments) => vectors::run(&arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
