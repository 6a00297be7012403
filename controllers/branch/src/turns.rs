//! How many conversations with one Git host go on at the same time.
//!
//! Each conversation takes a thread, and a program at the host. Those of one host wait for each other, so that many
//! branches that have something to say at the same moment need neither of both without bound; those of another host do not,
//! so that one that stops answering holds up nobody else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::RepositoryId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns at every host.
#[derive(Debug)]
pub struct Turns {
    at_once: usize,
    hosts: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// The turns at one host. Cloning gives the same ones.
#[derive(Debug, Clone)]
pub struct TurnsAtHost(Arc<Semaphore>);

/// A conversation that may go on until this is dropped.
#[derive(Debug)]
pub struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Lets so many conversations go on at once with each host.
    pub fn new(at_once: usize) -> Self {
        Self {
            at_once,
            hosts: Mutex::default(),
        }
    }

    /// Returns the turns at the host of a repository.
    pub fn at_host_of(&self, repository: &RepositoryId) -> TurnsAtHost {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody has any more.
        hosts.retain(|_, turns| Arc::strong_count(turns) > 1);
        let turns = hosts
            .entry(repository.host().to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(self.at_once)));
        TurnsAtHost(Arc::clone(turns))
    }
}

impl TurnsAtHost {
    /// Waits for a turn. Whoever asked first has it first.
    pub async fn wait(self) -> Turn {
        // They are never closed, and without turns nobody would have to wait.
        let permit = self.0.acquire_owned().await.ok();
        Turn { _permit: permit }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use model::RepositoryUrl;

    use super::*;

    fn repository(url: &str) -> RepositoryId {
        RepositoryUrl::new(url).unwrap().id()
    }

    #[test]
    fn one_host_has_so_many_turns_and_another_one_its_own() {
        let turns = Turns::new(2);
        let at = |url: &str| turns.at_host_of(&repository(url));
        let a = at("https://git.example.com/o/a.git");
        let first = a.clone().wait().now_or_never().unwrap();
        let _second = at("ssh://git@git.example.com/o/b")
            .wait()
            .now_or_never()
            .unwrap();
        assert!(a.clone().wait().now_or_never().is_none());
        let elsewhere = at("https://other.example.com/o/a.git");
        assert!(elsewhere.wait().now_or_never().is_some());
        drop(first);
        assert!(a.wait().now_or_never().is_some());
    }

    #[test]
    fn a_host_that_nobody_speaks_with_is_forgotten() {
        let turns = Turns::new(1);
        let kept = turns.at_host_of(&repository("https://a.example.com/o/r"));
        drop(turns.at_host_of(&repository("https://b.example.com/o/r")));
        drop(turns.at_host_of(&repository("https://a.example.com/o/s")));
        let hosts: Vec<_> = turns.hosts.lock().unwrap().keys().cloned().collect();
        assert_eq!(hosts, ["a.example.com"]);
        drop(kept);
    }
}
