//! A Git host as people run it: Gitea, with accounts, access tokens, deploy keys and protected branches.
//!
//! It is started with an empty folder and one administrator, who owns every repository. `office` is what people do
//! on its pages or through its API, `exchange` one request of theirs. What goes over the wire to Git is Gitea's own.

mod exchange;
mod office;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

pub use self::office::{Account, Verification};

use self::exchange::Call;
use super::clone::GitClone;
use super::program::{Git, isolate};
use super::repository::Repository;
use super::ssh::{SshKey, generate_key, ssh_command, user_name};
use crate::tools::module_folder;
use crate::workbench::{Process, Workbench};
use crate::{Tool, Tools, ports, wait};

/// The administrator, who owns the repositories.
const OWNER: &str = "keeper";
/// The user that Git logs in as over SSH.
const SSH_USER: &str = "git";

/// A running Gitea.
#[derive(Debug)]
pub struct Gitea {
    // Stopped before its folder goes away.
    process: Process,
    http_port: u16,
    ssh_port: u16,
    host_key: SshKey,
    owner: Account,
    workbench: Workbench,
}

impl Gitea {
    /// Builds Gitea where that has not happened yet, and starts it.
    pub fn start() -> Result<Self> {
        let tools = Tools::ensure(&[Tool::Gitea])?;
        let program = tools.path(Tool::Gitea)?;
        // Whoever took a port in the meantime keeps it, and we take another one.
        Self::at(program, ports::free()?, ports::free()?)
            .or_else(|_| Self::at(program, ports::free()?, ports::free()?))
    }

