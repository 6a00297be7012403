//! Makes a tree of tokens. Variables are resolved by where they stand, so a template that was read uses none that
//! does not exist.

use super::Fault;
use super::functions::Function;
use super::lex::{Placed, Token};
use super::tree::{Branch, Command, Control, Node, Operand, Pipeline, Target};

/// How deep controls and parentheses may be nested.
const DEEPEST: usize = 50;

/// Makes the tree.
pub(super) fn parse(tokens: Vec<Placed>) -> Result<Vec<Node>, Fault> {
    let end = tokens.last().map_or(0, |(_, at)| *at);
    let mut parser = Parser {
        tokens,
        position: 0,
        end,
        // `$` is what the template is given.
        variables: vec![String::new()],
        depth: 0,
    };
    let (nodes, stop) = parser.nodes()?;
    match stop {
        Stop::End(at) => Err(Fault::new(at, "this end closes nothing")),
        Stop::Else(at) => Err(Fault::new(at, "this else belongs to nothing")),
        Stop::Source => Ok(nodes),
    }
}

struct Parser {
    tokens: Vec<Placed>,
    position: usize,
    /// The byte that the last token starts at.
    end: usize,
    variables: Vec<String>,
    depth: usize,
}

/// What a list of nodes ended with.
enum Stop {
    Source,
    End(usize),
    Else(usize),
}

/// Where a pipeline stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Action,
    Condition,
    Range,
    Parentheses,
}

