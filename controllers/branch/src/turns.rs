//! How many conversations with one Git host go on at the same time.
//!
//! Each conversation takes a thread, and a program at the host. Those of one host wait for each other, so that many
//! branches that have something to say at the same moment need neither of both without bound; those of another host do not,
//! so that one that stops answering holds up nobody else. A conversation that takes long goes on without its turn, so that
//! the others of its host wait no longer than that for it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::RepositoryId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a conversation usually has its turn at most: longer than any exchange about a small change, and short enough
/// to wait for.
pub const LONGEST: Duration = Duration::from_secs(60);

/// The turns at every host.
#[derive(Debug)]
pub struct Turns {
    at_once: usize,
    longest: Duration,
    hosts: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// The turns at one host. Cloning gives the same ones.
#[derive(Debug, Clone)]
pub struct TurnsAtHost {
    free: Arc<Semaphore>,
    longest: Duration,
}

/// Leave to begin a conversation.
#[derive(Debug)]
pub struct Turn {
    permit: Option<OwnedSemaphorePermit>,
    longest: Duration,
}

impl Turns {
    /// Lets so many conversations go on at once with each host, besides those that take longer than the time given.
    pub fn new(at_once: usize, longest: Duration) -> Self {
        Self {
            at_once,
            longest,
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
        TurnsAtHost {
            free: Arc::clone(turns),
            longest: self.longest,
        }
    }
}

impl TurnsAtHost {
    /// Waits for a turn. Whoever asked first has it first.
    pub async fn wait(self) -> Turn {
        // They are never closed, and without turns nobody would have to wait.
        let permit = self.free.acquire_owned().await.ok();
        Turn {
            permit,
            longest: self.longest,
        }
    }
}

impl Turn {
    /// Waits for the end of a conversation that has this turn. Somebody else has it before that when it takes long.
    pub async fn during<T>(self, conversation: impl Future<Output = T>) -> T {
        let mut conversation = pin!(conversation);
        if let Ok(end) = tokio::time::timeout(self.longest, &mut conversation).await {
            return end;
        }
        drop(self.permit);
        conversation.await
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
        let turns = Turns::new(2, LONGEST);
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
        let turns = Turns::new(1, LONGEST);
        let kept = turns.at_host_of(&repository("https://a.example.com/o/r"));
        drop(turns.at_host_of(&repository("https://b.example.com/o/r")));
        drop(turns.at_host_of(&repository("https://a.example.com/o/s")));
        let hosts: Vec<_> = turns.hosts.lock().unwrap().keys().cloned().collect();
        assert_eq!(hosts, ["a.example.com"]);
        drop(kept);
    }

    #[test]
    fn a_long_conversation_goes_on_without_its_turn() {
        let turns = Turns::new(1, Duration::from_millis(20));
        let at_host = turns.at_host_of(&repository("https://a.example.com/o/r"));
        let clock = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        clock.block_on(async {
            let first = at_host.clone().wait().await;
            let (end, ended) = tokio::sync::oneshot::channel::<&str>();
            let mut conversation = tokio::task::JoinSet::new();
            conversation.spawn(first.during(ended));
            let second = at_host.clone().wait().await;
            assert!(
                at_host.clone().wait().now_or_never().is_none(),
                "the turn was given back once"
            );
            end.send("done").unwrap();
            let ended = conversation.join_next().await.unwrap();
            assert_eq!(ended.unwrap(), Ok("done"));
            assert!(
                at_host.clone().wait().now_or_never().is_none(),
                "its end gives nothing back"
            );
            assert_eq!(second.during(async { 1 }).await, 1);
            assert!(at_host.wait().now_or_never().is_some());
        });
    }
}
