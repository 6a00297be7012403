//! How hosts fail, between the built operator and an unmodified `git http-backend` or `sshd`; a fresh clone by the real git
//! judges what became of it.
//!
//! Cases are numbered as the crate `repository` numbers them. Cases that can share an operator run side by side, each
//! with a repository and a namespace of its own, because most of their time is waiting. What the wire cannot carry to the
//! operator is proved in `repository`: 4, 21, 23, 26, 28 to 30, 33, 34.

mod absent;
mod callers;
mod offsets;
mod races;
mod refusals;
mod shutdown;
mod silence;
mod stores;

use std::thread;
use std::time::Instant;

use e2e::judge::Judge;
use e2e::mirror::Mirror;
use e2e::stage::{FOLDER, Setting, Stage};
use serde_json::json;
use testkit::relay::Relay;
use testkit::{GitClone, GitServer, Repository, wait};

/// Lets a hook change refs while the objects of a push are not taken in yet.
const OUT_OF_QUARANTINE: &str =
    "unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
";

/// Starts a stage on which nothing is mirrored yet.
fn stage(flags: &[&str]) -> Stage {
    let setting = Setting::default();
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    stage.start_operator_with(&flags).unwrap();
    stage
}

/// What a case does on the stage, in a place of its own that has its name.
type Case<'a> = (&'static str, &'a (dyn Fn(&Stage, &str) + Sync));

/// Lists functions with their names.
macro_rules! cases {
    ($($case:ident),* $(,)?) => {
        &[$((stringify!($case), &$case)),*]
    };
}
use cases;

