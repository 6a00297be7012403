//! The API server without the start of a program for each request, for many changes in a short time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use testkit::{Kubectl, Process, Workbench, ports, wait};

/// How many requests are under way at the same time where many are made at once.
const AT_ONCE: usize = 8;

/// A `kubectl proxy`, which turns plain requests into those of the user that runs it.
pub struct Api {
    port: u16,
    _proxy: Process,
    _workbench: Workbench,
}

impl Api {
    /// Starts the proxy as that user, and waits until it answers.
    pub fn start(user: &Kubectl) -> Result<Self> {
        let port = ports::free()?;
        let workbench = Workbench::new("api")?;
        let mut command = user.command();
        command.args(["proxy", &format!("--port={port}")]);
        let proxy = workbench.start("proxy", &mut command)?;
        let api = Self {
            port,
            _proxy: proxy,
            _workbench: workbench,
        };
        wait::until_ok("kubectl proxy", wait::GENEROUS, || {
            api.send("GET", "/version", "", "")
        })?;
        Ok(api)
    }

    /// Creates an object.
    pub fn create(&self, object: &Value) -> Result<()> {
        let collection = collection_of(object)?;
        self.send("POST", &collection, "application/json", &object.to_string())
    }

    /// Merges a patch into the object at that path, and returns when the API server has it.
    pub fn merge(&self, object: &str, patch: &Value) -> Result<()> {
        let kind = "application/merge-patch+json";
        self.send("PATCH", object, kind, &patch.to_string())
    }

    /// Does something for each number below `count`, several at the same time, and fails with the first failure.
    pub fn at_once(&self, count: usize, each: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
        let each = &each;
        let share = |first: usize| (first..count).step_by(AT_ONCE).try_for_each(each);
        thread::scope(|scope| {
            let shares: Vec<_> = (0..AT_ONCE)
                .map(|first| scope.spawn(move || share(first)))
                .collect();
            shares.into_iter().try_for_each(|share| {
                let ended = share.join();
                ended.map_err(|_| anyhow!("a request panicked"))?
            })
        })
    }

    fn send(&self, method: &str, path: &str, kind: &str, body: &str) -> Result<()> {
        let mut wire = TcpStream::connect(("127.0.0.1", self.port)).context("no kubectl proxy")?;
        // Of this version, because its answers end with the connection.
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        wire.write_all(request.as_bytes())?;
        let mut answer = String::new();
        wire.read_to_string(&mut answer)?;
        let first = answer.lines().next().unwrap_or_default();
        ensure!(first.contains(" 20"), "{method} {path}: {answer}");
        Ok(())
    }
}

/// Returns the path of a ConfigMap.
pub fn config_map(namespace: &str, name: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps/{name}")
}

/// Returns the path of the collection that an object of a kind of ours, or of the core, belongs to.
fn collection_of(object: &Value) -> Result<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let version = text(&object["apiVersion"]).context("an object without a version")?;
    let kind = text(&object["kind"]).context("an object without a kind")?;
    let kind = kind.to_lowercase();
    let plural = if kind.ends_with("ch") { "es" } else { "s" };
    let root = if version.contains('/') { "apis" } else { "api" };
    Ok(match text(&object["metadata"]["namespace"]) {
        Some(namespace) => format!("/{root}/{version}/namespaces/{namespace}/{kind}{plural}"),
        None => format!("/{root}/{version}/{kind}{plural}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_are_created_where_their_kind_belongs() {
        let of = |version: &str, kind: &str, metadata: Value| {
            collection_of(&json!({"apiVersion": version, "kind": kind, "metadata": metadata}))
                .unwrap()
        };
        let in_a = json!({"namespace": "a"});
        assert_eq!(of("v1", "Namespace", json!({})), "/api/v1/namespaces");
        assert_eq!(
            of("v1", "ConfigMap", in_a.clone()),
            "/api/v1/namespaces/a/configmaps"
        );
        assert_eq!(
            of("x.io/v1", "GitBranch", in_a),
            "/apis/x.io/v1/namespaces/a/gitbranches"
        );
    }
}