    fn at(program: &Path, http_port: u16, ssh_port: u16) -> Result<Self> {
        let workbench = Workbench::new("gitea")?;
        for folder in ["home", "clones", "custom"] {
            let folder = workbench.path(folder);
            fs::create_dir(&folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let host_key = generate_key(workbench.folder(), "host", "ed25519", "")?;
        let configuration = configuration(&workbench, &host_key, http_port, ssh_port)?;
        let path = workbench.write("custom/app.ini", configuration)?;
        let command = |arguments: &[&str]| {
            let mut command = Command::new(program);
            isolate(&mut command, &workbench.path("home"));
            command.args(arguments).arg("--config").arg(&path);
            command.env("GITEA_WORK_DIR", workbench.folder());
            command
        };
        let mut process = workbench.start("gitea", &mut command(&["web"]))?;
        wait_for_answer(&mut process, http_port)?;
        let owner = Account::named(OWNER);
        make_administrator(&mut command(&["admin", "user", "create"]), &owner)?;
        Ok(Self {
            process,
            http_port,
            ssh_port,
            host_key,
            owner,
            workbench,
        })
    }

    /// Returns the address of a repository over HTTP.
    pub fn url(&self, repository: &str) -> String {
        format!(
            "http://127.0.0.1:{}/{OWNER}/{repository}.git",
            self.http_port
        )
    }

    /// Returns the address of a repository over SSH.
    pub fn ssh_url(&self, repository: &str) -> String {
        let port = self.ssh_port;
        format!("ssh://{SSH_USER}@127.0.0.1:{port}/{OWNER}/{repository}.git")
    }

    /// Returns the line of a `known_hosts` file that names this host and its key.
    pub fn known_hosts(&self) -> String {
        format!("[127.0.0.1]:{} {}\n", self.ssh_port, self.host_key.line())
    }

    /// Returns how often somebody tried to push to a repository over HTTP, with whatever success.
    pub fn pushes(&self, repository: &str) -> usize {
        let request = format!("completed POST /{OWNER}/{repository}.git/git-receive-pack");
        let log = self.process.log();
        log.lines().filter(|line| line.contains(&request)).count()
    }

    /// Generates a key that nobody knows yet.
    pub fn generate_key(&self, name: &str) -> Result<SshKey> {
        generate_key(self.workbench.folder(), name, "ed25519", "")
    }

    /// Returns a repository as it lies on the disk of the host.
    pub fn repository(&self, name: &str) -> Result<Repository> {
        let folder = format!("data/gitea-repositories/{OWNER}/{name}.git");
        let path = self.workbench.path(folder);
        if !path.exists() {
            bail!("there is no repository {name}");
        }
        Ok(Repository::at(
            Git::new(path, self.workbench.path("home")),
            self.new_clone_path(name),
        ))
    }

    /// Clones a repository over HTTP with the password of that account.
    pub fn clone(&self, repository: &str, account: &Account) -> Result<GitClone> {
        let url = self.url(repository).replacen(
            "://",
            &format!("://{}:{}@", account.name(), account.password()),
            1,
        );
        let path = self.new_clone_path(repository);
        GitClone::create(&self.git(), &url, &path, &[], account.name())
    }

    /// Clones a repository over SSH with that key.
    pub fn clone_over_ssh(&self, repository: &str, key: &SshKey) -> Result<GitClone> {
        let path = self.new_clone_path(repository);
        let git = self.git().variable(
            "GIT_SSH_COMMAND",
            ssh_command(key, &self.known_hosts(), &path)?,
        );
        GitClone::create(&git, &self.ssh_url(repository), &path, &[], "Somebody")
    }

    fn git(&self) -> Git {
        Git::new(self.workbench.folder(), self.workbench.path("home"))
    }

    fn new_clone_path(&self, name: &str) -> PathBuf {
        let clones = self.workbench.path("clones");
        clones.join(format!("{name}-{:08x}", rand::random::<u32>()))
    }
}

fn wait_for_answer(process: &mut Process, port: u16) -> Result<()> {
    wait::until_ok("Gitea to answer", wait::GENEROUS, || {
        let answer = Call::new("GET", "/api/healthz").send(port).map(drop);
        match process.ended()? {
            Some(_) => Ok(()),
            None => answer,
        }
    })?;
    process.check_running()
}

fn make_administrator(command: &mut Command, account: &Account) -> Result<()> {
    let output = command
        .args(["--admin", "--must-change-password=false"])
        .args(["--username", account.name()])
        .args(["--password", account.password()])
        .args(["--email", &account.address()])
        .output()
        .context("cannot run gitea")?;
    if !output.status.success() {
        bail!(
            "gitea makes no administrator: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

/// Returns what differs from Gitea's own choices: loopback only, no first questions, and nothing of the machine.
fn configuration(
    workbench: &Workbench,
    host_key: &SshKey,
    http_port: u16,
    ssh_port: u16,
) -> Result<String> {
    let data = workbench.path("data");
    Ok(format!(
        "RUN_USER = {user}\n\
         RUN_MODE = prod\n\
         I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true\n\
         [server]\n\
         HTTP_ADDR = 127.0.0.1\n\
         HTTP_PORT = {http_port}\n\
         ROOT_URL = http://127.0.0.1:{http_port}/\n\
         OFFLINE_MODE = true\n\
         START_SSH_SERVER = true\n\
         BUILTIN_SSH_SERVER_USER = {SSH_USER}\n\
         SSH_LISTEN_HOST = 127.0.0.1\n\
         SSH_LISTEN_PORT = {ssh_port}\n\
         SSH_PORT = {ssh_port}\n\
         SSH_SERVER_HOST_KEYS = {host_key}\n\
         STATIC_ROOT_PATH = {sources}\n\
         [database]\n\
         DB_TYPE = sqlite3\n\
         PATH = {data}/gitea.db\n\
         [security]\n\
         INSTALL_LOCK = true\n\
         SECRET_KEY = of-no-use-to-anybody\n\
         PASSWORD_HASH_ALGO = pbkdf2_v1\n\
         [log]\n\
         LEVEL = info\n\
         [cron.update_checker]\n\
         ENABLED = false\n",
        user = user_name()?,
        host_key = host_key.private_path().display(),
        sources = module_folder(Tool::Gitea)?.display(),
        data = data.display(),
    ))
}
