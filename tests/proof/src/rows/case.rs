//! A case: a folder as people left it, what happened to the objects, and what must come of it.
//!
//! [`Draft`] makes one, page by page. Whoever drafts a case says what each page must become, so the judge needs
//! nothing of the planner's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use manifests::plan::Policy;
use manifests::{Intent, Placement};
use model::{
    DesiredObject, FilesInMemory, FolderPath, RefusalCode, RepoPath, ResourceId, Sensitivity,
};
use serde_json::Value;

use super::hand::{Remark, Style, write};
use super::objects::{Kind, catalog, filled, id_of, kept, live, object};
use crate::dice::Dice;

/// The folder that is written.
pub const FOLDER: &str = "live";

/// A folder, what is wanted of it, and what must come of it.
#[derive(Debug)]
pub struct Case {
    /// Which one it is.
    pub number: u64,
    /// The files of the repository.
    pub before: FilesInMemory,
    /// What happened.
    pub intents: Vec<Intent>,
    /// How the target is set up.
    pub policy: Policy,
    /// What there is to encrypt with.
    pub keys: Keys,
    /// What each file must become; the others stay as they are.
    pub after: BTreeMap<RepoPath, After>,
    /// The objects that must be refused, with the code.
    pub refused: BTreeMap<ResourceId, RefusalCode>,
    /// Whether the whole folder must be refused.
    pub folder_refused: bool,
    /// What must be counted as kept although its object is gone.
    pub retained: BTreeSet<ResourceId>,
    /// The remarks in each document of each file.
    pub remarks: BTreeMap<(RepoPath, usize), Vec<Remark>>,
    /// What each document of each file says.
    pub values: BTreeMap<(RepoPath, usize), Value>,
    /// So many lines of the document may change for one that a change needs, where it is not one.
    pub spread: BTreeMap<(RepoPath, usize), usize>,
}

impl Case {
    /// Tells what happens to a folder, and nothing of what must come of it.
    pub fn of(before: FilesInMemory, intents: Vec<Intent>, policy: Policy) -> Self {
        Self {
            number: 0,
            before,
            intents,
            policy,
            keys: Keys::None,
            after: BTreeMap::new(),
            refused: BTreeMap::new(),
            folder_refused: false,
            retained: BTreeSet::new(),
            remarks: BTreeMap::new(),
            values: BTreeMap::new(),
            spread: BTreeMap::new(),
        }
    }
}

/// What there is to encrypt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Nothing.
    None,
    /// A recipient and its private key.
    Both,
    /// A recipient, and what tells that nothing changed.
    Fingerprint,
}

/// What a file must become.
#[derive(Debug, Clone)]
pub enum After {
    /// These pages, in this order. It is gone where none is left.
    Pages(Vec<Page>),
    /// An encrypted document that opens to this.
    Sealed(Value),
    /// Anything, as long as it is there.
    There,
    /// What stood there was replaced in the same step: it is gone.
    Gone,
}

/// What a document must become.
#[derive(Debug, Clone)]
pub enum Page {
    /// It keeps its bytes.
    Kept(usize),
    /// It says this, and nothing else of it changes.
    Edited(usize, Value),
    /// It is taken out.
    Removed(usize, ResourceId),
    /// It is new and says this.
    New(Value),
}

/// Where a document stands in a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    /// The file.
    pub path: RepoPath,
    /// The position in it.
    pub index: usize,
}

/// A document in a draft.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// What it says.
    pub value: Value,
    /// The lines, where somebody wrote them out instead of leaving them to a hand.
    pub text: Option<String>,
    /// The style, where it matters.
    pub style: Option<Style>,
    /// So many lines may change for one that a change needs.
    pub spread: usize,
}

impl Sheet {
    /// A document in some hand.
    pub fn of(value: Value) -> Self {
        Self {
            value,
            text: None,
            style: None,
            spread: 1,
        }
    }

    /// A document in a given style.
    pub fn styled(value: Value, style: Option<Style>) -> Self {
        Self {
            style,
            ..Self::of(value)
        }
    }

