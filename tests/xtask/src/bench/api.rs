//! The API server without the start of a program for each request, so that a moment can be told.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use anyhow::{Context, Result, ensure};
use e2e::stage::TEAM;
use serde_json::{Value, json};
use testkit::{Kubectl, Process, Workbench, ports, wait};

use super::folder;

const WRITERS: usize = 8;

/// A `kubectl proxy`, which turns plain requests into those of an administrator.
pub(super) struct Api {
    port: u16,
    _proxy: Process,
    _workbench: Workbench,
}

impl Api {
    pub(super) fn start(admin: &Kubectl) -> Result<Self> {
        let port = ports::free()?;
        let workbench = Workbench::new("bench")?;
        let mut command = admin.command();
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

    /// Creates that many objects.
    pub(super) fn create(&self, documents: usize) -> Result<()> {
        let path = format!("/api/v1/namespaces/{TEAM}/configmaps");
        let create = |first: usize| {
            (first..documents).step_by(WRITERS).try_for_each(|index| {
                let object = folder::object(index).to_string();
                self.send("POST", &path, "application/json", &object)
            })
        };
        thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|first| scope.spawn(move || create(first)))
                .collect();
            writers.into_iter().try_for_each(|writer| {
                writer
                    .join()
                    .map_err(|_| anyhow::anyhow!("a writer panicked"))?
            })
        })
    }

    /// Changes one value of an object, and returns when the API server has it.
    pub(super) fn edit(&self, index: usize, round: usize) -> Result<()> {
        let path = format!(
            "/api/v1/namespaces/{TEAM}/configmaps/{}",
            folder::name(index)
        );
        let patch: Value = json!({"data": {"round": round.to_string()}});
        let kind = "application/merge-patch+json";
        self.send("PATCH", &path, kind, &patch.to_string())
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
