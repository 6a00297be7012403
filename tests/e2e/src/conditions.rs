//! What `kubectl get` shows of an object's conditions.

use anyhow::{Context, Result, anyhow};
use testkit::{Kubectl, wait};

/// One condition.
#[derive(Clone, Debug)]
pub struct Condition {
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Why, in one word.
    pub reason: String,
    /// Why, for people.
    pub message: String,
}

/// The conditions of one object.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Who asks.
    pub kubectl: &'a Kubectl,
    /// The namespace of the object.
    pub namespace: &'a str,
    /// The object as kubectl takes it, such as `gitbranch/main`.
    pub object: &'a str,
}

impl Conditions<'_> {
    /// Returns the condition of that type, if it is there.
    pub fn get(&self, kind: &str) -> Result<Option<Condition>> {
        let arguments = ["get", self.object, "-n", self.namespace];
        let object = self.kubectl.json(&arguments)?;
        let conditions = object["status"]["conditions"].as_array();
        let found = conditions.and_then(|all| all.iter().find(|one| one["type"] == kind));
        Ok(found.map(|condition| {
            let text = |key: &str| condition[key].as_str().unwrap_or_default().to_owned();
            Condition {
                status: text("status"),
                reason: text("reason"),
                message: text("message"),
            }
        }))
    }

    /// Waits until `wanted` accepts the condition of that type; else its last words say why not.
    pub fn wait(&self, kind: &str, wanted: impl Fn(&Condition) -> bool) -> Result<Condition> {
        let what = format!("{kind} of {} in {}", self.object, self.namespace);
        wait::until_ok(what, wait::GENEROUS, || {
            let found = self.get(kind)?.context("there is no such condition")?;
            match wanted(&found) {
                true => Ok(found),
                false => Err(anyhow!("{found:?}")),
            }
        })
    }

    /// Waits until the condition of that type has this status, this reason, and these words in its message.
    pub fn wait_for(&self, kind: &str, [status, reason, words]: [&str; 3]) -> Result<Condition> {
        self.wait(kind, |found| {
            found.status == status && found.reason == reason && found.message.contains(words)
        })
        .with_context(|| format!("{status} {reason} {words:?} was wanted"))
    }
}
