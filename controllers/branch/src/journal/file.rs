//! A journal in one file, which grows at its end. It is cut down when all of it is settled, and written anew when most of
//! it is.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use model::{BranchName, RepositoryId, Uid};
use serde::{Deserialize, Serialize};

use super::entry::{self, Record};
use super::frame::{self, Frame};
use super::{
    Appended, DeliveryNumber, Durability, Entry, Journal, JournalError, JournalKey, Numbers,
    Recovered, Sent,
};

/// A file is written anew when it is longer than this and four times as long as what is not settled, so that each
/// record is copied less than once on the average.
const WORTH_IT: u64 = 1 << 20;

/// What Linux says of a network's file system whose locks nobody serves (`ENOLCK`).
const NO_LOCKS: i32 = 37;

/// Whose writes a journal holds. Those of another branch, or of another provider's repository, are never replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The incarnation of the `GitBranch`.
    pub uid: Uid,
    /// The incarnation of its `GitProvider`.
    pub provider_uid: Uid,
    /// The repository.
    pub repository: RepositoryId,
    /// The branch.
    pub branch: BranchName,
}

/// A journal in one file.
pub struct FileJournal {
    path: PathBuf,
    owner: Owner,
    key: Option<JournalKey>,
    /// The open file; `None` before it was recovered and after a failure to make it.
    file: Option<File>,
    /// Held from the start on, so that nobody else replaces the file meanwhile: neither a job of an earlier writer that a
    /// silent disk kept, nor another process with the same data folder. Taken again when its folder was removed.
    lock: Option<File>,
    /// Where the first record goes, after what says whose the file is.
    begin: u64,
    /// Where the next record goes.
    end: u64,
    /// Whether an append or a tidying failed, so that what lies at the end is not known.
    broken: bool,
    /// Whether a file is there that was not read.
    unread: bool,
    /// Where the writes that are not settled lie.
    live: BTreeMap<DeliveryNumber, Range<u64>>,
    /// How many bytes they take.
    alive: u64,
    /// Commits that were sent with some of them.
    sent: Vec<Sent>,
}

impl FileJournal {
    /// Names the file. Nothing is read or written before [`recover`](Journal::recover).
    pub fn new(path: &Path, owner: Owner, key: Option<JournalKey>) -> Self {
        Self {
            path: path.to_owned(),
            owner,
            key,
            file: None,
            lock: None,
            begin: 0,
            end: 0,
            broken: false,
            unread: false,
            live: BTreeMap::new(),
            alive: 0,
            sent: Vec::new(),
        }
    }

    /// Waits until nobody else writes the journal.
    fn lock(&mut self) -> Result<(), JournalError> {
        loop {
            let file = self.open_lock()?;
            match file.lock() {
                Err(error) if has_no_locks(&error) => {}
                locked => locked.map_err(self.failed("locking"))?,
            }
            // The folder may have been removed while this waited, and somebody may hold the lock in the new one.
            if is_linked(&file) {
                self.lock = Some(file);
                return Ok(());
            }
        }
    }

