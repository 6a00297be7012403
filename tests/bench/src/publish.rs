//! What it costs to commit and push some files of a large folder, beside the `git` command line.
//!
//! Both sides change the same files of equal repositories on the same hosts, in turn, so that whatever else the machine
//! does hits both. Ours is what a branch writer does with a planned write: an attempt on its local store, a commit, a
//! pack, a push session, and taking the objects into the store. The other side is what a person or a script does in a
//! clone: `git commit --all` and `git push`; writing the files into the working tree is not counted. Our connections are
//! kept from one push to the next, as a branch writer keeps them; git opens its own each time.
//!
//! We have no way to a repository in a folder. Its rows show what git takes there, against ours over HTTP.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use model::{BranchName, CommitId, RepoPath, RepositoryUrl, Signature};
use repository::{
    Attempt, CommitText, Credential, Endpoint, HostKeyTrust, HttpRemote, KnownHosts, Limits,
    ObjectFormat, ProxyPolicy, PushOutcome, PushRequest, Remote, SecretData, SshRemote, Store,
    TlsTrust, TreeEdit,
};
use testkit::{GitClone, GitServer, Repository, SshServer, Workbench};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// How many files the folder has unless the caller says another number.
const FILES: usize = 10_000;
const FOLDER: &str = "clusters/prod/team-a/configmaps";
/// How many of them change in one commit.
const CHANGES: [usize; 3] = [1, 10, 1_000];
/// Of so many commits the median counts; one more before them opens connections and fills caches.
const ROUNDS: usize = 5;
/// What the repository has that all others are copies of.
const ORIGINAL: &str = "original";

/// A way to a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Http,
    Ssh,
    File,
}

/// How long one commit took.
#[derive(Clone, Copy)]
struct Taken {
    commit: Duration,
    push: Duration,
}

impl Taken {
    fn whole(self) -> Duration {
        self.commit + self.push
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [commit, push, whole] = [self.commit, self.push, self.whole()].map(milliseconds);
        write!(f, "{commit:>9.1} {push:>8.1} {whole:>8.1}")
    }
}

/// The hosts, and where our stores are.
struct Scene {
    ssh: SshServer,
    server: GitServer,
    runtime: Runtime,
    bench: Workbench,
    files: usize,
}

/// The two sides of one way.
struct Pair {
    way: Way,
    ours: Option<Ours>,
    git: GitSide,
    round: usize,
}

pub(crate) fn run(files: &[usize]) -> Result<()> {
    // Another part of this program may have been faster.
    drop(rustls::crypto::ring::default_provider().install_default());
    let files = files.first().copied().unwrap_or(FILES);
    let scene = Scene::new(files)?;
    let mut pairs = [Way::Http, Way::Ssh, Way::File]
        .into_iter()
        .map(|way| Pair::new(&scene, way))
        .collect::<Result<Vec<_>>>()?;
    println!("commit and push in a folder of {files} files, medians of {ROUNDS}, milliseconds");
    println!(
        "{:<5} {:>7} | {:>9} {:>8} {:>8} | {:>9} {:>8} {:>8} | ours/git",
        "way", "changes", "ours: com", "push", "both", "git: com", "push", "both"
    );
    for changes in CHANGES.into_iter().filter(|changes| *changes <= files) {
        let mut over_http = None;
        for pair in &mut pairs {
            let (ours, git) = pair.measure(files, changes)?;
            over_http = over_http.or(ours);
            let against = ours.or(over_http).map_or(Duration::ZERO, Taken::whole);
            let ratio = against.as_secs_f64() / git.whole().as_secs_f64();
            let shown = ours.map_or(format!("{:>27}", "ours over http"), |ours| ours.to_string());
            let way = pair.way;
            println!("{way:<5} {changes:>7} | {shown} | {git} | {ratio:>8.2}");
        }
    }
    for pair in &pairs {
        pair.check(&scene)?;
    }
    Ok(())
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Http => "http",
            Self::Ssh => "ssh",
            Self::File => "file",
        })
    }
}

