//! kill -9 at random moments, and what a fresh clone says afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use branch::journal::Journal;
use testkit::{GitServer, Workbench, wait};

use crate::history;
use crate::support::{Edit, Places, Writer};

/// Set in the process that is killed: the data folder, the address of the repository, and the first number of each person.
pub(crate) const ROLE: &str = "BRANCH_WRITER_PROCESS";
/// How often it is killed unless `JOURNAL_KILLS` says another number.
const KILLS: u64 = 30;
const PEOPLE: [&str; 2] = ["alice", "bob"];
/// Numbers of each person begin at a multiple of this, so that no two edits have the same.
const APART: u64 = 1_000_000;

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// A small generator: the same seed gives the same moments.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// The process that is killed. It tells on its standard output of each edit that it hands over and of each that was
/// accepted. A run of the tests that is not such a process returns at once.
#[test]
fn writer_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let [data, url, first @ ..] = &role.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{role}")
    };
    let places = Places {
        data: Path::new(data),
        url,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let writer = Writer::start(&places).await;
        let mut people = tokio::task::JoinSet::new();
        for (by, first) in PEOPLE.iter().zip(first) {
            let (handle, mut number) = (writer.handle.clone(), first.parse::<u64>().unwrap());
            people.spawn(async move {
                loop {
                    let edit = Edit::new(by, format!("{by}-{}", number % 3), number);
                    println!("\nhanding {by} {number}");
                    handle.offer(edit.delivery()).await.unwrap();
                    println!("\naccepted {by} {number}");
                    number += 1;
                    tokio::time::sleep(Duration::from_millis(5 + number % 20)).await;
                }
            });
        }
        if first.is_empty() {
            println!("\nunpublished {}", writer.stop().await);
            return;
        }
        std::future::pending::<()>().await;
    });
}

fn start(role: &str) -> (Child, mpsc::Receiver<String>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::writer_process", "--nocapture"])
        .env(ROLE, role)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _gone = sender.send(line);
        }
    });
    (child, lines)
}

/// What became of the edits, as far as the process that made them told.
#[derive(Default)]
struct Told {
    handed: BTreeSet<(String, u64)>,
    accepted: BTreeSet<(String, u64)>,
}

impl Told {
    fn take(&mut self, line: &str) {
        let words: Vec<_> = line.split(' ').collect();
        if let ["handing" | "accepted", by, number] = words[..] {
            let edit = (by.to_owned(), number.parse().unwrap());
            if words[0] == "accepted" {
                self.accepted.insert(edit.clone());
            }
            self.handed.insert(edit);
        }
    }

    fn next(&self, by: &str, index: u64) -> u64 {
        let last = self.handed.iter().rfind(|(who, _)| who == by);
        last.map_or((index + 1) * APART, |(_, number)| number + 1)
    }
}

#[test]
fn d33_after_kills_every_accepted_edit_is_in_git_once_by_its_author() {
    let seed = from_environment("JOURNAL_SEED", 20_261_130);
    let kills = from_environment("JOURNAL_KILLS", KILLS);
    eprintln!("seed {seed}, {kills} kills");
    let mut dice = Dice(seed);
    let server = GitServer::start().unwrap();
    let repository = server.create_repository("platform").unwrap();
    repository.seed(&[("README.md", "a platform\n")]).unwrap();
    let bench = Workbench::new("journal").unwrap();
    let data = bench.path("data");
    std::fs::create_dir(&data).unwrap();
    let url = server.url("platform");
    let mut told = Told::default();
    let (mut recovered, mut published) = (0, 0);
    for _ in 0..kills {
        let first: Vec<_> = (0..)
            .zip(PEOPLE)
            .map(|(index, by)| told.next(by, index).to_string())
            .collect();
        let (mut child, lines) = start(&format!("{} {url} {}", data.display(), first.join(" ")));
        let wanted = 1 + dice.below(40);
        let accepted = told.accepted.len();
        while told.accepted.len() < accepted + usize::try_from(wanted).unwrap() {
            told.take(&lines.recv_timeout(Duration::from_secs(60)).unwrap());
        }
        // Every other time it may publish first, so that a push is as often under way as just over.
        let before = repository.branch("main");
        if dice.below(2) == 0 {
            wait::until("a push", wait::GENEROUS, || {
                (repository.branch("main") != before).then_some(())
            })
            .unwrap();
            published += 1;
        }
        // Into the middle of whatever it does by then.
        std::thread::sleep(Duration::from_millis(dice.below(60)));
        child.kill().unwrap();
        child.wait().unwrap();
        while let Ok(line) = lines.recv() {
            told.take(&line);
        }
        let places = Places {
            data: &data,
            url: &url,
        };
        recovered += places.journal().recover().deliveries.len();
    }
    finish(&data, &url);
    judge(&told, &history::edits(&server, "platform"));
    eprintln!(
        "{} edits accepted, {} handed over; {recovered} came out of the journal, {published} lives published",
        told.accepted.len(),
        told.handed.len()
    );
    assert!(recovered > 0, "no kill left anything to recover");
    assert!(published > 0, "nothing was published between the kills");
}

/// Lets a writer publish what is left, and looks into the journal.
fn finish(data: &Path, url: &str) {
    let (mut child, lines) = start(&format!("{} {url}", data.display()));
    let last = lines.iter().find(|line| line.starts_with("unpublished"));
    assert_eq!(last.as_deref(), Some("unpublished 0"));
    assert!(child.wait().unwrap().success());
    let recovered = Places { data, url }.journal().recover();
    assert!(recovered.deliveries.is_empty(), "{recovered:?}");
}

fn judge(told: &Told, edits: &[Edit]) {
    let mut found: BTreeMap<(String, u64), u32> = BTreeMap::new();
    let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
    for edit in edits {
        *found.entry((edit.by.clone(), edit.number)).or_default() += 1;
        assert_eq!(edit.object, format!("{}-{}", edit.by, edit.number % 3));
        let before = newest.insert(&edit.object, edit.number);
        assert!(before < Some(edit.number), "{edit:?} after {before:?}");
    }
    for edit in &told.accepted {
        assert_eq!(found.get(edit), Some(&1), "{edit:?} was accepted");
    }
    for (edit, times) in found {
        assert!(told.handed.contains(&edit), "{edit:?} was never made");
        assert_eq!(times, 1, "{edit:?}");
    }
}