    /// Takes the lock again when it is not where others look for it any more. What somebody wrote there meanwhile is not
    /// ours to replace.
    fn lock_again(&mut self) -> Result<(), JournalError> {
        if self.lock.as_ref().is_some_and(is_linked) {
            return Ok(());
        }
        let file = self.open_lock()?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let path = self.path.clone();
                return Err(JournalError::Taken { path });
            }
            Err(TryLockError::Error(error)) if !has_no_locks(&error) => {
                return Err(self.failed("locking")(error));
            }
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        self.lock = Some(file);
        self.unread |= self.is_foreign();
        Ok(())
    }

    fn open_lock(&self) -> Result<File, JournalError> {
        self.make_folder()?;
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.path.with_extension("lock"))
            .map_err(self.failed("making the lock of"))
    }

    /// Says whether a file is there that is not the open one.
    fn is_foreign(&self) -> bool {
        let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let there = fs::metadata(&self.path).ok().map(place);
        let ours = self.file.as_ref().and_then(|file| file.metadata().ok());
        there.is_some() && there != ours.map(place)
    }

    fn make_folder(&self) -> Result<(), JournalError> {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(self.folder());
        made.map_err(self.failed("making the folder of"))
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Reads the file into what it holds.
    pub(super) fn read(&mut self, recovered: &mut Recovered) -> Result<(), JournalError> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            read => read.map_err(self.failed("reading"))?,
        };
        let reading = frame::read(&bytes);
        let mut frames = reading.frames.into_iter();
        if let Err(why) = self.check_header(frames.next(), &bytes) {
            recovered.losses.push(why);
            return Ok(());
        }
        for damage in &reading.damaged {
            recovered.losses.push(format!(
                "{} bytes at {} of {} are damaged; the records in them are lost",
                damage.len(),
                damage.start,
                self.path.display()
            ));
        }
        if reading.torn > 0 {
            tracing::info!(journal = %self.path.display(), bytes = reading.torn, "cut off a record that was not complete");
        }
        for frame in frames {
            self.take(&frame, &bytes, recovered);
        }
        recovered
            .deliveries
            .retain(|one| self.live.contains_key(&one.number));
        // A file that was cut as the machine failed may hold older records behind newer ones.
        recovered.deliveries.sort_by_key(|one| one.number);
        self.forget_sent();
        recovered.sent.clone_from(&self.sent);
        self.file = Some(File::open(&self.path).map_err(self.failed("opening"))?);
        Ok(())
    }

    fn check_header(&self, first: Option<Frame>, bytes: &[u8]) -> Result<(), String> {
        let path = self.path.display();
        let header = first.map(|frame| entry::decode(frame.kind, &bytes[frame.body], None));
        let Some(Record::Header(header)) = header else {
            return if bytes.is_empty() {
                Ok(())
            } else {
                Err(format!(
                    "the beginning of {path} is damaged, so nobody knows whose it is; all of it is dropped"
                ))
            };
        };
        if header.version != entry::VERSION {
            return Err(format!(
                "{path} has format {}, which this version does not read; all of it is dropped",
                header.version
            ));
        }
        if *header.owner != self.owner {
            return Err(format!(
                "{path} belongs to branch {:?} of {}, which this writer does not write; all of it is dropped",
                header.owner.branch.as_str(),
                header.owner.repository
            ));
        }
        Ok(())
    }

    fn take(&mut self, frame: &Frame, bytes: &[u8], recovered: &mut Recovered) {
        let record = entry::decode(frame.kind, &bytes[frame.body.clone()], self.key.as_ref());
        match record {
            Record::Accepted(delivery) => {
                let span = as_u64(frame.span.start)..as_u64(frame.span.end);
                recovered.next = recovered.next.max(delivery.number.next());
                if !self.live.contains_key(&delivery.number) {
                    self.keep(delivery.number, span);
                    recovered.deliveries.push(*delivery);
                }
            }
            // What was sent or settled may never have been written down, and its number must not be given again.
            Record::Sent(sent) => {
                recovered.next = recovered.next.max(sent.numbers.after_last());
                self.sent.push(sent);
            }
            Record::Settled(settled) => {
                recovered.next = recovered.next.max(settled.numbers.after_last());
                self.settle(&settled.numbers);
            }
            Record::Locked(number) => {
                recovered.next = recovered.next.max(number.next());
                recovered.losses.push(format!(
                    "write {} of a sensitive object cannot be decrypted; a replay brings its state without its author",
                    number.0
                ));
            }
            Record::Header(_) | Record::Unreadable => recovered.losses.push(format!(
                "a record at {} of {} is not understood",
                frame.span.start,
                self.path.display()
            )),
        }
    }

    fn keep(&mut self, number: DeliveryNumber, span: Range<u64>) {
        self.alive += span.end - span.start;
        self.live.insert(number, span);
    }

    fn settle(&mut self, numbers: &Numbers) {
        for number in numbers.iter() {
            if let Some(span) = self.live.remove(&number) {
                self.alive -= span.end - span.start;
            }
        }
    }

    /// Forgets the commits whose writes are all settled.
    fn forget_sent(&mut self) {
        let live = &self.live;
        self.sent
            .retain(|sent| sent.numbers.iter().any(|number| live.contains_key(&number)));
    }

    /// Keeps a file whose content is not known, so that it is not written over.
    fn put_aside(&mut self) -> Result<(), JournalError> {
        let aside = self.path.with_extension("unread");
        match fs::rename(&self.path, &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => {
                renamed.map_err(self.failed("putting aside"))?;
                tracing::error!(
                    journal = %aside.display(),
                    "a journal that was not read was put aside; the authors of the changes in it are lost unless it is put back before the next start"
                );
            }
        }
        self.unread = false;
        Ok(())
    }

    /// Writes the file anew with what is not settled, and puts it in the place of the old one.
    fn rewrite(&mut self) -> Result<(), JournalError> {
        let mut bytes = Vec::new();
        let (kind, header) = entry::header(&self.owner);
        frame::put(&mut bytes, kind, &header);
        let begin = as_u64(bytes.len());
        let mut live = BTreeMap::new();
        for (number, span) in &self.live {
            match self.read_span(span) {
                Ok(record) => {
                    let start = as_u64(bytes.len());
                    bytes.extend_from_slice(&record);
                    live.insert(*number, start..as_u64(bytes.len()));
                }
                Err(error) => {
                    tracing::warn!(number = number.0, %error, "a write is not in the journal any more");
                }
            }
        }
        for sent in &self.sent {
            if let Some((kind, body)) = entry::encode(&Entry::Sent(sent), None) {
                frame::put(&mut bytes, kind, &body);
            }
        }
        let file = self.replace(&bytes)?;
        self.alive = live.values().map(|span| span.end - span.start).sum();
        (self.file, self.live) = (Some(file), live);
        (self.begin, self.end) = (begin, as_u64(bytes.len()));
        self.broken = false;
        Ok(())
    }

    /// Cuts off every record. Nothing waits for the disk: of what comes back after the machine failed the records say
    /// that it was sent, and the remote says whether it landed; the rest is judged again, and a snapshot follows.
    fn cut(&mut self) -> Result<(), JournalError> {
        let cut = self.usable()?.set_len(self.begin);
        cut.map_err(self.failed("cutting off what is settled in"))?;
        self.end = self.begin;
        self.sent.clear();
        Ok(())
    }

    fn read_span(&self, span: &Range<u64>) -> io::Result<Vec<u8>> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let length = usize::try_from(span.end - span.start).unwrap_or(usize::MAX);
        let mut record = vec![0; length];
        file.read_exact_at(&mut record, span.start)?;
        Ok(record)
    }

    fn replace(&self, bytes: &[u8]) -> Result<File, JournalError> {
        self.make_folder()?;
        let new = self.path.with_extension("new");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)
            .map_err(self.failed("making the successor of"))?;
        file.write_all_at(bytes, 0)
            .and_then(|()| file.sync_all())
            .map_err(self.failed("writing the successor of"))?;
        fs::rename(&new, &self.path).map_err(self.failed("replacing"))?;
        // Without this the name may still stand for the old file after the machine has failed.
        File::open(self.folder())
            .and_then(|folder| folder.sync_all())
            .map_err(self.failed("syncing the folder of"))?;
        Ok(file)
    }

    /// Returns the open file, unless it is not where it was.
    fn usable(&self) -> Result<&File, JournalError> {
        let path = self.path.clone();
        let file = self.file.as_ref().filter(|_| !self.broken);
        let file = file.ok_or(JournalError::Closed { path })?;
        let metadata = file.metadata().map_err(self.failed("looking at"))?;
        if metadata.nlink() == 0 {
            let path = self.path.clone();
            return Err(JournalError::Vanished { path });
        }
        Ok(file)
    }

    fn failed(&self, action: &'static str) -> impl FnOnce(io::Error) -> JournalError + use<> {
        let path = self.path.clone();
        move |source| JournalError::Disk {
            action,
            path,
            source,
        }
    }

    fn write(&self, bytes: &[u8], durability: Durability) -> Result<(), JournalError> {
        let file = self.usable()?;
        file.write_all_at(bytes, self.end)
            .map_err(self.failed("appending to"))?;
        match durability {
            Durability::Synced => file.sync_data().map_err(self.failed("syncing")),
            Durability::Written => Ok(()),
        }
    }
}

