//! Stands between an HTTP client and its server and spoils what passes: the faults that a real server cannot be made
//! to produce.

#![allow(
    clippy::unwrap_used,
    reason = "a relay is a part of a test, which ends at the first surprise"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// What happens to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It passes.
    Pass,
    /// It is answered with these bytes and never reaches the server.
    Answer(String),
    /// It reaches the server, and the answer is replaced by these bytes.
    Replace(String),
    /// It reaches the server, and only so many bytes of the answer's body come back.
    Cut(usize),
    /// Nothing ever comes back.
    Silence,
}

/// Chooses the fate of a request by its first line.
type Choose = dyn Fn(&str) -> Fate + Send + Sync;

/// The head and the body of a request.
type Seen = (String, Vec<u8>);

/// A relay that serves until it is dropped.
pub struct Relay {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Arc<AtomicBool>,
    dropped_header: Arc<Mutex<Option<&'static str>>>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Starts a relay to `target`; every request is kept.
    pub fn start(
        target: SocketAddr,
        choose: impl Fn(&str) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let dropped_header = Arc::new(Mutex::new(None));
        let choose: Arc<Choose> = Arc::new(choose);
        let thread = thread::spawn({
            let (seen, stop) = (Arc::clone(&seen), Arc::clone(&stop));
            let dropped_header = Arc::clone(&dropped_header);
            move || {
                let mut held = Vec::new();
                for stream in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    if let Ok(stream) = stream {
                        let dropped = *dropped_header.lock().unwrap();
                        held.extend(serve(stream, target, &seen, &*choose, dropped));
                    }
                }
            }
        });
        Self {
            address,
            seen,
            stop,
            dropped_header,
            thread: Some(thread),
        }
    }

    /// Takes this header out of every request from now on.
    pub fn without(self, header: &'static str) -> Self {
        *self.dropped_header.lock().unwrap() = Some(header);
        self
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Returns the heads of the requests so far.
    pub fn seen(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|(head, _)| head.clone()).collect()
    }

    /// Returns the bodies of the requests so far whose first line holds these words.
    pub fn bodies(&self, words: &str) -> Vec<Vec<u8>> {
        let is_wanted = |head: &str| head.lines().next().is_some_and(|line| line.contains(words));
        let seen = self.seen.lock().unwrap();
        let wanted = seen.iter().filter(|(head, _)| is_wanted(head));
        wanted.map(|(_, body)| body.clone()).collect()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread up; when that fails it is gone already.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Serves one request; returns the connection when it must stay open in silence.
fn serve(
    mut client: TcpStream,
    target: SocketAddr,
    seen: &Mutex<Vec<Seen>>,
    choose: &Choose,
    dropped_header: Option<&str>,
) -> Option<TcpStream> {
    let (mut head, body) = read_request(&mut client)?;
    if let Some(header) = dropped_header {
        let kept = |line: &&str| !line.to_ascii_lowercase().starts_with(header);
        head = head.split_inclusive("\r\n").filter(kept).collect();
    }
    seen.lock().unwrap().push((head.clone(), body.clone()));
    let fate = choose(head.lines().next().unwrap_or_default());
    let answer = match &fate {
        Fate::Silence => return Some(client),
        Fate::Answer(answer) => answer.clone().into_bytes(),
        Fate::Pass | Fate::Cut(_) | Fate::Replace(_) => forward(&head, &body, target),
    };
    let answer = match fate {
        Fate::Replace(answer) => answer.into_bytes(),
        Fate::Cut(count) => {
            let start = find(&answer, b"\r\n\r\n").map_or(0, |at| at + 4);
            answer[..answer.len().min(start + count)].to_vec()
        }
        Fate::Pass | Fate::Answer(_) | Fate::Silence => answer,
    };
    // The client may have gone; that is its business.
    drop(client.write_all(&answer));
    None
}

fn forward(head: &str, body: &[u8], target: SocketAddr) -> Vec<u8> {
    let mut server = TcpStream::connect(target).unwrap();
    let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    server.write_all(head.as_bytes()).unwrap();
    server.write_all(body).unwrap();
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).unwrap();
    // The relay serves one request a connection, so the client must not keep it.
    let end = find(&answer, b"\r\n").unwrap() + 2;
    let rest = answer.split_off(end);
    answer.extend_from_slice(b"connection: close\r\n");
    answer.extend(rest);
    answer
}

fn read_request(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let end = loop {
        if let Some(at) = find(&bytes, b"\r\n\r\n") {
            break at + 4;
        }
        match client.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    };
    let mut body = bytes.split_off(end);
    let head = String::from_utf8(bytes).ok()?;
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length:")?
                .trim()
                .parse()
                .ok()
        })
        .unwrap_or(0);
    while body.len() < length {
        match client.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => body.extend_from_slice(&buffer[..count]),
        }
    }
    Some((head, body))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// Builds an answer.
pub fn answer(status: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!(
        "content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    ));
    text
}