impl Scene {
    fn new(files: usize) -> Result<Self> {
        let server = GitServer::start()?;
        let seed: Vec<_> = (0..files).map(|at| (path(at), text(at, 0))).collect();
        let seed: Vec<_> = seed
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        server.create_repository(ORIGINAL)?.seed(&seed)?;
        Ok(Self {
            ssh: SshServer::serving(&server)?,
            server,
            runtime: Runtime::new().context("cannot start a runtime")?,
            bench: Workbench::new("publish")?,
            files,
        })
    }

    /// Makes a repository that is a copy of the original one.
    fn copy(&self, name: &str) -> Result<Repository> {
        let original = self.server.repository(ORIGINAL)?;
        let copy = self.server.create_repository(name)?;
        let from = original.path().display().to_string();
        copy.git(&["fetch", "--quiet", &from, "main:main"])?;
        Ok(copy)
    }

    fn remote(&self, way: Way, repository: &str) -> Result<Option<Box<dyn Remote>>> {
        let (runtime, cancel) = (self.runtime.handle().clone(), CancellationToken::new());
        let endpoint = |url: String, credential, host_keys| {
            anyhow::Ok(Endpoint {
                url: RepositoryUrl::new(&url)?,
                credential,
                trust: TlsTrust::System,
                host_keys,
                proxy: ProxyPolicy::Direct,
                limits: Limits::RECOMMENDED,
            })
        };
        Ok(match way {
            Way::File => None,
            Way::Http => {
                let url = self.server.url(repository);
                let endpoint = endpoint(url, Credential::Anonymous, HostKeyTrust::Nobody)?;
                Some(Box::new(HttpRemote::new(&endpoint, runtime, cancel)?))
            }
            Way::Ssh => {
                let key = self.ssh.client_key().private().as_bytes().to_vec();
                let secret: SecretData = [("ssh-privatekey".to_owned(), key)].into_iter().collect();
                let known = self.ssh.known_hosts();
                let known = KnownHosts::parse(known.as_bytes(), "the bench")?;
                let endpoint = endpoint(
                    self.ssh.url(repository),
                    Credential::from_secret_data(&secret)?,
                    HostKeyTrust::Known(known),
                )?;
                Some(Box::new(SshRemote::new(&endpoint, runtime, cancel)?))
            }
        })
    }
}

impl Pair {
    fn new(scene: &Scene, way: Way) -> Result<Self> {
        let name = ours_of(way);
        let ours = match scene.remote(way, &name)? {
            None => None,
            Some(remote) => {
                scene.copy(&name)?;
                Some(Ours::new(remote, &scene.bench.path(&name))?)
            }
        };
        scene.copy(&git_of(way))?;
        Ok(Self {
            way,
            ours,
            git: GitSide::new(scene, way)?,
            round: 0,
        })
    }

    /// Changes so many files on both sides, several times, and returns the medians.
    fn measure(&mut self, files: usize, changes: usize) -> Result<(Option<Taken>, Taken)> {
        let (mut ours, mut git) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            self.round += 1;
            let edits: Vec<_> = (0..changes)
                .map(|change| (self.round * 7_919 + change) % files)
                .map(|at| (path(at), text(at, self.round)))
                .collect();
            let taken = self.ours.as_mut().map(|ours| ours.publish(&edits));
            let plain = self.git.publish(&edits)?;
            if round > 0 {
                ours.extend(taken.transpose()?);
                git.push(plain);
            }
        }
        let git = median(git).context("git published nothing")?;
        Ok((median(ours), git))
    }

    /// Fails unless every commit of both sides is there, whole, and ends in the same files.
    fn check(&self, scene: &Scene) -> Result<()> {
        let mut trees = Vec::new();
        let ours = self.ours.as_ref().map(|_| ours_of(self.way));
        for name in ours.into_iter().chain([git_of(self.way)]) {
            let repository = scene.server.repository(&name)?;
            repository.git(&["fsck", "--full", "--strict"])?;
            let commits = repository.commits("main")?.len();
            ensure!(commits == self.round + 1, "{name}: {commits} commits");
            let listed = repository.files("main")?.len();
            ensure!(listed == scene.files, "{name}: {listed} files");
            trees.push(repository.git(&["rev-parse", "main^{tree}"])?);
        }
        trees.dedup();
        ensure!(trees.len() == 1, "the sides differ: {trees:?}");
        Ok(())
    }
}

