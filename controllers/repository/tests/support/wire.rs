//! A wire between client and server that breaks at a given byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    ToServer,
    ToClient,
}

/// How a connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    /// Both sides see the end.
    Cut,
    /// Nothing passes any more in this direction, and nobody is told.
    Stall,
}

/// Where one connection breaks; `None` never breaks.
pub(crate) type Fate = Option<(Way, usize, Break)>;

/// A wire that carries connections until it is dropped.
pub(crate) struct Wire {
    address: SocketAddr,
    carried: Arc<[AtomicUsize; 2]>,
    stop: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Starts a wire to `target`. `fate` is asked for each connection, which it gets the number of.
    pub(crate) fn to(
        target: SocketAddr,
        fate: impl Fn(usize) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let carried = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let stop = Arc::new(AtomicBool::new(false));
        let open = Arc::new(Mutex::new(Vec::new()));
        let thread = thread::spawn({
            let (carried, stop, open) = (carried.clone(), stop.clone(), open.clone());
            move || {
                let mut threads = Vec::new();
                for (number, client) in listener.incoming().enumerate() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let (Ok(client), Ok(server)) = (client, TcpStream::connect(target)) else {
                        continue;
                    };
                    for stream in [&client, &server] {
                        stream.set_nodelay(true).unwrap();
                        open.lock().unwrap().push(stream.try_clone().unwrap());
                    }
                    let fate = fate(number);
                    for way in [Way::ToServer, Way::ToClient] {
                        let (from, to) = match way {
                            Way::ToServer => (&client, &server),
                            Way::ToClient => (&server, &client),
                        };
                        let streams = (from.try_clone().unwrap(), to.try_clone().unwrap());
                        let broken = fate.filter(|(broken, _, _)| *broken == way);
                        let broken = broken.map(|(_, at, how)| (at, how));
                        let carried = carried.clone();
                        threads.push(thread::spawn(move || {
                            carry(streams, broken, &carried[usize::from(way == Way::ToClient)]);
                        }));
                    }
                }
                for thread in threads {
                    thread.join().unwrap();
                }
            }
        });
        Self {
            address,
            carried,
            stop,
            open,
            thread: Some(thread),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns how many bytes went that way so far, over all connections.
    pub(crate) fn carried(&self, way: Way) -> usize {
        self.carried[usize::from(way == Way::ToClient)].load(Ordering::SeqCst)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread up; when that fails it is gone already.
        drop(TcpStream::connect(self.address));
        for stream in self.open.lock().unwrap().drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
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
