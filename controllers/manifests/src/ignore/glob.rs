//! One pattern against one text, byte by byte, as Git's own matcher sees them.
//!
//! A pattern is compiled to steps, and all positions in the pattern that a text can have reached are followed at
//! once. So no pattern takes more than its length for each byte of the text.

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob {
    /// The bytes before the first wildcard.
    prefix: Vec<u8>,
    steps: Vec<Step>,
}

/// One step through a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Exactly this byte.
    Byte(u8),
    /// One byte that is no slash.
    One,
    /// One byte of a class that is no slash.
    Class(Box<[bool; 256]>),
    /// Any number of bytes that are no slash.
    Star,
    /// Any number of bytes.
    All,
    /// The next step may be left out.
    Maybe,
    /// Bytes up to and including some slash.
    Through,
    /// Nothing gets past this: Git finds a fault here and gives up.
    Never,
}

impl Glob {
    /// Compiles a pattern. What stands before the first wildcard is taken off first, as Git does, so a stretch of
    /// stars right behind it counts as standing at the beginning.
    pub(super) fn new(pattern: &str) -> Self {
        let bytes = pattern.as_bytes();
        let wild = bytes.iter().position(|byte| b"*?[\\".contains(byte));
        let (prefix, rest) = bytes.split_at(wild.unwrap_or(bytes.len()));
        Self {
            prefix: prefix.to_vec(),
            steps: compile(rest),
        }
    }

    /// Says whether the whole text matches.
    pub(super) fn matches(&self, text: &str) -> bool {
        let Some(rest) = text.as_bytes().strip_prefix(self.prefix.as_slice()) else {
            return false;
        };
        match self.steps.as_slice() {
            [] => rest.is_empty() && !text.is_empty(),
            steps => run(steps, rest),
        }
    }
}

/// Follows all positions at once. Position `n` means that the steps before `n` are done.
fn run(steps: &[Step], text: &[u8]) -> bool {
    let mut now = vec![false; steps.len() + 1];
    let mut next = now.clone();
    reach(steps, &mut now, 0);
    for byte in text {
        next.fill(false);
        for (at, step) in steps.iter().enumerate().filter(|(at, _)| now[*at]) {
            let slash = *byte == b'/';
            match step {
                Step::Byte(wanted) if wanted == byte => reach(steps, &mut next, at + 1),
                Step::One if !slash => reach(steps, &mut next, at + 1),
                Step::Class(class) if !slash && class[usize::from(*byte)] => {
                    reach(steps, &mut next, at + 1);
                }
                Step::Star if !slash => reach(steps, &mut next, at),
                Step::All => reach(steps, &mut next, at),
                Step::Through => {
                    reach(steps, &mut next, at);
                    if slash {
                        reach(steps, &mut next, at + 1);
                    }
                }
                Step::Byte(_)
                | Step::One
                | Step::Class(_)
                | Step::Star
                | Step::Maybe
                | Step::Never => {}
            }
        }
        std::mem::swap(&mut now, &mut next);
        if !now.contains(&true) {
            return false;
        }
    }
    now[steps.len()]
}

/// Marks a position, and those that need no byte from there.
fn reach(steps: &[Step], positions: &mut [bool], mut at: usize) {
    loop {
        if std::mem::replace(&mut positions[at], true) {
            return;
        }
        match steps.get(at) {
            Some(Step::Star | Step::All) => at += 1,
            Some(Step::Maybe) => {
                reach(steps, positions, at + 2);
                at += 1;
            }
            Some(Step::Byte(_) | Step::One | Step::Class(_) | Step::Through | Step::Never)
            | None => return,
        }
    }
}

fn compile(pattern: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        at += 1;
        match byte {
            b'?' => steps.push(Step::One),
            b'\\' => {
                steps.push(pattern.get(at).copied().map_or(Step::Never, Step::Byte));
                at += 1;
            }
            b'[' => match class(&pattern[at..]) {
                Some((class, length)) => {
                    steps.push(Step::Class(class));
                    at += length;
                }
                None => return vec![Step::Never],
            },
            b'*' => {
                let stars = 1 + pattern[at..]
                    .iter()
                    .take_while(|byte| **byte == b'*')
                    .count();
                let opens = at == 1 || pattern[at - 2] == b'/';
                at += stars - 1;
                let rest = &pattern[at..];
                match (stars > 1 && opens, rest) {
                    (true, [b'/', ..]) => {
                        steps.extend([Step::Maybe, Step::Through]);
                        at += 1;
                    }
                    (true, [] | [b'\\', b'/', ..]) => steps.push(Step::All),
                    (true | false, _) => steps.push(Step::Star),
                }
            }
            byte => steps.push(Step::Byte(*byte)),
        }
    }
    steps
}

/// Reads a class behind its opening bracket, and says how many bytes it takes. `None` where Git gives up.
fn class(pattern: &[u8]) -> Option<(Box<[bool; 256]>, usize)> {
    let mut set = Box::new([false; 256]);
    let negated = matches!(pattern.first(), Some(b'!' | b'^'));
    let mut at = usize::from(negated);
    let mut previous = None;
    let mut first = true;
    loop {
        let byte = *pattern.get(at)?;
        at += 1;
        match byte {
            b']' if !first => break,
            b'\\' => {
                let escaped = *pattern.get(at)?;
                at += 1;
                set[usize::from(escaped)] = true;
                previous = Some(escaped);
            }
            b'-' if previous.is_some() && pattern.get(at).is_some_and(|next| *next != b']') => {
                let mut end = *pattern.get(at)?;
                at += 1;
                if end == b'\\' {
                    end = *pattern.get(at)?;
                    at += 1;
                }
                let start = previous.take()?;
                (start..=end).for_each(|byte| set[usize::from(byte)] = true);
            }
            b'[' if pattern.get(at) == Some(&b':') => {
                let name = &pattern[at + 1..];
                let end = name.iter().position(|byte| *byte == b']')?;
                match name[..end].strip_suffix(b":") {
                    Some(name) => {
                        let holds = named_class(name)?;
                        (0..=u8::MAX)
                            .filter(|byte| byte.is_ascii() && holds(byte))
                            .for_each(|byte| set[usize::from(byte)] = true);
                        at += 1 + end + 1;
                        previous = None;
                    }
                    None => {
                        set[usize::from(b'[')] = true;
                        previous = Some(b'[');
                    }
                }
            }
            byte => {
                set[usize::from(byte)] = true;
                previous = Some(byte);
            }
        }
        first = false;
    }
    if negated {
        set.iter_mut().for_each(|holds| *holds = !*holds);
    }
    Some((set, at))
}

fn named_class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}
