//! Takes a template apart into tokens, by the rules of Go's own scanner.

use super::Fault;

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Text between actions, trimmed as its neighbours ask.
    Text(String),
    /// `{{`
    Open,
    /// `}}`
    Close,
    /// Space inside an action; it separates operands.
    Space,
    /// `.`
    Dot,
    /// `.Name`
    Field(String),
    /// `$name`, without the sign; `$` alone is the empty name.
    Variable(String),
    /// A keyword, a function or a truth value.
    Word(String),
    /// A quoted text, unquoted.
    Quoted(String),
    /// A whole number.
    Integer(i64),
    /// `|`
    Pipe,
    /// `:=`
    Declare,
    /// `=`
    Assign,
    /// `,`
    Comma,
    /// `(`
    LeftParen,
    /// `)`
    RightParen,
}

/// A token and the byte that it starts at.
pub(super) type Placed = (Token, usize);

/// Takes the whole source apart.
pub(super) fn tokens(source: &str) -> Result<Vec<Placed>, Fault> {
    let mut lexer = Lexer {
        source,
        at: 0,
        tokens: Vec::new(),
    };
    lexer.template()?;
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    tokens: Vec<Placed>,
}

/// What ends an action, and whether it trims the text behind.
struct End {
    length: usize,
    trims: bool,
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, token: Token, from: usize) {
        self.tokens.push((token, from));
    }

    fn template(&mut self) -> Result<(), Fault> {
        let mut trim_start = false;
        loop {
            let from = self.at;
            let opening = self.rest().find("{{");
            let text = &self.rest()[..opening.unwrap_or(self.rest().len())];
            let trims = opening.is_some_and(|open| marks_left(&self.rest()[open + 2..]));
            let mut kept = text;
            if trim_start {
                kept = kept.trim_start_matches(is_space);
            }
            if trims {
                kept = kept.trim_end_matches(is_space);
            }
            if !kept.is_empty() {
                self.push(Token::Text(kept.to_owned()), from);
            }
            self.at += text.len();
            if opening.is_none() {
                return Ok(());
            }
            trim_start = self.action(trims)?;
        }
    }

    /// Takes one action, from its braces to its braces, and says whether it trims the text behind.
    fn action(&mut self, trims_before: bool) -> Result<bool, Fault> {
        let from = self.at;
        self.at += if trims_before { 4 } else { 2 };
        if self.rest().starts_with("/*") {
            return self.comment(from);
        }
        self.push(Token::Open, from);
        let mut depth = 0_usize;
        loop {
            if let Some(end) = self.end() {
                if depth > 0 {
                    return Err(Fault::new(self.at, "a parenthesis is not closed"));
                }
                self.push(Token::Close, self.at);
                self.at += end.length;
                return Ok(end.trims);
            }
            let Some(next) = self.peek() else {
                return Err(Fault::new(from, "the action is not closed by }}"));
            };
            match next {
                '(' => depth += 1,
                ')' if depth == 0 => {
                    return Err(Fault::new(self.at, "a parenthesis closes nothing"));
                }
                ')' => depth -= 1,
                _ => {}
            }
            self.inside(next, from)?;
        }
    }

    fn comment(&mut self, from: usize) -> Result<bool, Fault> {
        let open = || Fault::new(from, "the comment is not closed by */ right before }}");
        let end = self.rest()[2..].find("*/").ok_or_else(open)?;
        self.at += 2 + end + 2;
        let end = self.end().ok_or_else(open)?;
        self.at += end.length;
        Ok(end.trims)
    }

    /// Returns what ends the action here, if anything does.
    fn end(&self) -> Option<End> {
        let rest = self.rest();
        if rest.starts_with("}}") {
            return Some(End {
                length: 2,
                trims: false,
            });
        }
        let marked = rest.strip_prefix(is_space)?.strip_prefix("-}}").is_some();
        marked.then_some(End {
            length: 4,
            trims: true,
        })
    }

    fn inside(&mut self, next: char, action: usize) -> Result<(), Fault> {
        let from = self.at;
        let single = |token| (token, 1);
        let (token, length) = match next {
            _ if is_space(next) => (Token::Space, self.space()),
            '|' => single(Token::Pipe),
            ',' => single(Token::Comma),
            '(' => single(Token::LeftParen),
            ')' => single(Token::RightParen),
            '=' => single(Token::Assign),
            ':' if self.rest().starts_with(":=") => (Token::Declare, 2),
            '"' => self.quoted()?,
            '`' => self.raw()?,
            '\'' => return Err(Fault::new(from, "character constants are not supported")),
            '.' => self.dot()?,
            '$' => {
                let name = self.name(1);
                (Token::Variable(name.to_owned()), 1 + name.len())
            }
            '-' | '+' | '0'..='9' => self.number()?,
            _ if is_name(next) => {
                let name = self.name(0);
                (Token::Word(name.to_owned()), name.len())
            }
            '\0'..='\x7f' => {
                let problem = format!("{next:?} has no meaning inside an action");
                return Err(Fault::new(from, problem));
            }
            _ => {
                let problem = "names inside an action are written in ASCII letters and digits";
                return Err(Fault::new(from, problem));
            }
        };
        let named = matches!(
            token,
            Token::Field(_) | Token::Variable(_) | Token::Word(_) | Token::Integer(_)
        );
        self.push(token, from);
        self.at += length;
        if named && !self.at_terminator() {
            return Err(match self.peek() {
                None => Fault::new(action, "the action is not closed by }}"),
                Some(c) => Fault::new(
                    self.at,
                    format!("{c:?} cannot follow what stands before it"),
                ),
            });
        }
        Ok(())
    }

    /// Returns how much space there is; the last one may belong to the end of the action.
    fn space(&self) -> usize {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches(is_space).len();
        if rest[length..].starts_with("-}}") && length > 1 {
            length - 1
        } else {
            length
        }
    }

    fn at_terminator(&self) -> bool {
        let rest = self.rest();
        rest.starts_with("}}")
            || rest.starts_with(|c| is_space(c) || matches!(c, '.' | ',' | '|' | ':' | ')' | '('))
    }

    fn name(&self, skip: usize) -> &'a str {
        let rest = &self.rest()[skip..];
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        &rest[..end]
    }

    fn dot(&self) -> Result<(Token, usize), Fault> {
        let name = self.name(1);
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Fault::new(
                self.at,
                "numbers with a fraction are not supported",
            ));
        }
        Ok(match name {
            "" => (Token::Dot, 1),
            name => (Token::Field(name.to_owned()), 1 + name.len()),
        })
    }

    fn number(&self) -> Result<(Token, usize), Fault> {
        let rest = self.rest();
        let is_part = |c: char| is_name(c) || matches!(c, '.' | '+' | '-');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let text = &rest[..end];
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = digits == "0" || (!digits.starts_with('0') && !digits.is_empty());
        let plain = plain && digits.bytes().all(|byte| byte.is_ascii_digit());
        let value = plain.then(|| text.parse().ok()).flatten();
        match value {
            Some(value) => Ok((Token::Integer(value), text.len())),
            None => Err(Fault::new(
                self.at,
                format!("{text:?} is no number that is supported: only whole decimal numbers are"),
            )),
        }
    }

    fn quoted(&self) -> Result<(Token, usize), Fault> {
        let open = || Fault::new(self.at, "the quoted text is not closed on its line");
        let mut text = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, c)) = characters.next() {
            match c {
                '"' => return Ok((Token::Quoted(text), offset + 1)),
                '\n' => return Err(open()),
                '\\' => {
                    let (_, escaped) = characters.next().ok_or_else(open)?;
                    text.push(self.escape(escaped, offset, &mut characters)?);
                }
                _ => text.push(c),
            }
        }
        Err(open())
    }

    fn escape(
        &self,
        escaped: char,
        offset: usize,
        characters: &mut impl Iterator<Item = (usize, char)>,
    ) -> Result<char, Fault> {
        let digits = match escaped {
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let unknown = || {
            let problem = format!("the escape \\{escaped} is not supported in a quoted text");
            Fault::new(self.at + offset, problem)
        };
        let code: String = characters.take(digits).map(|(_, digit)| digit).collect();
        let is_hex = code.len() == digits && code.bytes().all(|byte| byte.is_ascii_hexdigit());
        match escaped {
            'a' => Ok('\x07'),
            'b' => Ok('\x08'),
            'f' => Ok('\x0c'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\x0b'),
            '\\' | '"' => Ok(escaped),
            'u' | 'U' if is_hex => u32::from_str_radix(&code, 16)
                .ok()
                .and_then(char::from_u32)
                .ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }

    fn raw(&self) -> Result<(Token, usize), Fault> {
        let rest = &self.rest()[1..];
        let end = rest
            .find('`')
            .ok_or_else(|| Fault::new(self.at, "the raw text is not closed by `"))?;
        Ok((Token::Quoted(rest[..end].replace('\r', "")), end + 2))
    }
}

/// Says whether what follows the braces trims the text before them.
fn marks_left(rest: &str) -> bool {
    rest.strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(is_space))
}
