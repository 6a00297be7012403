//! What a running program uses, as the kernel counts it.

use std::fmt;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::workbench::Process;

/// How often in a second the kernel counts processor time for `/proc`; the same number on every machine we
/// run on.
const TICKS_PER_SECOND: u64 = 100;

/// What a program uses at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The memory that it holds, in KiB.
    pub resident: u64,
    /// The most memory that it has held so far, in KiB.
    pub peak: u64,
    /// The files, sockets and pipes that it has open.
    pub descriptors: u64,
    /// Its threads.
    pub threads: u64,
    /// The processor time since it was started; of threads that ended it is known in steps of 10 ms only.
    pub processor: Duration,
}

impl Process {
    /// Returns what the program uses now; what it started is not counted.
    pub fn usage(&self) -> Result<Usage> {
        let folder = format!("/proc/{}", self.id());
        let read = |name: &str| {
            let path = format!("{folder}/{name}");
            fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
        };
        let status = read("status")?;
        let descriptors = fs::read_dir(format!("{folder}/fd"))
            .with_context(|| format!("cannot list the open files of {folder}"))?
            .count();
        Ok(Usage {
            resident: field(&status, "VmRSS")?,
            peak: field(&status, "VmHWM")?,
            descriptors: descriptors as u64,
            threads: field(&status, "Threads")?,
            processor: processor(&read("stat")?)?.max(of_threads(&folder)?),
        })
    }
}

/// Returns the number of a line of `/proc/PID/status`.
fn field(status: &str, name: &str) -> Result<u64> {
    status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| *key == name)
        .and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok())
        .with_context(|| format!("no number {name} in the status of a process"))
}

/// Adds the time in the program to the time in the kernel on its behalf.
fn processor(stat: &str) -> Result<Duration> {
    let [user, system, ..] = times(stat)?;
    Ok(of_ticks(user + system))
}

/// Returns the processor time of a process and of everything below it that has ended.
pub(crate) fn with_children(id: u32) -> Result<Duration> {
    Ok(of_ticks(times(&read_stat(&id.to_string())?)?.iter().sum()))
}

/// Returns the processor time of everything below this process that has ended.
pub(crate) fn of_ended_children() -> Result<Duration> {
    let [.., user, system] = times(&read_stat("self")?)?;
    Ok(of_ticks(user + system))
}

fn read_stat(process: &str) -> Result<String> {
    let path = format!("/proc/{process}/stat");
    fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
}

/// Returns the time in the program, in the kernel on its behalf, and both of its children that have ended.
fn times(stat: &str) -> Result<[u64; 4]> {
    // The name of the program is in parentheses and may hold anything, also parentheses and blanks.
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' '));
    let ticks = fields.and_then(|fields| {
        let mut times = fields.skip(11).map(str::parse::<u64>);
        let mut next = || times.next()?.ok();
        Some([next()?, next()?, next()?, next()?])
    });
    ticks.context("no processor time in the stat of a process")
}

fn of_ticks(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// Programs that run at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Together {
    /// How many there are.
    pub programs: u64,
    /// The memory that they hold, in KiB; what they share counts for each.
    pub resident: u64,
}

/// Returns the programs of this machine that were started with that environment variable.
pub(crate) fn started_with(name: &str, value: &str) -> Together {
    let wanted = format!("{name}={value}\0");
    let mut found = Together::default();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        // Whatever ends meanwhile, or belongs to somebody else, is none of them.
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_wanted = environment
            .windows(wanted.len())
            .any(|window| window == wanted.as_bytes());
        let status = is_wanted.then(|| fs::read_to_string(entry.path().join("status")));
        if let Some(Ok(status)) = status {
            found.programs += 1;
            found.resident += field(&status, "VmRSS").unwrap_or_default();
        }
    }
    found
}

/// Adds up the exact times of the threads that still run.
fn of_threads(folder: &str) -> Result<Duration> {
    let mut sum = Duration::ZERO;
    let threads = fs::read_dir(format!("{folder}/task"))
        .with_context(|| format!("cannot list the threads of {folder}"))?;
    for thread in threads {
        let path = thread?.path().join("schedstat");
        // A thread that has ended meanwhile is one that does not run.
        let text = fs::read_to_string(path).unwrap_or_default();
        let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
        sum += Duration::from_nanos(nanoseconds.unwrap_or(0));
    }
    Ok(sum)
}

impl fmt::Display for Usage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:.1} MiB, {} descriptors, {} threads, {:.2} s of a processor",
            self.resident as f64 / 1024.0,
            self.descriptors,
            self.threads,
            self.processor.as_secs_f64()
        )
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::wait;
    use crate::workbench::Workbench;

    /// Returns what a shell uses that opened some files and then waits.
    fn usage_after(workbench: &Workbench, name: &str, opening: &str) -> Usage {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{opening} echo ready; exec sleep 1000")]);
        let process = workbench.start(name, &mut command).unwrap();
        wait::until("the shell", wait::GENEROUS, || {
            process.log().contains("ready").then_some(())
        })
        .unwrap();
        process.usage().unwrap()
    }

    #[test]
    fn each_open_file_of_a_program_counts() {
        let workbench = Workbench::new("test").unwrap();
        // What we have open ourselves may be inherited, and is the same in both.
        let few = usage_after(&workbench, "few", "exec 7<&- 8<&-;");
        let more = usage_after(&workbench, "more", "exec 7</dev/null 8</dev/null;");
        assert_eq!(more.descriptors, few.descriptors + 2);
        assert_eq!(more.threads, 1);
        assert!(more.resident > 0, "{more}");
        assert!(more.peak >= more.resident, "{more}");
    }

    #[test]
    fn processor_time_is_read_behind_a_name_with_blanks() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194304 98 0 0 0 12 30 0 0 20 0 1 0 5 6 7";
        assert_eq!(processor(stat).unwrap(), Duration::from_millis(420));
        assert!(processor("7 (a").is_err());
    }

    #[test]
    fn children_that_ended_count_with_whoever_waited_for_them() {
        let stat = "7 (a) S 1 7 7 0 -1 4194304 98 0 0 0 12 30 5 3 20 0 1 0 5 6 7";
        assert_eq!(times(stat).unwrap(), [12, 30, 5, 3]);
        assert!(with_children(std::process::id()).unwrap() >= Duration::ZERO);
    }

    #[test]
    fn programs_are_found_by_what_they_were_started_with() {
        let workbench = Workbench::new("test").unwrap();
        let folder = workbench.folder().display().to_string();
        assert_eq!(started_with("BENCH", &folder), Together::default());
        let mut command = Command::new("sleep");
        command.arg("1000").env("BENCH", &folder);
        let _process = workbench.start("sleep", &mut command).unwrap();
        wait::until("the program", wait::GENEROUS, || {
            let found = started_with("BENCH", &folder);
            (found.programs == 1 && found.resident > 0).then_some(())
        })
        .unwrap();
        assert_eq!(started_with("BENCH", "elsewhere"), Together::default());
    }
}
