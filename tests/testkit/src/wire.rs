//! A wire to a server, each of whose connections breaks at a given byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the client.
    ToServer,
    /// From the server.
    ToClient,
}

/// How a connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// Both sides see the end.
    Cut,
    /// Nothing passes any more in this direction, and nobody is told.
    Stall,
}

/// Where one connection breaks; `None` never breaks.
pub type Fate = Option<(Way, usize, Break)>;

/// A wire that carries connections until it is dropped.
#[derive(Debug)]
pub struct Wire {
    address: SocketAddr,
    carried: Arc<[AtomicUsize; 2]>,
    stop: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Starts a wire to `target`. `fate` is asked for each connection, which it gets the number of.
    pub fn to(
        target: SocketAddr,
        fate: impl Fn(usize) -> Fate + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen for a wire")?;
        let address = listener.local_addr().context("a listener has an address")?;
        let carried = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let stop = Arc::new(AtomicBool::new(false));
        let open = Arc::new(Mutex::new(Vec::new()));
        let line = Line {
            target,
            carried: Arc::clone(&carried),
            open: Arc::clone(&open),
        };
        let over = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut threads = Vec::new();
            for (number, client) in listener.incoming().enumerate() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                // A connection that does not come about is one that broke at once.
                if let Ok(client) = client {
                    threads.extend(line.join(&client, fate(number)).unwrap_or_default());
                }
            }
            for thread in threads {
                drop(thread.join());
            }
        });
        Ok(Self {
            address,
            carried,
            stop,
            open,
            thread: Some(thread),
        })
    }

    /// Returns the port at which the wire begins.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns how many bytes went that way so far, over all connections.
    pub fn carried(&self, way: Way) -> usize {
        self.carried[usize::from(way == Way::ToClient)].load(Ordering::SeqCst)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread up; when that fails it is gone already.
        drop(TcpStream::connect(self.address));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in open.drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
        drop(open);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What the connections of a wire have in common.
struct Line {
    target: SocketAddr,
    carried: Arc<[AtomicUsize; 2]>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    /// Carries both ways of one connection, each in a thread.
    fn join(&self, client: &TcpStream, fate: Fate) -> std::io::Result<Vec<JoinHandle<()>>> {
        let server = TcpStream::connect(self.target)?;
        for stream in [client, &server] {
            stream.set_nodelay(true)?;
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.push(stream.try_clone()?);
        }
        let mut threads = Vec::new();
        for way in [Way::ToServer, Way::ToClient] {
            let (from, to) = match way {
                Way::ToServer => (client, &server),
                Way::ToClient => (&server, client),
            };
            let streams = (from.try_clone()?, to.try_clone()?);
            let broken = fate.filter(|(broken, _, _)| *broken == way);
            let broken = broken.map(|(_, at, how)| (at, how));
            let carried = Arc::clone(&self.carried);
            threads.push(thread::spawn(move || {
                carry(streams, broken, &carried[usize::from(way == Way::ToClient)]);
            }));
        }
        Ok(threads)
    }
}

fn carry(
    (mut from, mut to): (TcpStream, TcpStream),
    broken: Option<(usize, Break)>,
    carried: &AtomicUsize,
) {
    let mut buffer = [0; 4096];
    let mut passed = 0;
    loop {
        let left = broken.map_or(usize::MAX, |(at, _)| at - passed);
        if left == 0 {
            if broken.is_some_and(|(_, how)| how == Break::Stall) {
                // Swallows what comes, until the other side gives up.
                while from.read(&mut buffer).is_ok_and(|count| count > 0) {}
            }
            break;
        }
        let most = buffer.len().min(left);
        match from.read(&mut buffer[..most]) {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
                passed += count;
                carried.fetch_add(count, Ordering::SeqCst);
            }
        }
    }
    drop(from.shutdown(Shutdown::Both));
    drop(to.shutdown(Shutdown::Both));
}
