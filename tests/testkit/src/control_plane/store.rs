//! Writing into etcd by its JSON gateway.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

/// Puts a value under a key.
pub(super) fn put(port: u16, key: &str, value: &[u8]) -> Result<()> {
    let body = json!({"key": STANDARD.encode(key), "value": STANDARD.encode(value)}).to_string();
    let failed = || format!("cannot write {key} into etcd");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).with_context(failed)?;
    // The older protocol closes the connection behind the answer, which says where the answer ends.
    let request = format!(
        "POST /v3/kv/put HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).with_context(failed)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).with_context(failed)?;
    let status = answer.lines().next().unwrap_or_default();
    ensure!(status.contains(" 200 "), "{}: {answer}", failed());
    Ok(())
}
