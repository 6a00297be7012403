//! Behind a proxy that the environment names (case 26). The environment belongs to a process, so each row is a process
//! of its own: this program, started again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test ends at the first surprise; it starts itself and prints what that came to"
)]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use repository::{Endpoint, HttpRemote, ProxyPolicy, Remote, SecretData, TlsTrust};
use support::{Bench, endpoint};
use testkit::GitServer;
use tokio_util::sync::CancellationToken;

/// Set in the process that looks at a repository: its address.
const ROLE: &str = "LOOK_THROUGH_PROXY";
const AUTHORITY: &str = "LOOK_THROUGH_PROXY_AUTHORITY";
/// `user:secret` as a proxy is told it.
const AUTHORIZATION: &str = "proxy-authorization: Basic dXNlcjpzZWNyZXQ=";

/// Looks at a repository and prints what that came to. A run of the tests that is not such a process returns at once.
#[test]
fn look() {
    let Ok(url) = std::env::var(ROLE) else {
        return;
    };
    drop(rustls::crypto::ring::default_provider().install_default());
    let authority = std::env::var(AUTHORITY).unwrap();
    let data = SecretData::from([("ca.crt".to_owned(), authority.into_bytes())]);
    let endpoint = Endpoint {
        trust: TlsTrust::from_secret_data(&data).unwrap(),
        proxy: ProxyPolicy::FromEnvironment,
        ..endpoint(&url)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    let mut remote = HttpRemote::new(&endpoint, handle, CancellationToken::new()).unwrap();
    match remote.look() {
        Ok(_) => println!("\nlooked"),
        Err(error) => println!("\nfailed: {error}"),
    }
}

/// A proxy that lets through who knows the password, and counts.
struct Proxy {
    port: u16,
    let_through: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Proxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (let_through, stop) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let thread = thread::spawn({
            let (let_through, stop) = (Arc::clone(&let_through), Arc::clone(&stop));
            move || {
                for client in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    serve(client.unwrap(), &let_through);
                }
            }
        });
        Self {
            port,
            let_through,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread up; when that fails it is gone already.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        self.thread.take().unwrap().join().unwrap();
    }
}

fn serve(mut client: TcpStream, let_through: &AtomicUsize) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let target = head
        .strip_prefix("CONNECT ")
        .and_then(|rest| rest.split(' ').next());
    let is_known = head
        .lines()
        .any(|line| line.eq_ignore_ascii_case(AUTHORIZATION));
    let (Some(target), true) = (target, is_known) else {
        let answer = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
        client.write_all(answer.as_bytes()).unwrap();
        return;
    };
    let_through.fetch_add(1, Ordering::SeqCst);
    let mut server = TcpStream::connect(target).unwrap();
    client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").unwrap();
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let there = thread::spawn(move || {
        // Either side may hang up when it has what it wants.
        drop(std::io::copy(&mut from_client, &mut to_server));
        drop(to_server.shutdown(std::net::Shutdown::Write));
    });
    drop(std::io::copy(&mut server, &mut client));
    drop(client.shutdown(std::net::Shutdown::Both));
    there.join().unwrap();
}

#[test]
fn b031_a_proxy_of_the_environment_is_used_with_its_password_and_not_for_what_is_excepted() {
    let server = GitServer::builder().tls().start().unwrap();
    let origin = server.create_repository("app").unwrap();
    origin.seed(&[("a.yaml", "a: 1\n")]).unwrap();
    let bench = Bench::with(server, origin);
    let url = bench.server.url("app");
    let authority = bench.server.authority().unwrap();
    let proxy = Proxy::start();
    let right = format!("http://user:secret@127.0.0.1:{}", proxy.port);
    let wrong = format!("http://user:mistaken@127.0.0.1:{}", proxy.port);
    let host = url
        .split("//")
        .nth(1)
        .unwrap()
        .split([':', '/'])
        .next()
        .unwrap();
    let rows = [
        (&right, "", "looked", 1),
        (&right, "example.com,10.0.0.0/8", "looked", 1),
        (&right, host, "looked", 0),
        (&right, "10.0.0.0/8,127.0.0.0/8", "looked", 0),
        (&wrong, "", "failed: the host cannot be reached", 0),
    ];
    for (address, except, expected, uses) in rows {
        let before = proxy.let_through.load(Ordering::SeqCst);
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "look", "--nocapture"])
            .env(ROLE, &url)
            .env(AUTHORITY, &authority)
            .env("HTTPS_PROXY", address)
            .env("NO_PROXY", except)
            .output()
            .unwrap();
        let said = String::from_utf8(child.stdout).unwrap();
        assert!(said.contains(expected), "{address} {except}: {said}");
        assert!(
            !said.contains("secret") && !said.contains("mistaken"),
            "{said}"
        );
        let used = proxy.let_through.load(Ordering::SeqCst) - before;
        assert_eq!(used, uses, "{address} {except}");
    }
}