impl Parser {
    fn next(&mut self) -> Result<Placed, Fault> {
        let next = self.tokens.get(self.position).cloned();
        self.position += 1;
        next.ok_or_else(|| Fault::new(self.end, "the template ends inside an action"))
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position).map(|(token, _)| token)
    }

    /// Returns where the next token is.
    fn here(&self) -> usize {
        self.tokens
            .get(self.position)
            .map_or(self.end, |(_, at)| *at)
    }

    fn skip_space(&mut self) {
        while self.peek() == Some(&Token::Space) {
            self.position += 1;
        }
    }

    fn close(&mut self, what: &str) -> Result<(), Fault> {
        self.skip_space();
        match self.next()? {
            (Token::Close, _) => Ok(()),
            (_, at) => Err(Fault::new(at, format!("nothing may follow {what} here"))),
        }
    }

    fn deeper<T>(
        &mut self,
        at: usize,
        work: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth == DEEPEST {
            let problem = format!("nesting deeper than {DEEPEST} is not supported");
            return Err(Fault::new(at, problem));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// Takes nodes up to an `end`, an `else` or the end of the source. What they declare ends with them.
    fn nodes(&mut self) -> Result<(Vec<Node>, Stop), Fault> {
        let known = self.variables.len();
        let mut nodes = Vec::new();
        let stop = loop {
            if self.peek().is_none() {
                break Stop::Source;
            }
            let (token, at) = self.next()?;
            if let Token::Text(text) = token {
                nodes.push(Node::Text(text));
                continue;
            }
            // Outside of actions there is nothing but text and their opening braces.
            self.skip_space();
            let word = match self.peek() {
                Some(Token::Word(word)) => word.clone(),
                _ => String::new(),
            };
            let control = match word.as_str() {
                "if" => Control::If,
                "with" => Control::With,
                "range" => Control::Range,
                "end" => {
                    self.next()?;
                    self.close("end")?;
                    break Stop::End(at);
                }
                "else" => {
                    self.next()?;
                    break Stop::Else(at);
                }
                _ => {
                    self.refuse_keyword(&word)?;
                    nodes.push(Node::Action(self.pipeline(Place::Action)?));
                    continue;
                }
            };
            self.next()?;
            nodes.push(self.deeper(at, |parser| parser.control(control, at))?);
        };
        self.variables.truncate(known);
        Ok((nodes, stop))
    }

    fn refuse_keyword(&self, word: &str) -> Result<(), Fault> {
        let is_refused = matches!(word, "block" | "break" | "continue" | "define" | "template");
        if is_refused {
            let problem = format!("the keyword {word} is not supported");
            return Err(Fault::new(self.here(), problem));
        }
        Ok(())
    }

    /// Takes a control behind its keyword, with everything up to its `end`.
    fn control(&mut self, control: Control, at: usize) -> Result<Node, Fault> {
        let known = self.variables.len();
        let place = match control {
            Control::Range => Place::Range,
            Control::If | Control::With => Place::Condition,
        };
        let pipeline = self.pipeline(place)?;
        let (then, stop) = self.nodes()?;
        let otherwise = match stop {
            Stop::Source => return Err(Fault::new(at, "the control has no end")),
            Stop::End(_) => Vec::new(),
            Stop::Else(_) => self.otherwise(control, at)?,
        };
        self.variables.truncate(known);
        let branch = Branch {
            pipeline,
            then,
            otherwise,
        };
        Ok(Node::Control(control, Box::new(branch)))
    }

    /// Takes what follows `else`, up to the `end` of the control.
    fn otherwise(&mut self, control: Control, at: usize) -> Result<Vec<Node>, Fault> {
        self.skip_space();
        let again = match (control, self.peek()) {
            (Control::If, Some(Token::Word(word))) => word == "if",
            (Control::With, Some(Token::Word(word))) => word == "with",
            _ => false,
        };
        if again {
            self.next()?;
            let node = self.deeper(at, |parser| parser.control(control, at))?;
            return Ok(vec![node]);
        }
        self.close("else")?;
        match self.nodes()? {
            (nodes, Stop::End(_)) => Ok(nodes),
            (_, Stop::Else(at)) => Err(Fault::new(at, "this else follows another one")),
            (_, Stop::Source) => Err(Fault::new(at, "the control has no end")),
        }
    }

    /// Takes a pipeline with the token that ends it. What it declares is known from then on.
    fn pipeline(&mut self, place: Place) -> Result<Pipeline, Fault> {
        self.skip_space();
        let at = self.here();
        let target = self.target(place)?;
        let commands = self.commands(place)?;
        match &target {
            Target::Declare(names) => self.variables.extend(names.iter().cloned()),
            Target::Assign(name) if !self.variables.contains(name) => {
                return Err(undefined(at, name));
            }
            Target::Assign(_) | Target::Value => {}
        }
        Ok(Pipeline {
            at,
            target,
            commands,
        })
    }

    /// Takes the variables that a pipeline sets, if it sets any.
    fn target(&mut self, place: Place) -> Result<Target, Fault> {
        let start = self.position;
        let Some(Token::Variable(_)) = self.peek() else {
            return Ok(Target::Value);
        };
        let mut names = Vec::new();
        if let (Token::Variable(name), _) = self.next()? {
            names.push(name);
        }
        self.skip_space();
        if self.peek() == Some(&Token::Comma) {
            names.push(self.second(place)?);
        }
        let sets = match self.peek() {
            Some(Token::Declare) => Target::Declare(names),
            Some(Token::Assign) => Target::Assign(names.remove(0)),
            _ => {
                // It is only used.
                self.position = start;
                return Ok(Target::Value);
            }
        };
        let (_, sign) = self.next()?;
        if place == Place::Parentheses {
            let problem = "setting a variable inside parentheses is not supported";
            return Err(Fault::new(sign, problem));
        }
        if place == Place::Range && matches!(sets, Target::Assign(_)) {
            let problem = "a range with = is not supported; use :=";
            return Err(Fault::new(sign, problem));
        }
        Ok(sets)
    }

    /// Takes the second variable of a range, with the comma before it.
    fn second(&mut self, place: Place) -> Result<String, Fault> {
        let (_, comma) = self.next()?;
        self.skip_space();
        let (Place::Range, (Token::Variable(name), _)) = (place, self.next()?) else {
            return Err(Fault::new(comma, "only a range sets two variables"));
        };
        self.skip_space();
        match self.peek() {
            Some(Token::Declare) => Ok(name),
            _ => Err(Fault::new(comma, "two variables need := behind them")),
        }
    }

    /// Takes commands with the token that ends the pipeline.
    fn commands(&mut self, place: Place) -> Result<Vec<Command>, Fault> {
        let mut commands: Vec<Command> = Vec::new();
        loop {
            self.skip_space();
            let at = self.here();
            let (operands, ends) = self.command(place)?;
            let mut operands = operands.into_iter();
            let Some((first, _)) = operands.next() else {
                return Err(Fault::new(at, "a value is missing"));
            };
            let is_constant = matches!(
                first,
                Operand::Dot | Operand::Text(_) | Operand::Integer(_) | Operand::Truth(_)
            );
            if is_constant && !commands.is_empty() {
                let problem = "what follows | must be a function or a method";
                return Err(Fault::new(at, problem));
            }
            commands.push(Command {
                at,
                first,
                arguments: operands.collect(),
            });
            if ends {
                return Ok(commands);
            }
        }
    }

    /// Takes the operands of one command with the token behind them, and says whether that ends the pipeline.
    fn command(&mut self, place: Place) -> Result<(Vec<(Operand, usize)>, bool), Fault> {
        let mut operands = Vec::new();
        loop {
            self.skip_space();
            match self.next()? {
                (Token::Pipe, _) => return Ok((operands, false)),
                (Token::Close, _) if place != Place::Parentheses => return Ok((operands, true)),
                (Token::RightParen, _) if place == Place::Parentheses => {
                    return Ok((operands, true));
                }
                (token, at) => {
                    operands.push((self.operand(token, at)?, at));
                    self.separated()?;
                }
            }
        }
    }

    /// Operands are set apart by space.
    fn separated(&self) -> Result<(), Fault> {
        let at = self.here();
        match self.peek() {
            Some(Token::Space | Token::Close | Token::RightParen | Token::Pipe) => Ok(()),
            _ => Err(Fault::new(at, "space is missing between two operands")),
        }
    }

    fn operand(&mut self, token: Token, at: usize) -> Result<Operand, Fault> {
        let operand = match token {
            Token::Dot => Operand::Dot,
            Token::Quoted(text) => Operand::Text(text),
            Token::Integer(value) => Operand::Integer(value),
            Token::Word(word) => word_operand(&word, at)?,
            Token::Field(name) => {
                let mut path = vec![name];
                path.extend(self.fields()?);
                return Ok(Operand::Field(path));
            }
            Token::Variable(name) => {
                if !self.variables.contains(&name) {
                    return Err(undefined(at, &name));
                }
                return Ok(Operand::Variable(name, self.fields()?));
            }
            Token::LeftParen => {
                let inner = self.deeper(at, |parser| parser.pipeline(Place::Parentheses))?;
                return Ok(Operand::Nested(Box::new(inner), self.fields()?));
            }
            _ => return Err(Fault::new(at, "a value is expected here")),
        };
        match self.peek() {
            Some(Token::Field(_)) => Err(Fault::new(at, "this has no fields")),
            _ => Ok(operand),
        }
    }

    fn fields(&mut self) -> Result<Vec<String>, Fault> {
        let mut path = Vec::new();
        while let Some(Token::Field(_)) = self.peek() {
            if let (Token::Field(name), _) = self.next()? {
                path.push(name);
            }
        }
        Ok(path)
    }
}

fn word_operand(word: &str, at: usize) -> Result<Operand, Fault> {
    match word {
        "true" => Ok(Operand::Truth(true)),
        "false" => Ok(Operand::Truth(false)),
        "nil" => Err(Fault::new(at, "nil is not supported")),
        _ => match Function::named(word) {
            Some(function) => Ok(Operand::Function(function)),
            None => Err(Fault::new(
                at,
                format!(
                    "the function {word} is not supported; there are {}",
                    Function::names()
                ),
            )),
        },
    }
}

fn undefined(at: usize, name: &str) -> Fault {
    Fault::new(at, format!("the variable ${name} is not defined here"))
}
