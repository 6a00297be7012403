//! Selectors of labels and annotations, in the text form that Kubernetes takes.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

use super::node::Node;

/// What labels or annotations have to be. The empty selector takes everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    demand: Demand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Demand {
    Present,
    Absent,
    OneOf(Vec<String>),
    NoneOf(Vec<String>),
    Above(i64),
    Below(i64),
}

impl Selector {
    /// Reads a selector.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut tokens = Tokens(text.chars().peekable());
        let mut requirements = Vec::new();
        if tokens.peek_kind() == Kind::End {
            return Ok(Self::default());
        }
        loop {
            requirements.push(requirement(&mut tokens)?);
            match tokens.next() {
                Token::End => return Ok(Self(requirements)),
                Token::Sign(',') => {}
                Token::Sign(_) | Token::Word(_) => return Err("a comma is missing"),
            }
        }
    }

    /// Says whether the labels or annotations of an object are what is asked for.
    pub(crate) fn is_match(&self, pairs: Option<&BTreeMap<String, Node>>) -> bool {
        self.0.iter().all(|requirement| {
            let node = pairs.and_then(|pairs| pairs.get(&requirement.key));
            let text = node.map(text_of);
            match (&requirement.demand, text) {
                (Demand::Present, text) => text.is_some(),
                (Demand::Absent, text) => text.is_none(),
                (Demand::OneOf(values), text) => text.is_some_and(|text| values.contains(&text)),
                (Demand::NoneOf(values), text) => text.is_none_or(|text| !values.contains(&text)),
                (Demand::Above(limit), text) => number(text).is_some_and(|value| value > *limit),
                (Demand::Below(limit), text) => number(text).is_some_and(|value| value < *limit),
            }
        })
    }
}

fn number(text: Option<String>) -> Option<i64> {
    text?.parse().ok()
}

/// Returns a value as its text, whatever it is.
fn text_of(node: &Node) -> String {
    match node.as_str() {
        Some(text) => text.to_owned(),
        None if node.is_null() => String::new(),
        None => node.to_value().to_string(),
    }
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<Requirement, &'static str> {
    match tokens.next() {
        Token::Sign('!') => Ok(Requirement {
            key: key(tokens.next())?,
            demand: Demand::Absent,
        }),
        first => {
            let key = key(first)?;
            let demand = demand(tokens)?;
            Ok(Requirement { key, demand })
        }
    }
}

fn key(token: Token) -> Result<String, &'static str> {
    match token {
        Token::Word(key) if model::selector::is_label_key(&key) => Ok(key),
        Token::Word(_) => Err("a key is not one that a label can have"),
        Token::Sign(_) | Token::End => Err("a key is missing"),
    }
}

fn demand(tokens: &mut Tokens<'_>) -> Result<Demand, &'static str> {
    match tokens.peek_kind() {
        Kind::End | Kind::Sign(',') => return Ok(Demand::Present),
        Kind::Sign(_) | Kind::Word => {}
    }
    match tokens.next() {
        Token::Sign('=') => {
            tokens.skip('=');
            Ok(Demand::OneOf(vec![value(tokens)?]))
        }
        Token::Sign('!') if tokens.skip('=') => Ok(Demand::NoneOf(vec![value(tokens)?])),
        Token::Sign('>') => limit(tokens).map(Demand::Above),
        Token::Sign('<') => limit(tokens).map(Demand::Below),
        Token::Word(word) if word == "in" => values(tokens).map(Demand::OneOf),
        Token::Word(word) if word == "notin" => values(tokens).map(Demand::NoneOf),
        Token::Word(_) | Token::Sign(_) | Token::End => Err("an operator is not known"),
    }
}

fn limit(tokens: &mut Tokens<'_>) -> Result<i64, &'static str> {
    let value = value(tokens)?;
    value.parse().map_err(|_| "a limit is not a whole number")
}

fn value(tokens: &mut Tokens<'_>) -> Result<String, &'static str> {
    match tokens.peek_kind() {
        Kind::Word => match tokens.next() {
            Token::Word(word) if is_value(&word) => Ok(word),
            _ => Err("a value is not one that a label can have"),
        },
        Kind::End | Kind::Sign(',' | ')') => Ok(String::new()),
        Kind::Sign(_) => Err("a value is missing"),
    }
}

fn values(tokens: &mut Tokens<'_>) -> Result<Vec<String>, &'static str> {
    if tokens.next() != Token::Sign('(') {
        return Err("a parenthesis is missing");
    }
    let mut values = Vec::new();
    loop {
        values.push(value(tokens)?);
        match tokens.next() {
            Token::Sign(')') => return Ok(values),
            Token::Sign(',') => {}
            Token::Sign(_) | Token::Word(_) | Token::End => {
                return Err("a parenthesis is missing");
            }
        }
    }
}

fn is_value(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && edge(text.chars().next())
        && edge(text.chars().last())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(char),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Sign(char),
    End,
}

struct Tokens<'a>(Peekable<Chars<'a>>);

impl Tokens<'_> {
    fn peek_kind(&mut self) -> Kind {
        while self.0.next_if(char::is_ascii_whitespace).is_some() {}
        match self.0.peek() {
            None => Kind::End,
            Some(sign) if is_sign(*sign) => Kind::Sign(*sign),
            Some(_) => Kind::Word,
        }
    }

    fn next(&mut self) -> Token {
        match self.peek_kind() {
            Kind::End => Token::End,
            Kind::Sign(sign) => {
                self.0.next();
                Token::Sign(sign)
            }
            Kind::Word => {
                let mut word = String::new();
                while let Some(c) = self.0.next_if(|c| !is_sign(*c) && !c.is_ascii_whitespace()) {
                    word.push(c);
                }
                Token::Word(word)
            }
        }
    }

    /// Takes a sign that follows at once.
    fn skip(&mut self, sign: char) -> bool {
        self.0.next_if_eq(&sign).is_some()
    }
}

fn is_sign(c: char) -> bool {
    matches!(c, '(' | ')' | ',' | '!' | '=' | '<' | '>')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::node::Supplier;

    #[test]
    fn selectors_select_what_kubernetes_selects() {
        let labels: BTreeMap<String, Node> = [("app", "web"), ("tier", "5"), ("empty", "")]
            .into_iter()
            .map(|(key, value)| (key.to_owned(), Node::scalar(value, Supplier::Synthesised)))
            .collect();
        for (text, expected) in [
            ("", true),
            ("app", true),
            ("!app", false),
            ("!other", true),
            ("app=web", true),
            ("app == web , tier = 5", true),
            ("app!=web", false),
            ("other != web", true),
            ("app in (x, web)", true),
            ("app notin (x,web)", false),
            ("other notin (x)", true),
            ("tier > 4", true),
            ("tier<5", false),
            ("app>1", false),
            ("empty=", true),
            ("empty in (a,)", true),
            ("example.com/app", false),
        ] {
            let selector = Selector::parse(text).unwrap();
            assert_eq!(selector.is_match(Some(&labels)), expected, "{text}");
        }
        for text in [
            ",", "a,", "a b", "a in x", "a in (x", "a=b c", "a=-b", "a/b/c", "a>b", "a~b", "=b",
        ] {
            assert!(Selector::parse(text).is_err(), "{text}");
        }
    }
}
