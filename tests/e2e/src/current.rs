//! What only the running process can have said: the evidence that it has looked at everything anew.
//!
//! A status on the API server may be what the process before left. Metrics and the extension API are answered
//! out of the memory of the process that runs now.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use testkit::wait;

use crate::cluster::Cluster;
use crate::stage::{Stage, TEAM};

/// How long the process may take to write its own port's answer.
const ANSWER: Duration = Duration::from_secs(10);

/// The samples of one scrape: each series as it is spelled, with its value.
#[derive(Debug)]
pub struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    /// Reads what the process at that port of this machine serves.
    pub fn of(port: u16) -> Result<Self> {
        let mut wire = TcpStream::connect(("127.0.0.1", port)).context("no metrics are served")?;
        wire.set_read_timeout(Some(ANSWER))?;
        wire.write_all(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        wire.read_to_string(&mut answer)?;
        ensure!(
            answer
                .lines()
                .next()
                .is_some_and(|line| line.contains(" 200 ")),
            "{answer}"
        );
        let sample = |line: &str| {
            let (series, value) = line.rsplit_once(' ')?;
            Some((series.to_owned(), value.trim().parse().ok()?))
        };
        let samples = answer
            .lines()
            .filter(|line| line.starts_with("gitopsreverser_"));
        Ok(Self(samples.filter_map(sample).collect()))
    }

    /// Adds up all series of a family whose labels contain each of these texts.
    pub fn sum(&self, family: &str, labels: &[&str]) -> f64 {
        let prefix = format!("gitopsreverser_{family}{{");
        let wanted = |series: &str| {
            series.starts_with(&prefix) && labels.iter().all(|label| series.contains(label))
        };
        // A sum over nothing would be the negative zero.
        self.0
            .iter()
            .filter(|(series, _)| wanted(series))
            .fold(0.0, |sum, (_, value)| sum + value)
    }
}

impl<C: Cluster> Stage<C> {
    /// Waits until the process that was started last has read every collection of a target anew, has decided
    /// and published all of it on a branch whose tip it has itself seen, and calls the target Ready.
    pub fn wait_current(&self, target: &str) -> Result<()> {
        wait::until_ok(format!("{target} to be current"), wait::GENEROUS, || {
            self.check_current(target)
        })
        .with_context(|| self.explain(target))?;
        self.wait_ready(target)
    }

    fn check_current(&self, target: &str) -> Result<()> {
        let namespace = format!("gittarget_namespace=\"{TEAM}\"");
        let name = format!("gittarget_name=\"{target}\"");
        let of_target = [namespace.as_str(), name.as_str()];
        let object = self.admin.json(&["get", "gittarget", target, "-n", TEAM])?;
        let total = object["status"]["streams"]["total"].as_f64().unwrap_or(0.0);
        let first = Scrape::of(self.metrics_port)?;
        let replays = first.sum("watch_replay_duration_seconds_count", &of_target);
        let open = first.sum("watch_streams_open", &of_target);
        ensure!(
            total >= 1.0 && replays >= total && open >= total,
            "{replays} replays handed over and {open} streams of {total} collections"
        );
        // Scraped after the replays were accepted, so that their decisions are among what is counted.
        let waiting = Scrape::of(self.metrics_port)?.sum("git_retained_writes", &[]);
        ensure!(waiting == 0.0, "{waiting} writes wait");
        let branch = object["spec"]["gitBranchRef"]["name"]
            .as_str()
            .context("a target names its branch")?;
        let view = self
            .admin
            .json(&["get", "branchstatus", branch, "-n", TEAM])?;
        let status = &view["status"];
        let verified: Timestamp = status["verifiedAt"]
            .as_str()
            .context("nobody has looked at the tip")?
            .parse()?;
        // What is served is spelled in whole seconds.
        let started = self.started_at().as_second();
        ensure!(
            verified.as_second() >= started,
            "the tip was seen at {verified}, before the start"
        );
        ensure!(
            status["ready"] == true
                && status["pendingObjects"] == 0
                && status["pendingWrites"] == 0,
            "{status}"
        );
        Ok(())
    }
}
