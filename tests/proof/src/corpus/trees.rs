//! Trees in the manner of public repositories, written from a seed.
//!
//! Each tree is made of a few files that a person or a tool would write, filled in and varied: other names, other
//! line ends, a byte order mark, no last line break, remarks and blank lines where lines begin.

use super::Text;
use crate::dice::Dice;

/// The files that a tree is made of, by name.
type Originals = &'static [(&'static str, &'static str)];

macro_rules! originals {
    ($tree:literal: $($name:literal),+ $(,)?) => {
        &[$((
            concat!($name, ".yaml"),
            include_str!(concat!("../../data/trees/", $tree, "/", $name, ".yaml")),
        )),+]
    };
}

const APPS: Originals = originals!("apps": "deployment", "service", "configmap", "ingress", "autoscaler", "rbac",
    "cronjob", "kustomization");
const RENDERED: Originals = originals!("rendered": "workload", "definition", "list");
const PLATFORM: Originals = originals!("platform": "anchors", "wide", "flow", "mixed-flow", "blocks", "quotes",
    "explicit", "explicit-key", "comments", "nested", "pipeline", "deep");

/// One repository for many applications, a folder each, written with care and comments.
pub fn apps(folders: usize, seed: u64) -> Vec<Text> {
    let tidy = |text: String, _: &mut Dice| text;
    tree("apps", APPS, folders, seed, tidy)
}

/// What a templating tool wrote.
pub fn rendered(folders: usize, seed: u64) -> Vec<Text> {
    let tidy = |text: String, _: &mut Dice| text;
    tree("rendered", RENDERED, folders, seed, tidy)
}

/// What several people wrote by hand over the years, on several systems.
pub fn platform(folders: usize, seed: u64) -> Vec<Text> {
    tree("platform", PLATFORM, folders, seed, vary)
}

fn tree(
    name: &str,
    originals: Originals,
    folders: usize,
    seed: u64,
    vary: impl Fn(String, &mut Dice) -> String,
) -> Vec<Text> {
    let mut dice = Dice::new(seed);
    let mut texts = Vec::with_capacity(folders * originals.len());
    for folder in 0..folders {
        let unit = format!(
            "{}-{folder}",
            dice.one(&["cart", "mail", "auth", "search", "pay"])
        );
        for (file, original) in originals {
            let text = original
                .replace("NAME", &unit)
                .replace("TEAM", dice.one(&["red", "blue", "sre"]))
                .replace("NUMBER", &dice.below(60).to_string());
            texts.push(Text {
                name: format!("{name}/{unit}/{file}"),
                bytes: vary(text, &mut dice),
            });
        }
    }
    texts
}

/// Writes a text as another person would have on another system.
fn vary(text: String, dice: &mut Dice) -> String {
    let mut text = match dice.below(4) {
        0 => remarks(&text, dice),
        1 => format!("# Copyright\n\n{text}"),
        _ => text,
    };
    if dice.once_in(3) {
        text.truncate(text.trim_end_matches('\n').len());
    }
    if dice.once_in(3) {
        text = text.replace('\n', "\r\n");
    }
    if dice.once_in(4) {
        text.insert(0, '\u{feff}');
    }
    text
}

/// Puts remarks and blank lines before lines that begin something.
fn remarks(text: &str, dice: &mut Dice) -> String {
    // Inside text of several lines they would belong to the text.
    if text.contains(['|', '>', '\\', '%']) || text.contains("  folded") {
        return text.to_owned();
    }
    let mut out = String::new();
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
        match dice.below(8) {
            0 => out.push('\n'),
            1 => out.push_str(&format!("{indent}# remark {}\n", dice.below(100))),
            _ => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}
