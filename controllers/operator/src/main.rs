//! Starts the operator.

use std::process::ExitCode;

use operator::environment::Environment;
use operator::process;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let words = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    process::run(words, &Environment::of_this_process())
}