    /// A document that somebody wrote out.
    pub fn written(value: Value, text: String) -> Self {
        Self {
            text: Some(text),
            ..Self::of(value)
        }
    }
}

/// How the documents of a file are put together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Framing {
    /// The first document has a separator above it, and perhaps a licence above that.
    pub marked: bool,
    /// A remark above everything.
    pub headed: bool,
    /// A byte order mark.
    pub bom: bool,
    /// Lines end as on Windows.
    pub crlf: bool,
    /// The last line has no end.
    pub open: bool,
    /// A marker behind the last document.
    pub closed: bool,
    /// Blank lines around separators.
    pub loose: bool,
}

/// A case in the making.
pub struct Draft<'d> {
    /// The choices.
    pub dice: &'d mut Dice,
    /// How the target is set up.
    pub policy: Policy,
    /// What there is to encrypt with.
    pub keys: Keys,
    files: BTreeMap<RepoPath, Vec<Sheet>>,
    framings: BTreeMap<RepoPath, Framing>,
    raw: BTreeMap<RepoPath, Vec<u8>>,
    intents: Vec<Intent>,
    pages: BTreeMap<(RepoPath, usize), Page>,
    news: BTreeMap<RepoPath, Vec<Value>>,
    after: BTreeMap<RepoPath, After>,
    refused: BTreeMap<ResourceId, RefusalCode>,
    folder_refused: bool,
    retained: BTreeSet<ResourceId>,
    count: usize,
}

impl Framing {
    /// Draws a framing.
    pub fn draw(dice: &mut Dice) -> Self {
        Self {
            marked: dice.once_in(4),
            headed: dice.once_in(5),
            bom: dice.once_in(12),
            crlf: dice.once_in(8),
            open: dice.once_in(6),
            closed: dice.once_in(16),
            loose: dice.once_in(6),
        }
    }
}

impl<'d> Draft<'d> {
    /// Starts with an empty repository and a target without settings.
    pub fn new(dice: &'d mut Dice) -> Self {
        let folder = FolderPath::new(FOLDER).expect("the name of a folder is a path");
        Self {
            dice,
            policy: Policy::new(folder, Arc::new(catalog())),
            keys: Keys::None,
            files: BTreeMap::new(),
            framings: BTreeMap::new(),
            raw: BTreeMap::new(),
            intents: Vec::new(),
            pages: BTreeMap::new(),
            news: BTreeMap::new(),
            after: BTreeMap::new(),
            refused: BTreeMap::new(),
            folder_refused: false,
            retained: BTreeSet::new(),
            count: 0,
        }
    }

    /// Declares where new documents go.
    ///
    /// # Panics
    /// When the templates are not valid.
    pub fn place(&mut self, by_type: &[(&str, &str)], default: Option<&str>) {
        let sensitivity = Sensitivity::default();
        let placement = Placement::read(by_type.iter().copied(), default, None, &sensitivity);
        self.policy.placement = placement.expect("the templates of a case are valid");
    }

    /// Returns a name that nothing else of the draft has.
    pub fn name(&mut self, stem: &str) -> String {
        self.count += 1;
        format!("{stem}-{}", self.count)
    }

    /// Makes an object with a name of its own.
    pub fn object(&mut self, kind: Kind) -> Value {
        let name = self.name("one");
        object(kind, &name, self.dice)
    }

    /// Draws the path of a file below the folder.
    pub fn path(&mut self) -> RepoPath {
        let folder = self.dice.one(&["", "apps/", "team-a/", "base/v2/", "x.y/"]);
        let name = self.name("file");
        let end = self.dice.one(&["yaml", "yaml", "yml"]);
        path(&format!("{folder}{name}.{end}"))
    }

    /// Puts a document behind the others of a file.
    pub fn put(&mut self, path: &RepoPath, value: Value) -> At {
        self.put_sheet(path, Sheet::of(value))
    }

    /// Puts a document behind the others of a file, in a given form.
    pub fn put_sheet(&mut self, path: &RepoPath, sheet: Sheet) -> At {
        let sheets = self.files.entry(path.clone()).or_default();
        sheets.push(sheet);
        let index = sheets.len() - 1;
        self.framing(path);
        At {
            path: path.clone(),
            index,
        }
    }

