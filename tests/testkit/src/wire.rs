//! A wire to a server whose connections break at a given byte: each at a byte of its own, or the first to carry so many more.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    armed: Arc<Armed>,
    thread: Option<JoinHandle<()>>,
}

/// What breaks next, whichever connection it is.
#[derive(Debug, Default)]
struct Armed(Mutex<Fate>);

impl Armed {
    fn lock(&self) -> MutexGuard<'_, Fate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many of these bytes may pass, and how the connection breaks after them.
    fn permit(&self, way: Way, count: usize) -> (usize, Option<Break>) {
        let mut armed = self.lock();
        match *armed {
            Some((broken, left, how)) if broken == way && left < count => {
                *armed = None;
                (left, Some(how))
            }
            Some((broken, left, how)) if broken == way => {
                *armed = Some((broken, left - count, how));
                (count, None)
            }
            _ => (count, None),
        }
    }
}

impl Wire {
    /// Starts a wire to `target` that holds until it is told otherwise.
    pub fn whole(target: SocketAddr) -> Result<Self> {
        Self::to(target, |_| None)
    }

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
        let armed = Arc::<Armed>::default();
        let line = Line {
            target,
            carried: Arc::clone(&carried),
            open: Arc::clone(&open),
            armed: Arc::clone(&armed),
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
            armed,
            thread: Some(thread),
        })
    }

    /// Breaks the connection that carries more than so many bytes that way from now on.
    pub fn break_after(&self, way: Way, bytes: usize, how: Break) {
        *self.armed.lock() = Some((way, bytes, how));
    }

    /// Says whether what was armed has not broken yet.
    pub fn is_armed(&self) -> bool {
        self.armed.lock().is_some()
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
    armed: Arc<Armed>,
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
            let direction = Direction {
                way,
                carried: Arc::clone(&self.carried),
                armed: Arc::clone(&self.armed),
            };
            threads.push(thread::spawn(move || direction.carry(streams, broken)));
        }
        Ok(threads)
    }
}

/// One way of one connection.
struct Direction {
    way: Way,
    carried: Arc<[AtomicUsize; 2]>,
    armed: Arc<Armed>,
}

impl Direction {
    fn carry(&self, (mut from, mut to): (TcpStream, TcpStream), broken: Option<(usize, Break)>) {
        let carried = &self.carried[usize::from(self.way == Way::ToClient)];
        let mut buffer = [0; 4096];
        let mut passed = 0;
        let ended = loop {
            let left = broken.map_or(usize::MAX, |(at, _)| at - passed);
            if left == 0 {
                break broken.map(|(_, how)| how);
            }
            let most = buffer.len().min(left);
            let count = match from.read(&mut buffer[..most]) {
                Ok(0) | Err(_) => break None,
                Ok(count) => count,
            };
            let (count, breaks) = self.armed.permit(self.way, count);
            if to.write_all(&buffer[..count]).is_err() {
                break None;
            }
            passed += count;
            carried.fetch_add(count, Ordering::SeqCst);
            if breaks.is_some() {
                break breaks;
            }
        };
        if ended == Some(Break::Stall) {
            // Swallows what comes, until the other side gives up.
            while from.read(&mut buffer).is_ok_and(|count| count > 0) {}
        }
        drop(from.shutdown(Shutdown::Both));
        drop(to.shutdown(Shutdown::Both));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_armed_breaks_the_connection_that_carries_more() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let wire = Wire::whole(server.local_addr().unwrap()).unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", wire.port())).unwrap();
        let (mut served, _) = server.accept().unwrap();
        client.write_all(b"before").unwrap();
        let mut before = [0; 6];
        served.read_exact(&mut before).unwrap();
        wire.break_after(Way::ToServer, 3, Break::Cut);
        client.write_all(b"after").unwrap();
        let mut rest = Vec::new();
        served.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"aft");
        assert!(!wire.is_armed());
    }
}
