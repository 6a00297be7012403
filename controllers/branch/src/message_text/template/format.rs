//! Prints values as Go's `fmt` does, or refuses to.

use super::value::Value;

/// The widest field that a verb may ask for.
const WIDEST: usize = 1000;

/// Prints a value as it appears in a message.
pub(super) fn plain(value: &Value) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.to_string()),
        Value::Integer(value) => Ok(value.to_string()),
        Value::Truth(value) => Ok(value.to_string()),
        Value::List(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(plain).collect();
            Ok(format!("[{}]", items?.join(" ")))
        }
        Value::Map { entries, .. } => {
            let entries: Result<Vec<_>, _> = entries
                .iter()
                .map(|(name, value)| plain(value).map(|value| format!("{name}:{value}")))
                .collect();
            Ok(format!("map[{}]", entries?.join(" ")))
        }
        Value::Object(object) => object.printed().ok_or_else(|| {
            let kind = object.kind();
            format!("{kind} cannot be printed as a whole; name a field of it")
        }),
    }
}

/// Prints values one after the other, with space only between two that are no texts.
pub(super) fn spaced(values: &[Value]) -> Result<String, String> {
    let mut text = String::new();
    let mut before_is_text = true;
    for value in values {
        let is_text = matches!(value, Value::Text(_));
        if !is_text && !before_is_text {
            text.push(' ');
        }
        text.push_str(&plain(value)?);
        before_is_text = is_text;
    }
    Ok(text)
}

/// Prints values with space between them and a newline behind.
pub(super) fn line(values: &[Value]) -> Result<String, String> {
    let texts: Result<Vec<_>, _> = values.iter().map(plain).collect();
    Ok(texts?.join(" ") + "\n")
}

/// Prints values by a template of verbs.
pub(super) fn formatted(template: &str, values: &[Value]) -> Result<String, String> {
    let mut output = String::new();
    let mut values = values.iter();
    let mut rest = template;
    while let Some(at) = rest.find('%') {
        output.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            output.push('%');
            rest = behind;
            continue;
        }
        let (verb, behind) = Verb::read(rest)?;
        let value = values
            .next()
            .ok_or_else(|| format!("printf has no value for {}", verb.shown()))?;
        output.push_str(&verb.print(value)?);
        rest = behind;
    }
    output.push_str(rest);
    match values.next() {
        None => Ok(output),
        Some(_) => Err("printf has more values than verbs".to_owned()),
    }
}

/// One verb with its flags.
struct Verb {
    letter: char,
    left: bool,
    zeros: bool,
    sign: bool,
    width: usize,
    precision: Option<usize>,
}

impl Verb {
    /// Reads what follows the percent sign, and returns what is behind it.
    fn read(text: &str) -> Result<(Self, &str), String> {
        let mut verb = Self {
            letter: ' ',
            left: false,
            zeros: false,
            sign: false,
            width: 0,
            precision: None,
        };
        let flags = text.len() - text.trim_start_matches(['-', '0', '+']).len();
        for flag in text[..flags].chars() {
            match flag {
                '-' => verb.left = true,
                '0' => verb.zeros = true,
                _ => verb.sign = true,
            }
        }
        let (width, rest) = number(&text[flags..])?;
        verb.width = width.unwrap_or(0);
        let rest = match rest.strip_prefix('.') {
            None => rest,
            Some(behind) => {
                let (precision, behind) = number(behind)?;
                verb.precision = Some(precision.unwrap_or(0));
                behind
            }
        };
        let mut characters = rest.chars();
        verb.letter = characters
            .next()
            .ok_or("printf ends with a verb that has no letter")?;
        match verb.letter {
            's' | 'v' | 'q' | 'd' | 't' => Ok((verb, characters.as_str())),
            letter => Err(format!(
                "printf does not support %{letter} here; there are %s, %v, %q, %d, %t and %%"
            )),
        }
    }

    fn shown(&self) -> String {
        format!("%{}", self.letter)
    }

    fn print(&self, value: &Value) -> Result<String, String> {
        match (self.letter, value) {
            ('d' | 'v', Value::Integer(value)) => self.integer(*value),
            ('t' | 'v', Value::Truth(value)) if self.is_bare() => Ok(value.to_string()),
            ('s' | 'v', Value::Text(text)) => self.text(text),
            ('q', Value::Text(text)) => self.text(&quoted(text)?),
            ('s' | 'v' | 'q', Value::Object(_)) => {
                let text = plain(value)?;
                match self.letter {
                    'q' => self.text(&quoted(&text)?),
                    _ => self.text(&text),
                }
            }
            ('v', Value::List(_) | Value::Map { .. }) if self.is_bare() => plain(value),
            ('s', Value::List(items)) if self.is_bare() && items.iter().all(is_printed) => {
                plain(value)
            }
            _ => Err(format!(
                "printf does not print {} with this form of {}",
                value.kind(),
                self.shown()
            )),
        }
    }

    fn is_bare(&self) -> bool {
        !self.left && !self.zeros && !self.sign && self.width == 0 && self.precision.is_none()
    }

    fn integer(&self, value: i64) -> Result<String, String> {
        let plain_flags = self.letter == 'd' || !(self.zeros || self.sign);
        if self.precision.is_some() || !plain_flags || (self.left && self.zeros) {
            return Err(format!(
                "printf does not support this form of {} for a number",
                self.shown()
            ));
        }
        let digits = value.unsigned_abs().to_string();
        let sign = match (value < 0, self.sign) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        if self.zeros {
            let width = self.width.saturating_sub(sign.len());
            return Ok(format!("{sign}{digits:0>width$}"));
        }
        Ok(self.padded(&format!("{sign}{digits}")))
    }

    fn text(&self, text: &str) -> Result<String, String> {
        let is_cut = self.precision.is_some() && self.letter != 's';
        if self.zeros || self.sign || is_cut {
            return Err(format!(
                "printf does not support this form of {} for a text",
                self.shown()
            ));
        }
        let cut: String = match self.precision {
            None => text.to_owned(),
            Some(precision) => text.chars().take(precision).collect(),
        };
        Ok(self.padded(&cut))
    }

    /// Fills up to the width, counted in characters as Go does.
    fn padded(&self, text: &str) -> String {
        let fill = " ".repeat(self.width.saturating_sub(text.chars().count()));
        if self.left {
            format!("{text}{fill}")
        } else {
            format!("{fill}{text}")
        }
    }
}

fn is_printed(value: &Value) -> bool {
    matches!(value, Value::Text(_) | Value::Object(_))
}

/// Reads a number of a verb, if there is one.
fn number(text: &str) -> Result<(Option<usize>, &str), String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    if end == 0 {
        return Ok((None, text));
    }
    let value = text[..end].parse().ok().filter(|value| *value <= WIDEST);
    match value {
        Some(value) => Ok((Some(value), &text[end..])),
        None => Err(format!("printf supports no width above {WIDEST}")),
    }
}

/// Puts a text in quotes. Which characters beyond ASCII are printed as they are differs between versions of Go, so
/// none is taken.
fn quoted(text: &str) -> Result<String, String> {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            ' '..='~' => quoted.push(c),
            _ => return Err("printf %q takes ASCII texts only".to_owned()),
        }
    }
    quoted.push('"');
    Ok(quoted)
}
