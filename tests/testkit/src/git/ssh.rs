//! A Git host on SSH: the installed `sshd`, on loopback, with keys of its own.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{env, slice};

use anyhow::{Context, Result, bail};

use super::clone::GitClone;
use super::http::GitServer;
use super::program::isolate;
use super::repository::Repositories;
use crate::ports;
use crate::wait;
use crate::workbench::{Process, replace_file};

/// What `sshd` runs whatever the client asks for: Git, below one folder, and nothing else.
const FORCED_COMMAND: &str = r#"
eval "set -- $SSH_ORIGINAL_COMMAND"
case $1 in
git-upload-pack | git-receive-pack | git-upload-archive) ;;
*)
    echo "only git is served here" >&2
    exit 128
    ;;
esac
exec git "${1#git-}" "$REPOSITORIES/${2#/}"
"#;

/// A pair of keys made by `ssh-keygen`.
#[derive(Clone, Debug)]
pub struct SshKey {
    private_path: PathBuf,
    private: String,
    public: String,
}

impl SshKey {
    /// Returns the private key as it stands in its file.
    pub fn private(&self) -> &str {
        &self.private
    }

    /// Returns the file of the private key.
    pub fn private_path(&self) -> &Path {
        &self.private_path
    }

    /// Returns the public key as one line.
    pub fn public(&self) -> &str {
        self.public.trim()
    }
}

/// A Git host that serves the repositories of a [`GitServer`] over SSH.
#[derive(Debug)]
pub struct SshServer {
    running: Mutex<Option<Process>>,
    program: PathBuf,
    port: u16,
    user: String,
    folder: PathBuf,
    host_key: SshKey,
    client_key: SshKey,
    repositories: Arc<Repositories>,
}

impl SshServer {
    /// Starts `sshd` for the repositories of that server, with one key that is let in.
    pub fn serving(git_server: &GitServer) -> Result<Self> {
        let repositories = Arc::clone(git_server.repositories());
        let program = find_sshd()?;
        let port = ports::free()?;
        let folder = repositories.workbench().path(format!("ssh-{port}"));
        fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let host_key = generate_key(&folder, "host", "ed25519", "")?;
        let client_key = generate_key(&folder, "client", "ed25519", "")?;
        let user = user_name()?;
        let server = Self {
            running: Mutex::new(None),
            program,
            port,
            user,
            folder,
            host_key,
            client_key,
            repositories,
        };
        server.authorize(slice::from_ref(&server.client_key))?;
        server.write_forced_command()?;
        server.write_configuration()?;
        server.resume()?;
        Ok(server)
    }

    /// Kills the server; a session that is under way goes on until its client leaves.
    pub fn stop(&self) {
        drop(self.lock().take());
    }