fn ours_of(way: Way) -> String {
    format!("{way}-ours")
}

fn git_of(way: Way) -> String {
    format!("{way}-git")
}

/// A branch writer's half of the work.
struct Ours {
    remote: Box<dyn Remote>,
    store: Store,
    base: CommitId,
    branch: BranchName,
}

impl Ours {
    fn new(mut remote: Box<dyn Remote>, folder: &std::path::Path) -> Result<Self> {
        let branch = BranchName::new("main")?;
        let told = remote.look()?;
        let base = told.branch(&branch).context("no branch main")?.clone();
        let mut store = Store::create(folder, ObjectFormat::Sha1)?;
        remote.fetch(&mut store, &base, None)?;
        Ok(Self {
            remote,
            store,
            base,
            branch,
        })
    }

    fn publish(&mut self, edits: &[(String, String)]) -> Result<Taken> {
        let edits = edits
            .iter()
            .map(|(path, text)| {
                anyhow::Ok(TreeEdit {
                    path: RepoPath::new(path.as_str())?,
                    content: Some(text.clone().into_bytes()),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let text = CommitText {
            message: "chore: sync".to_owned(),
            author: Signature::default(),
            committer: Signature::default(),
            time_ms: 1_700_000_000_000,
        };
        let start = Instant::now();
        let mut attempt = Attempt::new(&self.store, Some(&self.base))?;
        let new = attempt
            .commit(&edits, &text)?
            .context("the edits change nothing")?;
        let commit = start.elapsed();
        let request = PushRequest {
            branch: self.branch.clone(),
            expected: Some(self.base.clone()),
            new,
            pack: attempt.pack()?,
            parent_check: None,
            must_be_empty: false,
        };
        match self.remote.push(&request) {
            PushOutcome::Landed { tip } => self.base = tip,
            other => bail!("the push did not land: {other:?}"),
        }
        self.store.accept(attempt)?;
        let push = start.elapsed() - commit;
        Ok(Taken { commit, push })
    }
}

/// A person's clone.
struct GitSide(GitClone);

impl GitSide {
    fn new(scene: &Scene, way: Way) -> Result<Self> {
        let name = git_of(way);
        let clone = match way {
            Way::Ssh => scene.ssh.clone(&name)?,
            Way::Http | Way::File => scene.server.clone(&name)?,
        };
        if way == Way::File {
            let path = scene.server.repository(&name)?.path().display().to_string();
            clone.git(&["remote", "set-url", "origin", &path])?;
        }
        Ok(Self(clone))
    }

    fn publish(&self, edits: &[(String, String)]) -> Result<Taken> {
        for (path, text) in edits {
            self.0.write(path, text)?;
        }
        let start = Instant::now();
        self.0
            .git(&["commit", "--quiet", "--all", "--message", "chore: sync"])?;
        let commit = start.elapsed();
        self.0.push()?;
        let push = start.elapsed() - commit;
        Ok(Taken { commit, push })
    }
}

fn path(at: usize) -> String {
    format!("{FOLDER}/config-{at:05}.yaml")
}

fn text(at: usize, round: usize) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-{at:05}\n  namespace: team-a\n  labels:\n    app.kubernetes.io/name: service-{at}\n    app.kubernetes.io/part-of: platform\ndata:\n  # How much is logged.\n  logLevel: info\n  round: \"{round}\"\n  endpoint: https://service-{at}.example.com/api\n  limits.conf: |\n    max-connections = 100\n    timeout = 30s\n    retries = 3\n"
    )
}

/// Returns the one in the middle, by the time of the whole.
fn median(mut taken: Vec<Taken>) -> Option<Taken> {
    taken.sort_unstable_by_key(|taken| taken.whole());
    taken.get(taken.len() / 2).copied()
}

fn milliseconds(taken: Duration) -> f64 {
    taken.as_secs_f64() * 1000.0
}
