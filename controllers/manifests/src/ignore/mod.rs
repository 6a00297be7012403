//! What a `.gittargetignore` hides from the mirror (SC-2, SC-5, SC-6, SC-16, SC-17).
//!
//! The syntax and the meaning are those of a `.gitignore` at the root of the folder: the last pattern that
//! matches decides, `!` brings back, and what lies below a hidden folder stays hidden. The matcher is our own,
//! because none of the usual ones answers as Git does for every pattern (braces, classes, stretches of stars);
//! it is compared with the real `git check-ignore`. Which names are recognised whatever the patterns say (SC-4)
//! is up to the caller, and so is reading the file.
//!
//! Reading order: [`IgnoreRules`], then `glob`, one pattern and one text.

mod glob;
#[cfg(test)]
mod tests;

use std::fmt;

use glob::Glob;

/// The rules of one `.gittargetignore`. Without a file, or with comments only, nothing is hidden.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IgnoreRules {
    rules: Vec<Rule>,
}

/// One pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    line: u32,
    text: String,
    negated: bool,
    only_folders: bool,
    /// Whether the pattern speaks of the whole path, not of the last part only.
    whole_path: bool,
    glob: Glob,
}

/// The pattern that hides a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenBy<'a> {
    /// The line of the pattern, counted from 1.
    pub line: u32,
    /// The pattern as it was written.
    pub pattern: &'a str,
}

/// A pattern that makes the whole file invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: u32,
    /// The pattern as it was written.
    pub pattern: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: {:?}: {}",
            self.line, self.pattern, self.message
        )
    }
}

impl IgnoreRules {
    /// Reads the text of a `.gittargetignore`. A pattern that Git could never match is no fault: it hides nothing.
    ///
    /// # Errors
    /// Returns every pattern that would hide the whole folder, or all YAML of it.
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        let mut rules = Vec::new();
        let mut problems = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.split('\n')) {
            let line = without_trailing_blanks(line.strip_suffix('\r').unwrap_or(line));
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let rule = Rule::new(number, line);
            match rule.catastrophe() {
                Some(message) => problems.push(Problem {
                    line: number,
                    pattern: line.to_owned(),
                    message: message.to_owned(),
                }),
                None => rules.push(rule),
            }
        }
        if problems.is_empty() {
            Ok(Self { rules })
        } else {
            Err(problems)
        }
    }

    /// Says whether the path, relative to the folder, is hidden by itself or by a folder above it.
    pub fn is_ignored(&self, below: &str, is_folder: bool) -> bool {
        self.hidden_by(below, is_folder).is_some()
    }

    /// Returns the pattern that hides the path or the outermost hidden folder above it. No pattern brings back
    /// what lies in a hidden folder, since the folder is not entered.
    pub fn hidden_by(&self, below: &str, is_folder: bool) -> Option<HiddenBy<'_>> {
        if self.rules.is_empty() {
            return None;
        }
        let above = below
            .match_indices('/')
            .map(|(end, _)| (&below[..end], true));
        above
            .chain([(below, is_folder)])
            .find_map(|(path, is_folder)| self.decide(path, is_folder))
    }

    /// Judges one path as if it stood alone: the last pattern that matches decides.
    fn decide(&self, path: &str, is_folder: bool) -> Option<HiddenBy<'_>> {
        let rule = self
            .rules
            .iter()
            .rev()
            .find(|rule| rule.matches(path, is_folder))?;
        (!rule.negated).then_some(HiddenBy {
            line: rule.line,
            pattern: &rule.text,
        })
    }
}

impl Rule {
    fn new(line: u32, text: &str) -> Self {
        let (negated, pattern) = match text.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, text),
        };
        let (only_folders, pattern) = match pattern.strip_suffix('/') {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        let whole_path = pattern.contains('/');
        Self {
            line,
            text: text.to_owned(),
            negated,
            only_folders,
            whole_path,
            glob: Glob::new(pattern.strip_prefix('/').unwrap_or(pattern)),
        }
    }

    fn matches(&self, path: &str, is_folder: bool) -> bool {
        if self.only_folders && !is_folder {
            return false;
        }
        if self.whole_path {
            return self.glob.matches(path);
        }
        self.glob.matches(path.rsplit('/').next().unwrap_or(path))
    }

    /// Says what is wrong with a pattern that leaves nothing to mirror (SC-16). Such a pattern is judged alone:
    /// what later ones would bring back depends on names that nobody has seen yet.
    fn catastrophe(&self) -> Option<&'static str> {
        if self.negated {
            return None;
        }
        if self.text.trim_matches('/').is_empty() {
            return Some("a lone slash names the whole folder; write what is to be hidden");
        }
        let hides = |end: &str| {
            PROBES.iter().all(|probe| {
                let path = format!("{probe}{end}");
                let above = path.match_indices('/').map(|(at, _)| (&path[..at], true));
                above
                    .chain([(path.as_str(), false)])
                    .any(|(path, is_folder)| self.matches(path, is_folder))
            })
        };
        if hides("") {
            return Some("it hides everything in the folder; write what is to be hidden");
        }
        (hides(".yaml") || hides(".yml"))
            .then_some("it hides every YAML file of the folder; write which ones are to be hidden")
    }
}

/// Returns the pattern that means one path of the folder and no other.
pub fn pattern_of(below: &str) -> String {
    let mut pattern = String::with_capacity(below.len() + 1);
    pattern.push('/');
    for character in below.chars() {
        if matches!(character, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    let trimmed = pattern.trim_end_matches(' ').len();
    let blanks = pattern.len() - trimmed;
    pattern.truncate(trimmed);
    pattern + &"\\ ".repeat(blanks)
}

/// Names that have nothing in common: a pattern that matches all of them matches by wildcard alone.
const PROBES: [&str; 6] = ["a", "Z9-_", "q/0.b", "W_1/r/é", "x y/(1)/~", "0/1/2/3/4"];

/// Takes blanks off the end, except one that a backslash keeps.
fn without_trailing_blanks(line: &str) -> &str {
    let mut end = 0;
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ' ' => {}
            '\\' => end = chars.next().map_or(line.len(), |(at, c)| at + c.len_utf8()),
            _ => end = at + c.len_utf8(),
        }
    }
    &line[..end]
}