impl Journal for FileJournal {
    fn recover(&mut self) -> Recovered {
        let mut recovered = Recovered {
            next: DeliveryNumber(1),
            ..Recovered::default()
        };
        let locked = self.lock();
        let read = locked.and_then(|()| self.read(&mut recovered));
        self.unread = read.is_err();
        let opened = read.and_then(|()| self.rewrite());
        self.broken = opened.is_err();
        recovered.trouble = opened.err();
        recovered
    }

    fn append(
        &mut self,
        entries: &[Entry<'_>],
        durability: Durability,
    ) -> Result<Appended, JournalError> {
        let mut bytes = Vec::new();
        let mut appended = Appended::default();
        let mut written = Vec::new();
        for entry in entries {
            let start = self.end + as_u64(bytes.len());
            match entry::encode(entry, self.key.as_ref()) {
                Some((kind, body)) => frame::put(&mut bytes, kind, &body),
                None => appended.unkeyed += 1,
            }
            let end = self.end + as_u64(bytes.len());
            if let (Entry::Accepted { number, .. }, true) = (entry, start < end) {
                appended.kept += 1;
                written.push((*number, start..end));
            }
        }
        let result = self.write(&bytes, durability);
        self.broken |= result.is_err();
        result?;
        self.end += as_u64(bytes.len());
        for (number, span) in written {
            self.keep(number, span);
        }
        for entry in entries {
            match entry {
                Entry::Accepted { .. } => {}
                Entry::Sent(sent) => self.sent.push(Sent::clone(sent)),
                Entry::Settled(settled) => self.settle(&settled.numbers),
            }
        }
        self.forget_sent();
        Ok(appended)
    }

    fn mend(&mut self) -> Result<(), JournalError> {
        if !self.broken && self.usable().is_ok() {
            return Ok(());
        }
        self.lock_again()?;
        if self.unread {
            self.put_aside()?;
        }
        self.rewrite()
    }

    fn tidy(&mut self) -> Result<(), JournalError> {
        let result = if self.live.is_empty() && self.end > self.begin {
            self.cut()
        } else if self.end > WORTH_IT && self.end > self.alive.saturating_mul(4) {
            self.usable().map(drop).and_then(|()| self.rewrite())
        } else {
            Ok(())
        };
        self.broken |= result.is_err();
        result
    }
}

/// Some file systems of networks have no locks; most have one writer all the same.
fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(NO_LOCKS)
}

/// Says whether an open file still has a name.
fn is_linked(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

fn as_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
