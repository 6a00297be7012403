//! One writer, many readers, last value only.

use std::sync::Arc;

use tokio::sync::watch;

/// The writing side. Dropping it tells the readers that nothing more will come.
#[derive(Debug)]
pub struct Publisher<T> {
    sender: watch::Sender<Arc<T>>,
}

/// The reading side. Cloning is cheap; a reader keeps working after the publisher is gone.
#[derive(Debug)]
pub struct Reader<T> {
    receiver: watch::Receiver<Arc<T>>,
}

impl<T: PartialEq> Publisher<T> {
    /// Starts with a first value.
    pub fn new(first: T) -> Self {
        Self {
            sender: watch::Sender::new(Arc::new(first)),
        }
    }

    /// Publishes the value unless it equals the last one, so that a wake-up always means a change.
    /// Returns whether it was published.
    pub fn set(&self, value: T) -> bool {
        self.sender.send_if_modified(|current| {
            let changed = **current != value;
            if changed {
                *current = Arc::new(value);
            }
            changed
        })
    }

    /// Returns a new reader.
    pub fn reader(&self) -> Reader<T> {
        Reader {
            receiver: self.sender.subscribe(),
        }
    }
}

impl<T> Reader<T> {
    /// Returns the last value and lets go at once, because holding on would block the publisher.
    pub fn now(&self) -> Arc<T> {
        self.receiver.borrow().clone()
    }

    /// Waits until a value is published that this reader has not been told about. Returns `false` once the
    /// publisher is gone.
    pub async fn changed(&mut self) -> bool {
        self.receiver.changed().await.is_ok()
    }

    /// Says whether both readers read the same publisher.
    pub fn reads_same(&self, other: &Self) -> bool {
        self.receiver.same_channel(&other.receiver)
    }

    /// Says whether the publisher still exists.
    pub fn is_live(&self) -> bool {
        self.receiver.has_changed().is_ok()
    }
}

impl<T> Clone for Reader<T> {
    fn clone(&self) -> Self {
        Self {
            receiver: self.receiver.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_equal_value_wakes_nobody_and_a_new_one_does() {
        let publisher = Publisher::new(1);
        let mut reader = publisher.reader();
        assert!(!publisher.set(1));
        assert!(publisher.set(2));
        assert!(reader.changed().await);
        assert_eq!(*reader.now(), 2);
        drop(publisher);
        assert!(!reader.changed().await);
        assert_eq!(*reader.now(), 2, "the last value stays readable");
        assert!(!reader.is_live());
    }
}