    /// Puts a document somewhere, with others around it.
    pub fn put_anywhere(&mut self, value: Value) -> At {
        self.put_sheet_anywhere(Sheet::of(value))
    }

    /// Puts a document into a file of its own.
    pub fn put_alone(&mut self, value: Value) -> At {
        let path = self.path();
        self.put(&path, value)
    }

    /// Puts a document of a given form somewhere, with others around it.
    pub fn put_sheet_anywhere(&mut self, sheet: Sheet) -> At {
        let path = self.path();
        let (before, behind) = match self.dice.below(4) {
            0 => (self.dice.below(3), self.dice.below(3)),
            _ => (0, 0),
        };
        self.bystanders(&path, before);
        let at = self.put_sheet(&path, sheet);
        self.bystanders(&path, behind);
        at
    }

    /// Puts documents that nothing happens to into a file.
    pub fn bystanders(&mut self, path: &RepoPath, count: usize) {
        for _ in 0..count {
            let kind = Kind::draw(self.dice);
            let name = self.name("bystander");
            let value = object(kind, &name, self.dice);
            self.put(path, value);
        }
    }

    /// Puts files around that nothing happens to.
    pub fn surroundings(&mut self) {
        if self.dice.once_in(2) {
            let path = self.path();
            let count = 1 + self.dice.below(2);
            self.bystanders(&path, count);
        }
        if self.dice.once_in(3) {
            let text = "# Ours\n\nDo not touch.\n";
            self.file("README.md", text);
        }
        if self.dice.once_in(4) {
            self.file("apps/notes.txt", "apiVersion: no\n");
        }
        if self.dice.once_in(6) {
            self.file("only-remarks.yaml", "# to be filled in\n");
        }
    }

    /// Puts a file below the folder that is not made of sheets.
    pub fn file(&mut self, name: &str, text: &str) {
        self.raw.insert(path(name), text.as_bytes().to_vec());
    }

    /// Puts a file anywhere that is not made of sheets.
    pub fn file_at(&mut self, path: &RepoPath, bytes: &[u8]) {
        self.raw.insert(path.clone(), bytes.to_vec());
    }

    /// Returns the framing of a file, to be changed.
    pub fn framing(&mut self, path: &RepoPath) -> &mut Framing {
        if !self.framings.contains_key(path) {
            let framing = Framing::draw(self.dice);
            self.framings.insert(path.clone(), framing);
        }
        self.framings.entry(path.clone()).or_default()
    }

    /// Says that an object is live now, with this content.
    pub fn happens(&mut self, value: &Value) -> Arc<DesiredObject> {
        let object = live(value, self.dice);
        self.intents.push(Intent::Upsert(Arc::clone(&object)));
        object
    }

    /// Says that a new object is live now, and returns what a document of it must say: everything, also what the
    /// server filled in.
    pub fn arrives(&mut self, value: &Value) -> Value {
        let value = if self.dice.once_in(2) {
            filled(value)
        } else {
            value.clone()
        };
        let object = kept(&value, self.dice);
        self.intents.push(Intent::Upsert(object));
        value
    }

    /// Says that something else is wanted.
    pub fn intends(&mut self, intent: Intent) {
        self.intents.push(intent);
    }

    /// Says that an object is gone.
    pub fn goes(&mut self, value: &Value) {
        self.intents.push(Intent::Remove { id: id_of(value) });
    }

    /// Says what a document must become.
    pub fn becomes(&mut self, at: &At, page: Page) {
        self.pages.insert((at.path.clone(), at.index), page);
    }

    /// Says what must come behind the documents of a file, or alone in it.
    pub fn comes(&mut self, path: &RepoPath, value: Value) {
        self.news.entry(path.clone()).or_default().push(value);
    }

    /// Says what a whole file must become.
    pub fn turns(&mut self, path: &RepoPath, after: After) {
        self.after.insert(path.clone(), after);
    }

