//! A wire to a server that can be cut, so that a test can break connections without touching either end.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};

/// Forwards connections while it is not cut.
#[derive(Debug)]
pub struct Forwarder {
    address: SocketAddr,
    wire: Arc<Mutex<Wire>>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Wire {
    cut: bool,
    over: bool,
    /// Both ends of every connection that was accepted since the last cut.
    open: Vec<TcpStream>,
}

impl Forwarder {
    /// Starts in front of the server at that address or `https://` URL.
    pub fn to(server: &str) -> Result<Self> {
        let server = server.trim_start_matches("https://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen for a forwarder")?;
        let address = listener.local_addr().context("a listener has an address")?;
        let wire = Arc::new(Mutex::new(Wire::default()));
        let shared = Arc::clone(&wire);
        let accepting = thread::Builder::new()
            .name(format!("forwarder-{}", address.port()))
            .spawn(move || accept(&listener, &server, &shared))
            .context("cannot start a thread")?;
        Ok(Self {
            address,
            wire,
            accepting: Some(accepting),
        })
    }

    /// Returns where to connect instead of to the server.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Ends every connection, and every new one at once. Returns how many were accepted since the last cut.
    pub fn cut(&self) -> usize {
        let mut wire = lock(&self.wire);
        wire.cut = true;
        hang_up(&mut wire)
    }

    /// Forwards again.
    pub fn mend(&self) {
        lock(&self.wire).cut = false;
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let mut wire = lock(&self.wire);
        wire.over = true;
        hang_up(&mut wire);
        drop(wire);
        // Whoever accepts looks up only when somebody knocks.
        let knocked = TcpStream::connect(self.address);
        if let (Ok(_), Some(accepting)) = (knocked, self.accepting.take()) {
            // Its panic, if any, has been printed; there is nobody to give it to.
            accepting.join().ok();
        }
    }
}

fn accept(listener: &TcpListener, server: &str, wire: &Mutex<Wire>) {
    for from in listener.incoming().flatten() {
        let mut wire = lock(wire);
        if wire.over {
            return;
        }
        // Where the wire is cut, the connection ends as soon as it was accepted.
        if !wire.cut && connect(&from, server, &mut wire).is_err() {
            from.shutdown(Shutdown::Both).ok();
        }
    }
}

fn connect(from: &TcpStream, server: &str, wire: &mut Wire) -> io::Result<()> {
    let to = TcpStream::connect(server)?;
    wire.open.push(from.try_clone()?);
    wire.open.push(to.try_clone()?);
    for (source, sink) in [
        (from.try_clone()?, to.try_clone()?),
        (to, from.try_clone()?),
    ] {
        // Ends with either end of the connection, which a cut closes too.
        thread::Builder::new().spawn(move || copy(source, sink))?;
    }
    Ok(())
}

fn copy(mut source: TcpStream, mut sink: TcpStream) {
    // A connection may break at any time, which is what a forwarder is for.
    io::copy(&mut source, &mut sink).ok();
    sink.shutdown(Shutdown::Both).ok();
    source.shutdown(Shutdown::Both).ok();
}

fn hang_up(wire: &mut Wire) -> usize {
    let open = std::mem::take(&mut wire.open);
    for end in &open {
        end.shutdown(Shutdown::Both).ok();
    }
    open.len() / 2
}

fn lock(wire: &Mutex<Wire>) -> MutexGuard<'_, Wire> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}