/// Runs cases side by side and names those that failed.
fn together(stage: &Stage, cases: &[Case<'_>]) {
    let failed: Vec<&str> = thread::scope(|scope| {
        let running: Vec<_> = cases
            .iter()
            .map(|&(name, case)| {
                let thread = thread::Builder::new().name(name.to_owned());
                let running = thread.spawn_scoped(scope, move || {
                    let started = Instant::now();
                    case(stage, name);
                    eprintln!("{name}: {} ms", started.elapsed().as_millis());
                });
                (name, running.unwrap())
            })
            .collect();
        let ended = running
            .into_iter()
            .map(|(name, thread)| (name, thread.join()));
        ended
            .filter(|(_, ended)| ended.is_err())
            .map(|(name, _)| name)
            .collect()
    });
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// Names the place of a case: a function may have a longer name than a namespace.
fn name_of(case: &str) -> String {
    let name: String = case.replace('_', "-").chars().take(50).collect();
    name.trim_end_matches('-').to_owned()
}

/// A repository and the namespace that is mirrored into it.
struct Place<'a> {
    stage: &'a Stage,
    host: &'a GitServer,
    name: String,
    repository: Repository,
}

impl<'a> Place<'a> {
    /// Makes an empty repository that takes nothing but fast-forwards.
    fn empty(stage: &'a Stage, case: &str) -> Self {
        Self::empty_at(&stage.git, stage, case)
    }

    /// Makes such a repository at a host of the case's own.
    fn empty_at(host: &'a GitServer, stage: &'a Stage, case: &str) -> Self {
        let name = name_of(case);
        let repository = host.create_repository(&name).unwrap();
        repository.require_fast_forwards().unwrap();
        Self {
            stage,
            host,
            name,
            repository,
        }
    }

    /// Returns to the place of a case.
    fn again(stage: &'a Stage, case: &str) -> Self {
        let name = name_of(case);
        let repository = stage.git.repository(&name).unwrap();
        Self {
            stage,
            host: &stage.git,
            name,
            repository,
        }
    }

    /// Makes a repository with a file of a person on `main`.
    fn seeded(stage: &'a Stage, case: &str) -> Self {
        Self::seeded_at(&stage.git, stage, case)
    }

    /// Makes such a repository at a host of the case's own.
    fn seeded_at(host: &'a GitServer, stage: &'a Stage, case: &str) -> Self {
        let place = Self::empty_at(host, stage, case);
        place.repository.seed(&[("README.md", "# Ours\n")]).unwrap();
        place
    }

    /// Describes the mirror of the namespace on `main`.
    fn mirror(&self) -> Mirror {
        Mirror {
            namespace: self.name.clone(),
            idle_timeout: "100ms".to_owned(),
            ..Mirror::at(&self.host.url(&self.name))
        }
    }

    /// Describes the same mirror with a relay on the way to the host.
    fn mirror_through(&self, relay: &Relay) -> Mirror {
        Mirror {
            url: relay.url(&format!("{}.git", self.name)),
            ..self.mirror()
        }
    }

    /// Starts a mirror and waits until it runs.
    fn start(&self, mirror: &Mirror) {
        self.stage.start_mirror(mirror).unwrap();
        self.wait_ready();
    }

    fn wait_ready(&self) {
        for object in ["gittarget/demo", "gitbranch/main"] {
            let conditions = self.stage.conditions(&self.name, object);
            conditions
                .wait("Ready", |found| found.status == "True")
                .unwrap_or_else(|error| panic!("{error:#}"));
        }
    }

    /// Waits until the branch says this about itself, and returns its message.
    fn wait_branch(&self, wanted: [&str; 3]) -> String {
        let conditions = self.stage.conditions(&self.name, "gitbranch/main");
        let found = conditions.wait_for("Ready", wanted);
        found.unwrap_or_else(|error| panic!("{error:#}")).message
    }

    /// Gives an object of the namespace a value.
    fn edit(&self, object: &str, value: &str) {
        self.edit_with(object, value, &json!({}));
    }

    /// Gives an object of the namespace a value, and more data beside it.
    fn edit_with(&self, object: &str, value: &str, more: &serde_json::Value) {
        let mut data = more.clone();
        data["is"] = json!(value);
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": object, "namespace": self.name}, "data": data,
        });
        let apply = ["apply", "--server-side", "--validate=false", "-f", "-"];
        let admin = &self.stage.admin;
        // An API server that is starved of processor time breaks connections off.
        wait::until_ok("the edit", wait::GENEROUS, || {
            admin.run_with_input(&apply, &object.to_string())
        })
        .unwrap();
    }

    fn path(&self, object: &str) -> String {
        format!("{FOLDER}/{}/configmaps/{object}.yaml", self.name)
    }

    /// Waits until the value of an object is on a branch.
    fn wait_on(&self, branch: &str, object: &str, value: &str) {
        let path = self.path(object);
        let line = format!("is: {value}\n");
        let what = format!("{line:?} in {path} on {branch}");
        wait::until(what, wait::GENEROUS, || {
            let text = self.repository.file(branch, &path).ok()?;
            text.contains(&line).then_some(())
        })
        .unwrap_or_else(|error| panic!("{error}\n{}", self.explain()));
    }

    fn wait(&self, object: &str, value: &str) {
        self.wait_on("main", object, value);
    }

    /// Gives an object a value and waits until `main` has it.
    fn publish(&self, object: &str, value: &str) {
        self.edit(object, value);
        self.wait(object, value);
    }

    fn tip(&self, branch: &str) -> String {
        let tip = self.repository.branch(branch);
        tip.unwrap_or_else(|| panic!("there is no {branch}"))
    }

    /// Returns a clone of somebody else.
    fn person(&self) -> GitClone {
        self.host.clone(&self.name).unwrap()
    }

    /// Lets somebody else push a file to `main`, and returns the commit.
    fn push_of_a_person(&self, file: &str) -> String {
        let person = self.person();
        person.write(file, "theirs\n").unwrap();
        person.commit(file).unwrap();
        person.pull_and_push().unwrap();
        person.head().unwrap()
    }

    /// Returns how many requests with that method and the end of that path came for the repository.
    fn requests(&self, method: &str, end: &str) -> usize {
        let path = format!("/{}.git/{end}", self.name);
        let requests = self.host.requests().into_iter();
        requests
            .filter(|request| request.method == method && request.path == path)
            .count()
    }

    fn pushes(&self) -> usize {
        self.requests("POST", "git-receive-pack")
    }

    /// Waits until the repository was looked at so many times more.
    fn wait_looks(&self, count: usize) {
        let looks = || self.requests("GET", "info/refs");
        let wanted = looks() + count;
        let what = format!("{count} looks at {}", self.name);
        wait::until(what, wait::GENEROUS, || (looks() >= wanted).then_some(())).unwrap();
    }

    /// Waits until all is well, and returns the judge of the branch. What was there before has to be there still, and no
    /// update may have gone back.
    fn judge(&self, branch: &str, kept: &[&str]) -> Judge {
        self.wait_ready();
        let judge = Judge::of(self.person(), branch).unwrap();
        judge.check_kept(kept.iter().copied()).unwrap();
        let updates = self.repository.updates().unwrap();
        assert!(updates.iter().all(|update| update.accepted), "{updates:?}");
        judge
    }

    /// Checks that each edit of an object is in history once, in its order.
    fn check_edits(&self, judge: &Judge, object: &str, values: &[&str]) {
        assert_eq!(judge.values(&self.path(object), "is").unwrap(), values);
    }

    fn explain(&self) -> String {
        let arguments = [
            "get",
            "gitbranches,gittargets",
            "-n",
            &self.name,
            "-o",
            "yaml",
        ];
        let objects = self.stage.admin.run(&arguments);
        let log = self.stage.operator().map(|operator| operator.log_tail());
        format!("{objects:?}\n{log:?}")
    }
}
