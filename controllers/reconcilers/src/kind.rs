//! The loop that every kind runs in: it is woken, looks at one object at a time, and comes back later.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use model::Millis;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::place::Place;
use crate::schedule::Schedule;

/// How many wake-ups may wait. The loop takes them at once, so a sender hardly ever waits.
const INBOX: usize = 256;
/// How many objects of one kind are looked at side by side.
const AT_ONCE: usize = 16;
/// When an object is looked at again after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// One kind of configuration object.
pub(crate) trait Kind: Send + Sync + 'static {
    /// The kind's name, for the log.
    const NAME: &'static str;

    /// What is remembered about one object between two looks, and lost with the process.
    type Memory: Default + Send + 'static;

    /// Looks at one object, brings about what follows, and says when to look again.
    fn reconcile(
        &self,
        place: &Place,
        memory: &mut Self::Memory,
    ) -> impl Future<Output = Result<Next, Failure>> + Send;
}

/// When to look at an object again if nothing wakes it before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// After this long.
    After(Duration),
    /// Never: it is gone, and what was remembered about it is dropped.
    Forget,
}

/// A wake-up for one object, and how long it may wait for others to join it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WakeUp {
    pub(crate) place: Place,
    pub(crate) within: Duration,
}

/// Creates the two ends of a kind's inbox.
pub(crate) fn inbox() -> (mpsc::Sender<WakeUp>, mpsc::Receiver<WakeUp>) {
    mpsc::channel(INBOX)
}

/// Runs one kind until the token is cancelled. Looks that are under way are dropped then: each of them can
/// be made again from what the API server holds.
pub(crate) async fn run<K: Kind>(
    kind: Arc<K>,
    inbox: mpsc::Receiver<WakeUp>,
    shutdown: CancellationToken,
) {
    let looks = Looks {
        kind,
        started: Instant::now(),
        schedule: Schedule::default(),
        memories: BTreeMap::new(),
        running: JoinSet::new(),
        who: BTreeMap::new(),
    };
    looks.run(inbox, shutdown).await;
}

/// What a look gives back: the memory that it was lent, and when to look again.
type Look<M> = (M, Result<Next, Failure>);

struct Looks<K: Kind> {
    kind: Arc<K>,
    started: Instant,
    schedule: Schedule,
    /// A memory is here or with the look that is under way.
    memories: BTreeMap<Place, K::Memory>,
    running: JoinSet<Look<K::Memory>>,
    who: BTreeMap<Id, Place>,
}

impl<K: Kind> Looks<K> {
    async fn run(mut self, mut inbox: mpsc::Receiver<WakeUp>, shutdown: CancellationToken) {
        loop {
            self.start_due();
            let next = self.next_start();
            tokio::select! { biased;
                () = shutdown.cancelled() => break,
                Some(ended) = self.running.join_next_with_id() => self.take_end(ended),
                wake_up = inbox.recv() => match wake_up {
                    Some(wake_up) => self.wake(wake_up),
                    None => break,
                },
                () = sleep_until(next) => {}
            }
        }
        self.running.shutdown().await;
    }

    fn now(&self) -> Millis {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn wake(&mut self, wake_up: WakeUp) {
        let at = self.now().saturating_add(millis(wake_up.within));
        self.schedule.wake(wake_up.place, at);
    }

    /// Returns when the next look can start; `None` while none is due or all places are taken.
    fn next_start(&self) -> Option<Instant> {
        let at = self
            .schedule
            .next_due()
            .filter(|_| self.running.len() < AT_ONCE)?;
        Some(self.started + Duration::from_millis(at))
    }

    fn start_due(&mut self) {
        while self.running.len() < AT_ONCE {
            let Some(place) = self.schedule.take(self.now()) else {
                return;
            };
            let mut memory = self.memories.remove(&place).unwrap_or_default();
            let kind = Arc::clone(&self.kind);
            let look_at = place.clone();
            let look = async move {
                let outcome = kind.reconcile(&look_at, &mut memory).await;
                (memory, outcome)
            };
            let id = self.running.spawn(look).id();
            self.who.insert(id, place);
        }
    }

    fn take_end(&mut self, ended: Result<(Id, Look<K::Memory>), JoinError>) {
        let id = match &ended {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(place) = self.who.remove(&id) else {
            return;
        };
        let again = match ended {
            Ok((_, (memory, Ok(Next::After(wait))))) => {
                self.memories.insert(place.clone(), memory);
                Some(wait)
            }
            Ok((_, (_, Ok(Next::Forget)))) => None,
            Ok((_, (memory, Err(failure)))) => {
                self.memories.insert(place.clone(), memory);
                tracing::warn!(kind = K::NAME, %place, "cannot reconcile: {}", chain(&failure));
                Some(AFTER_FAILURE)
            }
            Err(error) => {
                tracing::error!(kind = K::NAME, %place, %error, "a reconcile broke down");
                Some(AFTER_FAILURE)
            }
        };
        let at = again.map(|wait| self.now().saturating_add(millis(wait)));
        self.schedule.done(place, at);
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn millis(duration: Duration) -> Millis {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Prints an error with everything that caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::UnboundedSender;

    use super::*;

    /// Reports how often each object was looked at, as its own memory counts it.
    struct Counting(UnboundedSender<(String, u32)>);

    impl Kind for Counting {
        const NAME: &'static str = "Counting";
        type Memory = u32;

        async fn reconcile(&self, place: &Place, memory: &mut u32) -> Result<Next, Failure> {
            *memory += 1;
            let _closed = self.0.send((place.to_string(), *memory));
            match place.name.as_str() {
                "failing" => Err(Failure::Stopped("the test")),
                "breaking" => panic!("on purpose"),
                "gone" => Ok(Next::Forget),
                _ => Ok(Next::After(Duration::from_secs(300))),
            }
        }
    }

    /// Wakes each object in turn and returns what the loop reports for it and for its next look.
    async fn looks(name: &str) -> [u32; 2] {
        let (reports, mut reported) = mpsc::unbounded_channel();
        let (sender, receiver) = inbox();
        let shutdown = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(run(Arc::new(Counting(reports)), receiver, shutdown.clone()));
        let wake_up = WakeUp {
            place: Place::named("ns", name).unwrap(),
            within: Duration::ZERO,
        };
        sender.send(wake_up.clone()).await.unwrap();
        let first = reported.recv().await.unwrap().1;
        if name == "gone" {
            sender.send(wake_up).await.unwrap();
        }
        let second = reported.recv().await.unwrap().1;
        shutdown.cancel();
        tasks.join_next().await.unwrap().unwrap();
        [first, second]
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_comes_back_and_keeps_its_memory_unless_it_is_gone() {
        assert_eq!(looks("steady").await, [1, 2]);
        assert_eq!(looks("failing").await, [1, 2]);
        assert_eq!(looks("gone").await, [1, 1]);
        assert_eq!(looks("breaking").await, [1, 1]);
    }
}
