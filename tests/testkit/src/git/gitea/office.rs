//! What people do on the host's pages or through its API: accounts, tokens, keys, repositories, rules.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::exchange::{Answer, Call};
use super::{Gitea, OWNER};
use crate::workbench::Workbench;

/// Somebody with an account.
#[derive(Clone, Debug)]
pub struct Account {
    name: String,
    password: String,
}

impl Account {
    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            password: format!("{name}-{:016x}", rand::random::<u64>()),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the password.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Returns the mail address that the host knows and believes.
    pub fn address(&self) -> String {
        format!("{}@example.com", self.name)
    }
}

/// What the host says of the signature of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Whether it shows the commit as verified.
    pub verified: bool,
    /// By whom, or why not.
    pub reason: String,
    /// The mail address of the account whose key it is; empty when it is nobody's.
    pub signer: String,
}

impl Gitea {
    /// Returns the administrator, who owns every repository.
    pub fn owner(&self) -> &Account {
        &self.owner
    }

    /// Opens an account.
    pub fn create_account(&self, name: &str) -> Result<Account> {
        let account = Account::named(name);
        let wanted = json!({
            "username": account.name(),
            "email": account.address(),
            "password": account.password(),
            "must_change_password": false,
        });
        self.api(&self.owner, "POST", "/admin/users", &wanted)?;
        Ok(account)
    }

    /// Makes a private repository without a commit, into which that account may push.
    pub fn create_repository(&self, name: &str, writer: &Account) -> Result<()> {
        let wanted = json!({"name": name, "private": true, "default_branch": "main"});
        self.api(&self.owner, "POST", "/user/repos", &wanted)?;
        self.let_in(name, writer, "write")
    }

    /// Gives an account that permission in a repository, such as `read`, in place of the one it has.
    pub fn let_in(&self, repository: &str, account: &Account, permission: &str) -> Result<()> {
        let path = format!(
            "/repos/{OWNER}/{repository}/collaborators/{}",
            account.name()
        );
        let wanted = json!({"permission": permission});
        self.api(&self.owner, "PUT", &path, &wanted).map(drop)
    }

    /// Makes an access token of that account with a scope such as `write:repository`.
    pub fn create_token(&self, account: &Account, name: &str, scope: &str) -> Result<String> {
        let path = format!("/users/{}/tokens", account.name());
        let wanted = json!({"name": name, "scopes": [scope]});
        let token = self.api(account, "POST", &path, &wanted)?;
        let text = token["sha1"].as_str().context("a token has a text")?;
        Ok(text.to_owned())
    }

    /// Takes an access token back.
    pub fn delete_token(&self, account: &Account, name: &str) -> Result<()> {
        let path = format!("/users/{}/tokens/{name}", account.name());
        self.api(account, "DELETE", &path, &Value::Null).map(drop)
    }

    /// Lets nobody push to a branch.
    pub fn protect_branch(&self, repository: &str, branch: &str) -> Result<()> {
        let path = format!("/repos/{OWNER}/{repository}/branch_protections");
        let wanted = json!({"rule_name": branch, "enable_push": false});
        self.api(&self.owner, "POST", &path, &wanted).map(drop)
    }

    /// Lifts the protection of a branch.
    pub fn unprotect_branch(&self, repository: &str, branch: &str) -> Result<()> {
        let path = format!("/repos/{OWNER}/{repository}/branch_protections/{branch}");
        self.api(&self.owner, "DELETE", &path, &Value::Null)
            .map(drop)
    }

    /// Gives a repository a deploy key and returns its number.
    pub fn add_deploy_key(&self, repository: &str, public: &str, may_write: bool) -> Result<u64> {
        let path = format!("/repos/{OWNER}/{repository}/keys");
        let wanted = json!({"title": "deploy", "key": public, "read_only": !may_write});
        let key = self.api(&self.owner, "POST", &path, &wanted)?;
        key["id"].as_u64().context("a deploy key has a number")
    }

    /// Takes a deploy key away.
    pub fn remove_deploy_key(&self, repository: &str, number: u64) -> Result<()> {
        let path = format!("/repos/{OWNER}/{repository}/keys/{number}");
        self.api(&self.owner, "DELETE", &path, &Value::Null)
            .map(drop)
    }

