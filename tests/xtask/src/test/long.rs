//! What does not fit into the ordinary run: more cases, more kills, longer use, and the check of licences.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::succeed;
use super::tally::Tally;
use crate::repository::{cargo, root};

/// How many cases each property is tried with; the ordinary run takes the library's default.
const CASES: &str = "10000";
/// How many cases each property is tried with that works on a disk, for a fifth of a second each.
const CASES_ON_DISK: &str = "1000";
/// How long each fuzz target is fed; the ordinary run does it for a shorter time.
const FUZZ_SECONDS: &str = "600";
/// How many kill series are run, each with a seed of its own.
const SERIES: u64 = 4;
/// How often the branch writer is killed; the ordinary run does it less often.
const JOURNAL_KILLS: &str = "200";
/// How long the operator is used in one go; the ordinary run does it for a shorter time.
const SOAK_SECONDS: &str = "600";
/// How many requests are spoiled; the ordinary run does it for fewer.
const WIRE_FAULTS: &str = "40";
/// How many connections break in each place of a session; the ordinary run breaks fewer.
const HOSTS_ROUNDS: &str = "10";
/// How long two people push while objects change; the ordinary run does it for a shorter time.
const CONTENTION_SECONDS: &str = "120";
/// How long people write to many branches; the ordinary run does it for a shorter time.
const FLEET_SECONDS: &str = "60";
/// How many cases of each row of the contract are judged.
const ROWS_CASES: &str = "1000";
/// How many of them go through the branch writer and the command as well.
const TWIN_CASES: &str = "6";
/// How many folders kustomize's library judges in each of its properties.
const KUSTOMIZE_CASES: &str = "5000";
/// The test programs with properties, beside the unit tests of the crates.
const WITH_PROPERTIES: [&str; 2] = ["plan_properties", "yaml_properties"];

/// Tries every property with many more cases.
pub(super) fn properties(tally: &mut Tally) -> Result<()> {
    let mut command = cargo();
    // The whole workspace, because cargo builds a part of it with other features, and so all anew.
    command.args(["test", "--workspace", "--lib"]);
    for name in WITH_PROPERTIES {
        command.args(["--test", name]);
    }
    command.env("PROPTEST_CASES", CASES);
    super::count(&mut command, tally)?;
    let mut command = cargo();
    command.args(["test", "--workspace", "--test", "cycle"]);
    command.env("PROPTEST_CASES", CASES_ON_DISK);
    super::count(&mut command, tally)
}

/// Judges more cases of each row of the contract, with a new seed that it prints.
pub(super) fn rows(tally: &mut Tally) -> Result<()> {
    let mut command = cargo();
    command
        .args(["test", "--workspace"])
        .args(["--test", "rows", "--test", "built", "--test", "twins"])
        .args(["--", "--nocapture"])
        .env("ROWS_CASES", ROWS_CASES)
        .env("ROWS_SEED", seconds_since_1970()?.to_string())
        .env("TWIN_CASES", TWIN_CASES);
    super::count(&mut command, tally)
}

/// Lets kustomize's library judge more folders, with a new seed that it prints.
pub(super) fn kustomize(tally: &mut Tally) -> Result<()> {
    let mut command = cargo();
    command
        .args(["test", "--workspace", "--test", "kustomize"])
        .args(["--", "--nocapture"])
        .env("KUSTOMIZE_CASES", KUSTOMIZE_CASES)
        .env("KUSTOMIZE_SEED", seconds_since_1970()?.to_string());
    super::count(&mut command, tally)
}

/// Feeds each fuzz target for ten minutes, with a new seed that it prints.
pub(super) fn fuzz(tally: &mut Tally) -> Result<()> {
    let mut command = cargo();
    command
        .args(["test", "--workspace", "--test", "fuzz", "--", "--nocapture"])
        .env("FUZZ_SECONDS", FUZZ_SECONDS)
        .env("FUZZ_SEED", seconds_since_1970()?.to_string());
    super::count(&mut command, tally)
}

/// Kills the operator in more series, each with a new seed that it prints.
pub(super) fn kills(tally: &mut Tally) -> Result<()> {
    let now = seconds_since_1970()?;
    for series in 0..SERIES {
        let mut command = product("kills::");
        command.env("SEED", (now + series).to_string());
        super::count(&mut command, tally)?;
    }
    Ok(())
}

/// Kills a branch writer with its store and its journal two hundred times, with a new seed that it prints, and has
/// `strace` show that it syncs before it accepts.
pub(super) fn journal(tally: &mut Tally) -> Result<()> {
    let mut command = cargo();
    command
        .args(["test", "--workspace", "--test", "writer"])
        .args(["--", "--nocapture", "kills::", "trace::"])
        .env("JOURNAL_TRACE", "1")
        .env("JOURNAL_KILLS", JOURNAL_KILLS)
        .env("JOURNAL_SEED", seconds_since_1970()?.to_string());
    super::count(&mut command, tally)
}

/// Uses the operator for ten minutes, with a new seed that it prints, and looks whether it grows.
pub(super) fn soak(tally: &mut Tally) -> Result<()> {
    let mut command = product("soak::");
    command
        .env("SOAK_SECONDS", SOAK_SECONDS)
        .env("SOAK_SEED", seconds_since_1970()?.to_string());
    super::count(&mut command, tally)
}

/// Spoils more requests on the way to the Git host and breaks more connections, with a new seed that it prints.
pub(super) fn wire(tally: &mut Tally) -> Result<()> {
    let mut command = product("wire::b002");
    command
        .env("WIRE_FAULTS", WIRE_FAULTS)
        .env("WIRE_SEED", seconds_since_1970()?.to_string());
    super::count(&mut command, tally)?;
    let mut command = product("hosts::offsets");
    command.env("HOSTS_ROUNDS", HOSTS_ROUNDS);
    super::count(&mut command, tally)
}

/// Lets two people push every second for two minutes while objects change.
pub(super) fn contention(tally: &mut Tally) -> Result<()> {
    let mut command = product("contention::");
    command.env("CONTENTION_SECONDS", CONTENTION_SECONDS);
    super::count(&mut command, tally)
}

/// Lets people write to fifty branches for a minute.
pub(super) fn fleet(tally: &mut Tally) -> Result<()> {
    let mut command = product("fleet::");
    command.env("FLEET_SECONDS", FLEET_SECONDS);
    super::count(&mut command, tally)
}

/// Runs those tests of the whole product whose names contain this.
fn product(filter: &str) -> Command {
    let mut command = cargo();
    command
        .args(["test", "--workspace", "--test", "product"])
        .args(["--", "--nocapture", filter]);
    command
}

/// Returns a number that no run before had, for a seed.
fn seconds_since_1970() -> Result<u64> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .context("the clock is before 1970")?;
    Ok(now.as_secs())
}

/// Checks licences, banned crates and sources. The advisories need the internet and are left to a scheduled
/// run elsewhere.
pub(super) fn licences() -> Result<()> {
    let tools = root().join("target/tools");
    succeed(
        cargo()
            .args(["install", "cargo-deny", "--locked", "--root"])
            .arg(&tools),
    )?;
    let mut path =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    path.insert(0, tools.join("bin"));
    let path = std::env::join_paths(path).context("PATH holds a name that no PATH can hold")?;
    succeed(
        cargo()
            .args(["deny", "check", "bans", "licenses", "sources"])
            .env("PATH", path),
    )
}
