//! A Git host on SSH: the installed `sshd`, on loopback, with keys of its own.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, slice};

use anyhow::{Context, Result, bail};

use super::clone::GitClone;
use super::http::GitServer;
use super::program::isolate;
use super::repository::Repositories;
use crate::ports;
use crate::usage;
use crate::wait;
use crate::workbench::{Process, replace_file};

/// What `sshd` runs whatever the client asks for: Git, below one folder, and nothing else.
const FORCED_COMMAND: &str = r#"
. "$PRELUDE"
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

    /// Returns the public key as `known_hosts` holds it, without its comment.
    pub fn line(&self) -> String {
        let words: Vec<&str> = self.public().split(' ').take(2).collect();
        words.join(" ")
    }

    fn certificate_path(&self) -> PathBuf {
        let name = self.private_path.file_name().unwrap_or_default();
        let name = format!("{}-cert.pub", name.to_string_lossy());
        self.private_path.with_file_name(name)
    }

    /// Returns the private key in another form that `ssh-keygen` writes, such as `PEM` or `PKCS8`.
    pub fn private_as(&self, form: &str, passphrase: &str) -> Result<String> {
        let copy = self.private_path.with_extension(form);
        replace_file(&copy, self.private.as_bytes())?;
        fs::set_permissions(&copy, Permissions::from_mode(0o600))
            .with_context(|| format!("cannot protect {}", copy.display()))?;
        keygen(
            &["-q", "-p", "-m", form, "-P", "", "-N", passphrase, "-f"],
            &copy,
        )?;
        fs::read_to_string(&copy).with_context(|| format!("cannot read {}", copy.display()))
    }

    /// Returns the public key as one line.
    pub fn public(&self) -> &str {
        self.public.trim()
    }
}

/// How a server differs from the usual one.
#[derive(Clone, Debug, Default)]
pub struct SshSetup {
    /// The kinds of its host keys; one of `ed25519` when empty.
    pub host_keys: Vec<&'static str>,
    /// Gives each host key a certificate for these names, separated by commas; for none when empty.
    pub certified_for: Option<String>,
    /// Further options for `ssh-keygen` when it makes the certificates.
    pub certificate_options: Vec<&'static str>,
    /// Lines for the head of `sshd_config`, where they win over those below.
    pub configuration: String,
}

/// A Git host that serves the repositories of a [`GitServer`] over SSH.
#[derive(Debug)]
pub struct SshServer {
    running: Mutex<Option<Process>>,
    program: PathBuf,
    port: u16,
    user: String,
    folder: PathBuf,
    host_keys: Vec<SshKey>,
    authority: SshKey,
    client_key: SshKey,
    repositories: Arc<Repositories>,
}

impl SshServer {
    /// Starts `sshd` for the repositories of that server, with one key that is let in.
    pub fn serving(git_server: &GitServer) -> Result<Self> {
        Self::with(git_server, &SshSetup::default())
    }

    /// Starts `sshd` for the repositories of that server, set up in another way.
    pub fn with(git_server: &GitServer, setup: &SshSetup) -> Result<Self> {
        let repositories = Arc::clone(git_server.repositories());
        let program = find_sshd()?;
        let port = ports::free()?;
        let folder = repositories.workbench().path(format!("ssh-{port}"));
        fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let kinds: &[&str] = match setup.host_keys.as_slice() {
            [] => &["ed25519"],
            kinds => kinds,
        };
        let host_keys = kinds
            .iter()
            .map(|kind| generate_key(&folder, &format!("host_{kind}"), kind, ""))
            .collect::<Result<Vec<_>>>()?;
        let authority = generate_key(&folder, "authority", "ed25519", "")?;
        if let Some(names) = &setup.certified_for {
            for key in &host_keys {
                certify(&authority, key, names, &setup.certificate_options)?;
            }
        }
        let client_key = generate_key(&folder, "client", "ed25519", "")?;
        let user = user_name()?;
        let server = Self {
            running: Mutex::new(None),
            program,
            port,
            user,
            folder,
            host_keys,
            authority,
            client_key,
            repositories,
        };
        server.authorize(slice::from_ref(&server.client_key))?;
        server.before_each_command("")?;
        server.write_forced_command()?;
        server.write_configuration(setup)?;
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

    /// Returns the line of a `known_hosts` file that names this server and its first key.
    pub fn known_hosts(&self) -> String {
        self.known_hosts_line(&self.host_keys[0])
    }

    /// Returns the line that gives this server that key.
    pub fn known_hosts_line(&self, key: &SshKey) -> String {
        format!("[127.0.0.1]:{} {}\n", self.port, key.line())
    }

    /// Returns the keys by which the server proves who it is.
    pub fn host_keys(&self) -> &[SshKey] {
        &self.host_keys
    }

    /// Returns the key that signs the certificates of the host keys.
    pub fn authority(&self) -> &SshKey {
        &self.authority
    }

    /// Runs these shell lines before every command from now on: a profile that prints, a host that refuses.
    pub fn before_each_command(&self, lines: &str) -> Result<()> {
        replace_file(
            &self.folder.join("prelude"),
            format!("{lines}\n").as_bytes(),
        )
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

    /// Returns the processor time of the server and of the connections that have ended, with their programs.
    pub fn spent(&self) -> Result<Duration> {
        let running = self.lock();
        let process = running.as_ref().context("sshd does not run")?;
        usage::with_children(process.id())
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
        let ssh = ssh_command(key, known_hosts, &path)?;
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
            "REPOSITORIES='{}'\nPRELUDE='{}'\n",
            self.repositories.root().display(),
            self.folder.join("prelude").display()
        ));
        script.push_str(FORCED_COMMAND);
        let path = self.forced_command_path();
        replace_file(&path, script.as_bytes())?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make {} executable", path.display()))
    }