    /// Edits a document: its object is live with this content, and it must say so.
    pub fn edit(&mut self, at: &At, wanted: Value) {
        self.happens(&wanted);
        self.becomes(at, Page::Edited(at.index, wanted));
    }

    /// Says that an object must be refused.
    pub fn refuses(&mut self, value: &Value, code: RefusalCode) {
        self.refused.insert(id_of(value), code);
    }

    /// Says that the folder must be refused.
    pub fn refuses_folder(&mut self) {
        self.folder_refused = true;
    }

    /// Says that a document must be kept and counted although its object is gone.
    pub fn retains(&mut self, value: &Value) {
        self.retained.insert(id_of(value));
    }

    /// Says what every file with a changed or new document must become.
    fn after(&mut self) -> BTreeMap<RepoPath, After> {
        let mut after = std::mem::take(&mut self.after);
        let changed = self.pages.keys().map(|(path, _)| path);
        let paths: BTreeSet<RepoPath> = changed.chain(self.news.keys()).cloned().collect();
        for path in paths {
            let count = self.files.get(&path).map_or(0, Vec::len);
            let standing = (0..count).map(|index| {
                let page = self.pages.get(&(path.clone(), index)).cloned();
                page.unwrap_or(Page::Kept(index))
            });
            let news = self.news.get(&path).into_iter().flatten().cloned();
            let pages = standing.chain(news.map(Page::New)).collect();
            after.insert(path, After::Pages(pages));
        }
        after
    }

    /// Writes the files.
    pub fn finish(mut self) -> Case {
        let after = self.after();
        let mut before = FilesInMemory::default();
        let mut remarks = BTreeMap::new();
        let mut values = BTreeMap::new();
        let mut spread = BTreeMap::new();
        for (path, bytes) in self.raw {
            before.put(&path, bytes);
        }
        let mut first = 0;
        for (path, sheets) in self.files {
            let framing = self.framings.get(&path).copied().unwrap_or_default();
            let mut pages = Vec::new();
            let mut ends_in_block = false;
            for (index, sheet) in sheets.iter().enumerate() {
                let style = sheet.style.unwrap_or_else(|| Style::draw(self.dice));
                let value = sheet.value.as_object().cloned().unwrap_or_default();
                let written = write(&value, style, first, self.dice);
                first += written.remarks.len();
                ends_in_block = written.ends_in_block || sheet.text.is_some();
                let key = (path.clone(), index);
                match &sheet.text {
                    Some(text) => pages.push(text.clone()),
                    None => {
                        remarks.insert(key.clone(), written.remarks);
                        pages.push(written.text);
                    }
                }
                values.insert(key.clone(), sheet.value.clone());
                spread.insert(key, sheet.spread);
            }
            before.put(&path, frame(&pages, framing, ends_in_block).into_bytes());
        }
        Case {
            number: 0,
            before,
            intents: self.intents,
            policy: self.policy,
            keys: self.keys,
            after,
            refused: self.refused,
            folder_refused: self.folder_refused,
            retained: self.retained,
            remarks,
            values,
            spread,
        }
    }
}

/// Returns a path below the folder.
///
/// # Panics
/// When it is none.
pub fn path(below: &str) -> RepoPath {
    RepoPath::new(format!("{FOLDER}/{below}")).expect("the path of a case is one")
}

/// Puts documents together to a text.
fn frame(pages: &[String], framing: Framing, ends_in_block: bool) -> String {
    let mut text = String::new();
    if framing.headed {
        text.push_str("# Copyright: the people\n");
    }
    for (index, page) in pages.iter().enumerate() {
        if index > 0 || framing.marked {
            text.push_str("---\n");
            if framing.loose {
                text.push('\n');
            }
        }
        text.push_str(page);
    }
    if framing.closed {
        text.push_str("...\n");
    } else if framing.open && !ends_in_block {
        text.truncate(text.trim_end_matches('\n').len());
    }
    if framing.crlf {
        text = text.replace('\n', "\r\n");
    }
    if framing.bom {
        text.insert(0, '\u{feff}');
    }
    text
}
