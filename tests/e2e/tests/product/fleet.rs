//! Many branches at once: every write is in Git exactly once, and the operator stays within its bounds of memory and
//! threads from its start on. `FLEET_SECONDS` is how long people write.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use e2e::api::Api;
use e2e::mirror::Mirror;
use e2e::stage::{FOLDER, GIT_PASSWORD, GIT_USER, REPOSITORY, Setting, Stage};
use serde_json::{Value, json};
use testkit::{GitClone, SshServer, Together, wait};

use crate::dice::from_environment;

const SECONDS: u64 = 10;
/// Over HTTP, one repository for each branch.
const BRANCHES: usize = 50;
const BRANCHES_OVER_SSH: usize = 10;
/// Writes a second for ten branches.
const WRITES_PER_TEN: f64 = 4.0;

const MOST_RESIDENT_KIB: u64 = 300 * 1024;
const MOST_THREADS: u64 = 64;
/// How often it is looked what everybody uses.
const GLANCE: Duration = Duration::from_millis(50);
/// The host is looked at less often: that is a look at every process of the machine.
const GLANCES_PER_LOOK: u32 = 10;

#[test]
fn fifty_branches_on_one_host_take_no_more_than_their_share_and_lose_nothing() {
    let (mut fleet, writes) = Fleet::run(BRANCHES, None);
    let served = fleet.stage.git.served();
    eprintln!(
        "the host: {} programs, {:.1} s of CPU",
        served.programs,
        served.processor.as_secs_f64()
    );
    fleet.stage.stop_operator().unwrap();
    fleet.judge(&writes, |name| fleet.stage.git.clone(name).unwrap());
}

#[test]
fn ten_branches_over_ssh_take_no_more_than_their_share_and_lose_nothing() {
    let (mut fleet, writes) = Fleet::run(BRANCHES_OVER_SSH, Some(SshServer::serving));
    fleet.stage.stop_operator().unwrap();
    let host = fleet.ssh.as_ref().unwrap();
    eprintln!(
        "the host: {:.1} s of CPU",
        host.spent().unwrap().as_secs_f64()
    );
    fleet.judge(&writes, |name| host.clone(name).unwrap());
}

struct Fleet {
    ssh: Option<SshServer>,
    stage: Stage,
    api: Api,
    branches: usize,
}

/// The most that was in use at one moment.
#[derive(Default)]
struct Peak {
    threads: u64,
    host: Together,
}

impl Fleet {
    /// Starts the operator beside the objects of all mirrors at once, lets people write for a while, waits until
    /// everything is published, and checks the bounds. Returns the names of the objects of each branch.
    fn run(
        branches: usize,
        ssh: Option<fn(&testkit::GitServer) -> anyhow::Result<SshServer>>,
    ) -> (Self, Vec<Vec<String>>) {
        let setting = Setting::default();
        let control_plane = setting.control_plane.clone().start().unwrap();
        let stage = Stage::prepare(&setting, control_plane).unwrap();
        let mut fleet = Self {
            ssh: ssh.map(|serving| serving(&stage.git).unwrap()),
            api: Api::start(&stage.admin).unwrap(),
            stage,
            branches,
        };
        fleet.declare();
        fleet.stage.start_operator().unwrap();
        let is_over = AtomicBool::new(false);
        let (peak, writes) = thread::scope(|scope| {
            let peak = scope.spawn(|| fleet.watch(&is_over));
            // Ends the other thread also when this one fails.
            let over = Over(&is_over);
            fleet.wait_ready();
            let writes = fleet.write();
            fleet.wait_published(&writes);
            drop(over);
            (peak.join().unwrap(), writes)
        });
        fleet.check_bounds(&peak);
        (fleet, writes)
    }

    /// Makes a repository and a mirror for each branch.
    fn declare(&self) {
        let original = self.stage.repository.path().display().to_string();
        let make = |number: usize| {
            let repository = self.stage.git.create_repository(&repository(number))?;
            repository.git(&["fetch", "--quiet", &original, "main:main"])?;
            repository.require_fast_forwards()?;
            let mirror = self.mirror(number);
            let objects = mirror.objects();
            objects
                .iter()
                .try_for_each(|object| self.api.create(object))
        };
        self.api.at_once(self.branches, make).unwrap();
    }

    fn mirror(&self, number: usize) -> Mirror {
        let repository = repository(number);
        let (url, credential) = match &self.ssh {
            None => (
                self.stage.git.url(&repository),
                json!({"username": GIT_USER, "password": GIT_PASSWORD}),
            ),
            Some(host) => (
                host.url(&repository),
                json!({
                    "ssh-privatekey": host.client_key().private(),
                    "known_hosts": host.known_hosts(),
                }),
            ),
        };
        Mirror {
            namespace: namespace(number),
            credential,
            ..Mirror::at(&url)
        }
    }

