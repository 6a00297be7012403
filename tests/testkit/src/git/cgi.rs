//! One request to `git http-backend`, by the rules of CGI.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, request::Parts};
use http_body_util::Full;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::program::isolate;
use crate::background::Response;
use crate::usage;

/// What the programs took that answered for a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// How many were started, those that they started themselves not counted.
    pub programs: u64,
    /// Their processor time, and that of the programs that they started.
    pub processor: Duration,
}

/// What every request of one server has in common.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) root: std::path::PathBuf,
    pub(super) home: std::path::PathBuf,
    pub(super) log_path: std::path::PathBuf,
    pub(super) served: Mutex<Served>,
}

impl Backend {
    /// Runs the backend; it is killed when the connection goes away in the meantime.
    pub(super) async fn answer(
        &self,
        request: &Parts,
        user: &str,
        body: Bytes,
    ) -> Result<Response> {
        let mut child = self.command(request, user, body.len())?.spawn()?;
        let mut input = child.stdin.take().context("the backend has no input")?;
        let mut output = child.stdout.take().context("the backend has no output")?;
        let write = async move {
            // A backend that has read enough closes its input, and says why in its answer.
            input.write_all(&body).await.ok();
        };
        let mut answer = Vec::new();
        let ((), read) = tokio::join!(write, output.read_to_end(&mut answer));
        read.context("cannot read what the backend says")?;
        let id = child.id().context("somebody waited for the backend")?;
        tokio::task::spawn_blocking(move || wait_for_end(id)).await?;
        self.count(&mut child)?;
        parse(answer)
    }

    /// Lets go of a program that has ended, and notes what it took. Alone it would be known in steps of 10 ms, which is
    /// more than most take; what all programs of ours took until now has no more such steps than one.
    fn count(&self, child: &mut Child) -> Result<()> {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let before = usage::of_ended_children()?;
        child.try_wait().context("cannot wait for the backend")?;
        served.processor += usage::of_ended_children()?.saturating_sub(before);
        served.programs += 1;
        Ok(())
    }

    fn command(&self, request: &Parts, user: &str, length: usize) -> Result<Command> {
        let mut command = std::process::Command::new("git");
        isolate(&mut command, &self.home);
        let header = |name: &str| {
            request
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        command
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GATEWAY_INTERFACE", "CGI/1.1")
            .env("SERVER_PROTOCOL", "HTTP/1.1")
            .env("REQUEST_METHOD", request.method.as_str())
            .env("PATH_INFO", request.uri.path())
            .env("QUERY_STRING", request.uri.query().unwrap_or_default())
            .env("REMOTE_ADDR", "127.0.0.1")
            .env("REMOTE_USER", user)
            .env("CONTENT_LENGTH", length.to_string())
            .env("CONTENT_TYPE", header("content-type").unwrap_or_default());
        if let Some(encoding) = header("content-encoding") {
            command.env("HTTP_CONTENT_ENCODING", encoding);
        }
        if let Some(protocol) = header("git-protocol") {
            command
                .env("GIT_PROTOCOL", protocol)
                .env("HTTP_GIT_PROTOCOL", protocol);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(open_log(&self.log_path)?);
        let mut command = Command::from(command);
        command.kill_on_drop(true);
        Ok(command)
    }
}

/// Waits until a program of ours has ended, and leaves it to others to let go of it.
fn wait_for_end(id: u32) {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    if let Some(id) = id {
        // An error means that there is nothing to wait for.
        waitid(
            WaitId::Pid(id),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        )
        .ok();
    }
}

fn open_log(path: &Path) -> Result<File> {
    File::options()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))
}

/// Splits what the backend printed into status, headers and body.
fn parse(output: Vec<u8>) -> Result<Response> {
    const END: &[u8] = b"\r\n\r\n";
    let end = output
        .windows(END.len())
        .position(|window| window == END)
        .context("the backend printed no headers")?;
    let head = str::from_utf8(&output[..end]).context("the headers are not text")?;
    let mut response = Response::default();
    for line in head.lines() {
        let (name, value) = line
            .split_once(": ")
            .context("the backend printed a broken header")?;
        if name.eq_ignore_ascii_case("status") {
            let code = value.split(' ').next().unwrap_or_default();
            *response.status_mut() = StatusCode::from_bytes(code.as_bytes())?;
        } else {
            let name = HeaderName::from_bytes(name.as_bytes())?;
            response
                .headers_mut()
                .insert(name, HeaderValue::from_str(value)?);
        }
    }
    let body = Bytes::from(output).slice(end + END.len()..);
    *response.body_mut() = Full::new(body);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_headers_of_the_backend_are_passed_on() {
        let output = b"Status: 404 Not Found\r\nContent-Type: text/plain\r\n\r\nno\r\n\r\n";
        let response = parse(output.to_vec()).unwrap();
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert_eq!(response.headers()["content-type"], "text/plain");
    }

    #[test]
    fn a_backend_without_a_word_is_an_error() {
        assert!(parse(Vec::new()).is_err());
    }
}