    fn write_configuration(&self, setup: &SshSetup) -> Result<()> {
        let mut keys = String::new();
        for key in &self.host_keys {
            keys.push_str(&format!("HostKey {}\n", key.private_path.display()));
            if setup.certified_for.is_some() {
                let certificate = key.certificate_path();
                keys.push_str(&format!("HostCertificate {}\n", certificate.display()));
            }
        }
        let configuration = format!(
            "{first}\n\
             Port {port}\n\
             ListenAddress 127.0.0.1\n\
             {keys}\
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
            first = setup.configuration,
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

/// Returns what git runs to reach a host with that key, believing only those host keys, for a clone at `path`.
pub(super) fn ssh_command(key: &SshKey, known_hosts: &str, path: &Path) -> Result<OsString> {
    let known_hosts_path = path.with_extension("known_hosts");
    replace_file(&known_hosts_path, known_hosts.as_bytes())?;
    Ok(format!(
        "ssh -F /dev/null -i '{}' -o IdentitiesOnly=yes -o BatchMode=yes \
         -o StrictHostKeyChecking=yes -o GlobalKnownHostsFile=/dev/null \
         -o UserKnownHostsFile='{}'",
        key.private_path.display(),
        known_hosts_path.display()
    )
    .into())
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

pub(super) fn user_name() -> Result<String> {
    let output = Command::new("id")
        .arg("-un")
        .output()
        .context("cannot run id")?;
    let name = String::from_utf8(output.stdout).context("the user's name is not text")?;
    Ok(name.trim().to_owned())
}

pub(super) fn generate_key(
    folder: &Path,
    name: &str,
    kind: &str,
    passphrase: &str,
) -> Result<SshKey> {
    let private_path = folder.join(format!("{name}_key"));
    let options = ["-q", "-t", kind, "-N", passphrase, "-C", name, "-f"];
    keygen(&options, &private_path)?;
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    Ok(SshKey {
        private: read(&private_path)?,
        public: read(&private_path.with_extension("pub"))?,
        private_path,
    })
}

/// Makes the certificate of a host key.
fn certify(authority: &SshKey, key: &SshKey, names: &str, more: &[&str]) -> Result<()> {
    let authority = authority.private_path.to_string_lossy();
    let mut options = vec!["-q", "-s", &*authority, "-I", "host"];
    if !names.is_empty() {
        options.extend(["-n", names]);
    }
    // A certificate is for users unless it is said to be for a host.
    if !more.contains(&"for-users") {
        options.push("-h");
    }
    options.extend(more.iter().filter(|option| **option != "for-users"));
    keygen(&options, &key.private_path.with_extension("pub"))
}

fn keygen(options: &[&str], path: &Path) -> Result<()> {
    let output = Command::new("ssh-keygen")
        .args(options)
        .arg(path)
        .output()
        .context("cannot run ssh-keygen: install the package openssh-client")?;
    if !output.status.success() {
        bail!(
            "ssh-keygen failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

/// Hides the names in a file of known hosts, as `ssh-keygen` does.
pub fn hash_known_hosts(path: &Path) -> Result<()> {
    keygen(&["-q", "-H", "-f"], path)
}