    fn wait_ready(&self) {
        let mut last = String::new();
        wait::until("every target to be ready", 2 * wait::GENEROUS, || {
            // A busy API server may say that it has no time.
            let targets = self.stage.admin.json(&["get", "gittargets", "-A"]).ok()?;
            let targets = targets["items"].as_array()?;
            let waiting = targets.iter().filter(|target| !is_ready(target));
            last = waiting
                .clone()
                .next()
                .map(Value::to_string)
                .unwrap_or_default();
            (targets.len() == self.branches && waiting.count() == 0).then_some(())
        })
        .unwrap_or_else(|error| panic!("{error}: {last}\n{}", self.log_tail()));
    }

    fn log_tail(&self) -> String {
        self.stage.operator().unwrap().log_tail()
    }

    /// Creates an object in one namespace after the other, as often as agreed unless the machine is slower.
    fn write(&self) -> Vec<Vec<String>> {
        let seconds = from_environment("FLEET_SECONDS", SECONDS);
        let a_second = WRITES_PER_TEN * self.branches as f64 / 10.0;
        let count = (a_second * seconds as f64) as usize;
        let started = Instant::now();
        let create = |write: usize| {
            let due = Duration::from_secs_f64(write as f64 / a_second);
            thread::sleep(due.saturating_sub(started.elapsed()));
            let name = name(write);
            self.api.create(&json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": namespace(write % self.branches)},
                "data": {"write": name, "text": format!("first\nsecond {write}\n")},
            }))
        };
        self.api.at_once(count, create).unwrap();
        eprintln!(
            "{} branches: {count} writes in {:.1} s",
            self.branches,
            started.elapsed().as_secs_f64()
        );
        let of = |number| (number..count).step_by(self.branches).map(name).collect();
        (0..self.branches).map(of).collect()
    }

    fn wait_published(&self, writes: &[Vec<String>]) {
        for (number, writes) in writes.iter().enumerate() {
            let repository = self.stage.git.repository(&repository(number)).unwrap();
            wait::until(
                format!("the writes of {number}"),
                2 * wait::GENEROUS,
                || {
                    let files = repository.files("main").ok()?;
                    let is_there = |name: &String| files.contains(&path(number, name));
                    writes.iter().all(is_there).then_some(())
                },
            )
            .unwrap_or_else(|error| panic!("{error}\n{}", self.log_tail()));
        }
    }

    /// Looks again and again what everybody uses.
    fn watch(&self, is_over: &AtomicBool) -> Peak {
        let mut peak = Peak::default();
        let mut glances = 0;
        while !is_over.load(Ordering::SeqCst) {
            let usage = self.stage.operator().unwrap().usage().unwrap();
            peak.threads = peak.threads.max(usage.threads);
            if glances % GLANCES_PER_LOOK == 0 {
                let host = self.stage.git.at_work();
                peak.host.programs = peak.host.programs.max(host.programs);
                peak.host.resident = peak.host.resident.max(host.resident);
            }
            glances += 1;
            thread::sleep(GLANCE);
        }
        peak
    }

    fn check_bounds(&self, peak: &Peak) {
        let usage = self.stage.operator().unwrap().usage().unwrap();
        eprintln!(
            "the operator: at most {:.1} MiB and {} threads; at the end {usage}",
            usage.peak as f64 / 1024.0,
            peak.threads
        );
        eprintln!(
            "the host: at most {} programs at once, {:.1} MiB",
            peak.host.programs,
            peak.host.resident as f64 / 1024.0
        );
        assert!(usage.peak <= MOST_RESIDENT_KIB, "{} KiB", usage.peak);
        assert!(peak.threads <= MOST_THREADS, "{} threads", peak.threads);
    }

    /// Fails unless a fresh clone of each repository holds each write, added by one commit and changed by no other.
    fn judge(&self, writes: &[Vec<String>], clone: impl Fn(&str) -> GitClone) {
        for (number, writes) in writes.iter().enumerate() {
            let clone = clone(&repository(number));
            clone.fsck().unwrap();
            let merges = ["rev-list", "--merges", "--count", "HEAD"];
            assert_eq!(clone.git(&merges).unwrap(), "0");
            let folder = format!("{FOLDER}/{}", namespace(number));
            let log = ["log", "--format=", "--name-status", "HEAD", "--", &folder];
            let log = clone.git(&log).unwrap();
            let mut changes: BTreeMap<&str, u32> = BTreeMap::new();
            for line in log.lines() {
                *changes.entry(line).or_default() += 1;
            }
            for name in writes {
                let path = path(number, name);
                let added = changes.remove(format!("A\t{path}").as_str());
                assert_eq!(added, Some(1), "{path}");
                let text = clone.read(&path).unwrap();
                assert!(text.contains(&format!("write: {name}\n")), "{text}");
            }
            assert!(changes.is_empty(), "{changes:?}");
        }
    }
}

/// Says that something is over when it goes away.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn is_ready(target: &Value) -> bool {
    let conditions = target["status"]["conditions"].as_array();
    conditions.is_some_and(|conditions| {
        conditions
            .iter()
            .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    })
}

fn repository(number: usize) -> String {
    format!("{REPOSITORY}-{number:02}")
}

fn namespace(number: usize) -> String {
    format!("fleet-{number:02}")
}

fn name(write: usize) -> String {
    format!("write-{write:05}")
}

fn path(number: usize, name: &str) -> String {
    format!("{FOLDER}/{}/configmaps/{name}.yaml", namespace(number))
}