    /// Registers the public half of a key with an account and returns its fingerprint. The host believes nothing that
    /// it signs until [`prove_key`](Self::prove_key).
    pub fn register_key(&self, account: &Account, public: &str) -> Result<String> {
        let wanted = json!({"title": "signing", "key": public});
        let key = self.api(account, "POST", "/user/keys", &wanted)?;
        let fingerprint = key["fingerprint"].as_str();
        Ok(fingerprint.context("a key has a fingerprint")?.to_owned())
    }

    /// Proves that an account has the private half of a key that it registered, by signing what the host asks for.
    pub fn prove_key(&self, account: &Account, fingerprint: &str, private: &str) -> Result<()> {
        let token = self.call(account, "GET", "/user/gpg_key_token", &Value::Null)?;
        let signature = sign(private, &token.body)?;
        // There is no API for this, so it is the page that a person fills in.
        let session = self.log_in(account)?;
        let form = [
            ("type", "verify_ssh"),
            ("title", "none"),
            ("content", "none"),
            ("fingerprint", fingerprint),
            ("signature", &signature),
        ];
        let page = "/user/settings/keys";
        let answer = Call::new("POST", page)
            .header("Cookie", session)
            .form(&form)
            .send(self.http_port)?;
        let leads_to = answer.header("location").next().unwrap_or_default();
        ensure!(
            answer.status == 303 && leads_to == page,
            "the host does not believe the key: HTTP {} {leads_to}",
            answer.status
        );
        Ok(())
    }

    /// Returns what the host says of the signature of a commit.
    pub fn verification(&self, repository: &str, commit: &str) -> Result<Verification> {
        let path = format!("/repos/{OWNER}/{repository}/git/commits/{commit}");
        let answer = self.api(&self.owner, "GET", &path, &Value::Null)?;
        let said = &answer["commit"]["verification"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(Verification {
            verified: said["verified"].as_bool().context("it says nothing")?,
            reason: text(&said["reason"]),
            signer: text(&said["signer"]["email"]),
        })
    }

    /// Logs in at the page and returns the cookies of the session.
    fn log_in(&self, account: &Account) -> Result<String> {
        let form = [
            ("user_name", account.name()),
            ("password", account.password()),
        ];
        let answer = Call::new("POST", "/user/login")
            .form(&form)
            .send(self.http_port)?;
        ensure!(
            answer.status == 303,
            "{} cannot log in: HTTP {}",
            account.name(),
            answer.status
        );
        let cookies: Vec<String> = answer
            .cookies()
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        Ok(cookies.join("; "))
    }

    /// Calls the API and returns what it answers; nothing is `null`.
    fn api(&self, account: &Account, method: &str, path: &str, body: &Value) -> Result<Value> {
        let answer = self.call(account, method, path, body)?;
        if answer.body.trim().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&answer.body)
            .with_context(|| format!("{method} {path} is not answered with JSON"))
    }

    fn call(&self, account: &Account, method: &str, path: &str, body: &Value) -> Result<Answer> {
        let full = format!("/api/v1{path}");
        let mut call = Call::new(method, &full).basic(account.name(), account.password());
        if !body.is_null() {
            call = call.body("application/json", body.to_string());
        }
        let answer = call.send(self.http_port)?;
        if !(200..300).contains(&answer.status) {
            bail!("{method} {path}: HTTP {}: {}", answer.status, answer.body);
        }
        Ok(answer)
    }
}

/// Signs a text as the host wants it signed.
fn sign(private: &str, text: &str) -> Result<String> {
    let workbench = Workbench::new("proof")?;
    let key = workbench.write("key", private)?;
    let file = workbench.write("token", text)?;
    let output = Command::new("ssh-keygen")
        .args(["-q", "-Y", "sign", "-n", "gitea", "-f"])
        .args([&key, &file])
        .output()
        .context("cannot run ssh-keygen: install the package openssh-client")?;
    ensure!(
        output.status.success(),
        "ssh-keygen does not sign: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::read_to_string(workbench.path("token.sig")).context("ssh-keygen signed nothing")
}
