//! Made-up generators, with inputs that hold whatever their parsers look at.

use manifests::kustomize::generator::{GeneratorEntry, GeneratorOptions, Input, Text, file_source};
use manifests::kustomize::node::{FileId, Site};

use super::archive::Files;
use crate::dice::Dice;

/// A generator and its inputs.
#[derive(Debug, Clone, Default)]
pub struct Generated {
    /// Items of the form `key=value`.
    pub literals: Vec<String>,
    /// The content of each `envs:` file.
    pub envs: Vec<Vec<u8>>,
    /// Items of `files:`, each with the content of its file.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Pieces that mean something somewhere.
const PIECES: [&[u8]; 21] = [
    b"a",
    b"b",
    b"C",
    b"1",
    b"=",
    b"'",
    b"\"",
    b"#",
    b" ",
    b"\t",
    b"\n",
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"export ",
    b": ",
    b"- ",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
];

/// Keys of lines.
const ENV_KEYS: [&str; 12] = [
    "A",
    "B",
    "C",
    "D",
    "E",
    "F",
    " G",
    "\tH",
    "",
    "#I",
    "\u{feff}J",
    "export K",
];

/// Items of `files:`.
const SPECS: [&str; 9] = [
    "k",
    "k1=l",
    "dir/m",
    "n.txt=dir/m",
    "o.txt",
    "p=o.txt",
    "q",
    "dir/r",
    "s.txt=q",
];

/// Items of `files:` that are none.
const WRONG_SPECS: [&str; 3] = ["=l", "k=", "a=b=c"];

/// Makes a generator.
pub fn generated(dice: &mut Dice) -> Generated {
    let mut made = Generated::default();
    for _ in 0..dice.below(3) {
        let item = String::from_utf8_lossy(&noise(dice, 6)).into_owned();
        made.literals.push(match dice.below(6) {
            0 if dice.once_in(4) => item,
            _ => format!(
                "{}={item}",
                dice.one(&["a", "b", "c", "d", "e", "f", "g h"])
            ),
        });
    }
    for _ in 0..dice.below(3) {
        let mut file = Vec::new();
        for _ in 0..dice.below(4) {
            file.extend_from_slice(dice.one(&ENV_KEYS).as_bytes());
            file.push(b'=');
            file.extend_from_slice(&noise(dice, 5));
            file.extend_from_slice(dice.one(&[b"\n".as_slice(), b"\r\n", b"\n\n", b""]));
        }
        made.envs.push(file);
    }
    for _ in 0..dice.below(3) {
        let spec = if dice.once_in(20) {
            dice.one(&WRONG_SPECS)
        } else {
            dice.one(&SPECS)
        };
        made.files.push((spec.to_owned(), noise(dice, 12)));
    }
    made
}

/// Returns a value that something is to be changed to.
pub fn value(dice: &mut Dice) -> String {
    String::from_utf8_lossy(&noise(dice, 6)).into_owned()
}

fn noise(dice: &mut Dice, most: usize) -> Vec<u8> {
    let pieces = (0..dice.below(most)).map(|_| {
        // Anything that is no UTF-8 fails the whole of some inputs.
        if dice.once_in(60) {
            b"\xff".as_slice()
        } else {
            dice.one(&PIECES)
        }
    });
    pieces.collect::<Vec<_>>().concat()
}

impl Generated {
    /// Returns the folder that has this generator.
    pub fn folder(&self) -> Files {
        let envs: Vec<String> = (0..self.envs.len()).map(|at| format!("{at}.env")).collect();
        let specs: Vec<&str> = self.files.iter().map(|(spec, _)| spec.as_str()).collect();
        let entry = serde_json::json!({
            "name": "it",
            "literals": self.literals,
            "envs": envs,
            "files": specs,
            "options": {"disableNameSuffixHash": true},
        });
        let kustomization = format!("configMapGenerator: [{}]\n", ascii(&entry.to_string()));
        let mut files = Files::from([("kustomization.yaml".to_owned(), kustomization.into())]);
        files.extend(envs.into_iter().zip(self.envs.iter().cloned()));
        for (spec, content) in &self.files {
            if let Ok((_, path)) = file_source(spec) {
                files.insert(path.to_owned(), content.clone());
            }
        }
        files
    }

    /// Returns the entry that a reader of the folder would make of all but its `files:`. Each item has a place of its
    /// own.
    pub fn entry(&self) -> GeneratorEntry<'_> {
        let number = |at: usize| u32::try_from(at).expect("because few items are made up");
        let text = |value: &str, at: usize| Text {
            value: value.to_owned(),
            site: Site {
                file: FileId(0),
                at: number(at),
            },
        };
        let literals = self.literals.iter().enumerate();
        let envs = self.envs.iter().enumerate();
        GeneratorEntry {
            site: text("", 0).site,
            name: text("it", 0),
            namespace: None,
            literals: literals.map(|(at, item)| text(item, at)).collect(),
            envs: envs
                .map(|(at, bytes)| Input {
                    spec: text("", 0),
                    file: FileId(number(at) + 1),
                    bytes,
                })
                .collect(),
            files: Vec::new(),
            options: GeneratorOptions::default(),
        }
    }
}

/// Escapes what YAML reads in another way than JSON: some characters are line breaks in one of them only.
fn ascii(json: &str) -> String {
    let escaped = json.chars().map(|char| match char {
        ' '..='~' => char.to_string(),
        other => format!("\\U{:08x}", u32::from(other)),
    });
    escaped.collect()
}