    /// Listens again at the same address.
    pub fn resume(&self) -> Result<()> {
        let mut running = self.lock();
        if running.is_some() {
            return Ok(());
        }
        make_privilege_separation_folder()?;
        // sshd starts itself again for each connection, so it wants to know where it is.
        let mut command = Command::new(&self.program);
        command
            .arg("-D")
            .arg("-e")
            .arg("-f")
            .arg(self.configuration_path());
        let name = format!("sshd-{}", self.port);
        let mut process = self.repositories.workbench().start(&name, &mut command)?;
        let connected = wait::until_ok("sshd to listen", wait::GENEROUS, || {
            if process.ended()?.is_some() {
                return Ok(false);
            }
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).context("it is silent")?;
            Ok(true)
        })?;
        if !connected {
            process.check_running()?;
        }
        *running = Some(process);
        Ok(())
    }

    /// Returns the address of a repository.
    pub fn url(&self, repository: &str) -> String {
        format!(
            "ssh://{}@127.0.0.1:{}/{repository}.git",
            self.user, self.port
        )
    }

    /// Returns the port at which the server listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the line of a `known_hosts` file that names this server and its key.
    pub fn known_hosts(&self) -> String {
        let key: Vec<&str> = self.host_key.public().split(' ').take(2).collect();
        format!("[127.0.0.1]:{} {}\n", self.port, key.join(" "))
    }

    /// Returns the key that is let in from the start.
    pub fn client_key(&self) -> &SshKey {
        &self.client_key
    }

    /// Generates a key that nobody knows yet; the passphrase may be empty.
    pub fn generate_key(&self, name: &str, kind: &str, passphrase: &str) -> Result<SshKey> {
        generate_key(&self.folder, name, kind, passphrase)
    }

    /// Lets in exactly these keys from now on.
    pub fn authorize(&self, keys: &[SshKey]) -> Result<()> {
        let lines: String = keys
            .iter()
            .map(|key| format!("{}\n", key.public()))
            .collect();
        replace_file(&self.folder.join("authorized_keys"), lines.as_bytes())
    }

    /// Returns what the server logged so far.
    pub fn log(&self) -> String {
        self.lock().as_ref().map(Process::log).unwrap_or_default()
    }

    /// Clones a repository with the key that is let in and the right host key.
    pub fn clone(&self, repository: &str) -> Result<GitClone> {
        self.clone_as(
            repository,
            "Second Person",
            &self.client_key,
            &self.known_hosts(),
        )
    }

    /// Clones a repository as that person, who has that key and believes those host keys.
    pub fn clone_as(
        &self,
        repository: &str,
        person: &str,
        key: &SshKey,
        known_hosts: &str,
    ) -> Result<GitClone> {
        let path = self.repositories.new_clone_path(repository);
        let known_hosts_path = path.with_extension("known_hosts");
        replace_file(&known_hosts_path, known_hosts.as_bytes())?;
        let ssh: OsString = format!(
            "ssh -F /dev/null -i '{}' -o IdentitiesOnly=yes -o BatchMode=yes \
             -o StrictHostKeyChecking=yes -o GlobalKnownHostsFile=/dev/null \
             -o UserKnownHostsFile='{}'",
            key.private_path.display(),
            known_hosts_path.display()
        )
        .into();
        let git = self
            .repositories
            .git_for_clone(repository)
            .variable("GIT_SSH_COMMAND", ssh);
        GitClone::create(&git, &self.url(repository), &path, &[], person)
    }

    fn write_forced_command(&self) -> Result<()> {
        let mut isolated = Command::new("git");
        isolate(&mut isolated, &self.repositories.home());
        let mut script = "#!/bin/sh\nset -eu\n".to_owned();
        for (name, value) in isolated.get_envs() {
            let value = value.unwrap_or_default().to_string_lossy();
            script.push_str(&format!("export {}='{value}'\n", name.to_string_lossy()));
        }
        script.push_str(&format!(
            "REPOSITORIES='{}'\n",
            self.repositories.root().display()
        ));
        script.push_str(FORCED_COMMAND);
        let path = self.forced_command_path();
        replace_file(&path, script.as_bytes())?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make {} executable", path.display()))
    }

    fn write_configuration(&self) -> Result<()> {
        let configuration = format!(
            "Port {port}\n\
             ListenAddress 127.0.0.1\n\
             HostKey {host_key}\n\
             PidFile none\n\
             AuthorizedKeysFile {authorized_keys}\n\
             StrictModes no\n\
             PermitRootLogin yes\n\
             PasswordAuthentication no\n\
             KbdInteractiveAuthentication no\n\
             UsePAM no\n\
             AcceptEnv GIT_PROTOCOL\n\
             PermitUserRC no\n\
             PrintMotd no\n\
             MaxStartups 200\n\
             ForceCommand {forced_command}\n",
            port = self.port,
            host_key = self.host_key.private_path.display(),
            authorized_keys = self.folder.join("authorized_keys").display(),
            forced_command = self.forced_command_path().display(),
        );
        let path = self.configuration_path();
        // Newer servers shut out an address for a while after failed logins, and older ones do not
        // know the word that turns this off.
        replace_file(
            &path,
            format!("{configuration}PerSourcePenalties no\n").as_bytes(),
        )?;
        let understood = Command::new(&self.program)
            .arg("-t")
            .arg("-f")
            .arg(&path)
            .output()
            .context("cannot run sshd")?;
        if !understood.status.success() {
            replace_file(&path, configuration.as_bytes())?;
        }
        Ok(())
    }

    fn configuration_path(&self) -> PathBuf {
        self.folder.join("sshd_config")
    }

    fn forced_command_path(&self) -> PathBuf {
        self.folder.join("serve-git")
    }

    fn lock(&self) -> MutexGuard<'_, Option<Process>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds `sshd`, which is in no person's `PATH` on many machines.
pub fn find_sshd() -> Result<PathBuf> {
    let mut folders: Vec<PathBuf> = env::var_os("PATH")
        .iter()
        .flat_map(env::split_paths)
        .collect();
    folders.extend(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from));
    folders
        .into_iter()
        .map(|folder| folder.join("sshd"))
        .find(|path| path.is_file())
        .context("sshd is not installed: install the package openssh-server")
}

/// Creates the empty folder that a server started by root locks itself into.
fn make_privilege_separation_folder() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        fs::create_dir_all("/run/sshd").context("cannot create /run/sshd")?;
    }
    Ok(())
}

fn user_name() -> Result<String> {
    let output = Command::new("id")
        .arg("-un")
        .output()
        .context("cannot run id")?;
    let name = String::from_utf8(output.stdout).context("the user's name is not text")?;
    Ok(name.trim().to_owned())
}

fn generate_key(folder: &Path, name: &str, kind: &str, passphrase: &str) -> Result<SshKey> {
    let private_path = folder.join(format!("{name}_key"));
    let output = Command::new("ssh-keygen")
        .args(["-q", "-t", kind, "-N", passphrase, "-C", name, "-f"])
        .arg(&private_path)
        .output()
        .context("cannot run ssh-keygen: install the package openssh-client")?;
    if !output.status.success() {
        bail!(
            "ssh-keygen failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    Ok(SshKey {
        private: read(&private_path)?,
        public: read(&private_path.with_extension("pub"))?,
        private_path,
    })
}
