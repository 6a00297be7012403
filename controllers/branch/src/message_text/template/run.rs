//! Executes a tree on a value.

use super::Fault;
use super::format;
use super::functions::{self, Function};
use super::tree::{Branch, Command, Control, Node, Operand, Pipeline, Target};
use super::value::Value;

/// How many pieces one run may execute.
const MOST_STEPS: usize = 1_000_000;
/// How many bytes one run may print.
const MOST_OUTPUT: usize = 64 << 10;
/// How many bytes of text one run may give to functions; a text that is made of others is as long as they are.
const MOST_TEXT: usize = 16 << 20;

/// Executes nodes and returns what they print.
pub(super) fn run(nodes: &[Node], root: Value) -> Result<String, Fault> {
    let mut run = Run {
        output: String::new(),
        variables: vec![("", root.clone())],
        steps: 0,
        text: 0,
    };
    run.nodes(nodes, &root)?;
    Ok(run.output)
}

struct Run<'a> {
    output: String,
    /// The newest last; one of the same name hides an older one.
    variables: Vec<(&'a str, Value)>,
    steps: usize,
    /// The bytes of text that functions were given.
    text: usize,
}

impl<'a> Run<'a> {
    fn step(&mut self, at: usize) -> Result<(), Fault> {
        self.steps(1, at)
    }

    fn steps(&mut self, count: usize, at: usize) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > MOST_STEPS {
            let problem = format!("the template takes more than {MOST_STEPS} steps");
            return Err(Fault::new(at, problem));
        }
        Ok(())
    }

    fn print(&mut self, text: &str, at: usize) -> Result<(), Fault> {
        if self.output.len().saturating_add(text.len()) > MOST_OUTPUT {
            let problem = format!("the message is longer than {MOST_OUTPUT} bytes");
            return Err(Fault::new(at, problem));
        }
        self.output.push_str(text);
        Ok(())
    }

    /// Counts what a function is given, before it makes a text of it.
    fn give(&mut self, values: &[Value], at: usize) -> Result<(), Fault> {
        for value in values {
            self.text = self.text.saturating_add(value.text_bytes());
        }
        if self.text > MOST_TEXT {
            let problem = format!("the template works on more than {MOST_TEXT} bytes of text");
            return Err(Fault::new(at, problem));
        }
        Ok(())
    }

    fn nodes(&mut self, nodes: &'a [Node], dot: &Value) -> Result<(), Fault> {
        let known = self.variables.len();
        for node in nodes {
            match node {
                Node::Text(text) => self.print(text, 0)?,
                Node::Action(pipeline) => {
                    let value = self.pipeline(pipeline, dot)?;
                    if pipeline.target == Target::Value {
                        let text = format::plain(&value)
                            .map_err(|problem| Fault::new(pipeline.at, problem))?;
                        self.print(&text, pipeline.at)?;
                    }
                }
                Node::Control(control, branch) => self.control(*control, branch, dot)?,
            }
        }
        self.variables.truncate(known);
        Ok(())
    }

    fn control(&mut self, control: Control, branch: &'a Branch, dot: &Value) -> Result<(), Fault> {
        let known = self.variables.len();
        let value = self.pipeline(&branch.pipeline, dot)?;
        match control {
            Control::Range => self.range(branch, &value, dot)?,
            Control::If if value.is_true() => self.nodes(&branch.then, dot)?,
            Control::With if value.is_true() => self.nodes(&branch.then, &value)?,
            Control::If | Control::With => self.nodes(&branch.otherwise, dot)?,
        }
        self.variables.truncate(known);
        Ok(())
    }

    fn range(&mut self, branch: &'a Branch, value: &Value, dot: &Value) -> Result<(), Fault> {
        let at = branch.pipeline.at;
        let names = match &branch.pipeline.target {
            Target::Declare(names) => names.as_slice(),
            Target::Value | Target::Assign(_) => &[],
        };
        let rounds: Vec<(Value, Value)> = match value {
            Value::List(items) => (0_i64..)
                .map(Value::Integer)
                .zip(items.iter().cloned())
                .collect(),
            Value::Map { entries, .. } => entries
                .iter()
                .map(|(name, value)| (Value::text(name), value.clone()))
                .collect(),
            other => {
                let problem = format!(
                    "range goes over a list or a map, and this is {}",
                    other.kind()
                );
                return Err(Fault::new(at, problem));
            }
        };
        if rounds.is_empty() {
            // The variables hold the whole value here, as in Go.
            return self.nodes(&branch.otherwise, dot);
        }
        for (key, item) in rounds {
            self.step(at)?;
            let known = self.variables.len();
            match names {
                [] => {}
                [one] => self.variables.push((one, item.clone())),
                [first, second, ..] => {
                    self.variables.push((first, key));
                    self.variables.push((second, item.clone()));
                }
            }
            self.nodes(&branch.then, &item)?;
            self.variables.truncate(known);
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline, dot: &Value) -> Result<Value, Fault> {
        let mut last = None;
        for command in &pipeline.commands {
            last = Some(self.command(command, dot, last)?);
        }
        let value = last.ok_or_else(|| Fault::new(pipeline.at, "a value is missing"))?;
        match &pipeline.target {
            Target::Value => {}
            Target::Declare(names) => {
                let new = names.iter().map(|name| (name.as_str(), value.clone()));
                self.variables.extend(new);
            }
            Target::Assign(name) => {
                let known = self.variables.iter_mut().rev();
                match known.into_iter().find(|(known, _)| known == name) {
                    Some((_, slot)) => *slot = value.clone(),
                    None => return Err(Fault::new(pipeline.at, "the variable is not defined")),
                }
            }
        }
        Ok(value)
    }

    /// Executes one command; `last` is the value of the one before it.
    fn command(
        &mut self,
        command: &'a Command,
        dot: &Value,
        last: Option<Value>,
    ) -> Result<Value, Fault> {
        self.step(command.at)?;
        let (at, arguments) = (command.at, command.arguments.as_slice());
        match &command.first {
            Operand::Function(function) => self.function(*function, at, arguments, dot, last),
            Operand::Field(path) => self.path(dot.clone(), path, at, (arguments, dot), last),
            Operand::Variable(name, path) if !path.is_empty() => {
                let root = self.variable(name, at)?;
                self.path(root, path, at, (arguments, dot), last)
            }
            Operand::Nested(pipeline, path) if !path.is_empty() => {
                let root = self.pipeline(pipeline, dot)?;
                self.path(root, path, at, (arguments, dot), last)
            }
            first if arguments.is_empty() && last.is_none() => self.operand(first, at, dot),
            _ => Err(Fault::new(at, "this takes no arguments")),
        }
    }

    /// Returns the value of an operand that is given nothing.
    fn operand(&mut self, operand: &'a Operand, at: usize, dot: &Value) -> Result<Value, Fault> {
        self.step(at)?;
        match operand {
            Operand::Dot => Ok(dot.clone()),
            Operand::Text(text) => Ok(Value::text(text)),
            Operand::Integer(value) => Ok(Value::Integer(*value)),
            Operand::Truth(value) => Ok(Value::Truth(*value)),
            Operand::Function(function) => self.function(*function, at, &[], dot, None),
            Operand::Field(path) => self.path(dot.clone(), path, at, (&[], dot), None),
            Operand::Variable(name, path) => {
                let root = self.variable(name, at)?;
                self.path(root, path, at, (&[], dot), None)
            }
            Operand::Nested(pipeline, path) => {
                let root = self.pipeline(pipeline, dot)?;
                self.path(root, path, at, (&[], dot), None)
            }
        }
    }

    fn variable(&self, name: &str, at: usize) -> Result<Value, Fault> {
        let known = self.variables.iter().rev();
        let found = known.into_iter().find(|(known, _)| *known == name);
        found
            .map(|(_, value)| value.clone())
            .ok_or_else(|| Fault::new(at, format!("the variable ${name} is not defined here")))
    }

    /// Follows names from a value. The last one is given the arguments.
    fn path(
        &mut self,
        root: Value,
        path: &'a [String],
        at: usize,
        (arguments, dot): (&'a [(Operand, usize)], &Value),
        last: Option<Value>,
    ) -> Result<Value, Fault> {
        let Some((name, before)) = path.split_last() else {
            return Ok(root);
        };
        let mut value = root;
        for name in before {
            value = field(&value, name, &[]).map_err(|problem| Fault::new(at, problem))?;
            self.steps(value.entries(), at)?;
        }
        let given = self.arguments(arguments, dot, last)?;
        self.give(&given, at)?;
        let value = field(&value, name, &given).map_err(|problem| Fault::new(at, problem))?;
        self.steps(value.entries(), at)?;
        Ok(value)
    }

    fn arguments(
        &mut self,
        arguments: &'a [(Operand, usize)],
        dot: &Value,
        last: Option<Value>,
    ) -> Result<Vec<Value>, Fault> {
        let mut values = Vec::with_capacity(arguments.len() + 1);
        for (operand, at) in arguments {
            values.push(self.operand(operand, *at, dot)?);
        }
        values.extend(last);
        Ok(values)
    }

    fn function(
        &mut self,
        function: Function,
        at: usize,
        arguments: &'a [(Operand, usize)],
        dot: &Value,
        last: Option<Value>,
    ) -> Result<Value, Fault> {
        if !matches!(function, Function::And | Function::Or) {
            let values = self.arguments(arguments, dot, last)?;
            self.give(&values, at)?;
            return functions::call(function, &values).map_err(|problem| Fault::new(at, problem));
        }
        // These two look at no more arguments than they need.
        let mut result = None;
        for (operand, at) in arguments {
            let value = self.operand(operand, *at, dot)?;
            if value.is_true() == (function == Function::Or) {
                return Ok(value);
            }
            result = Some(value);
        }
        let problem = || Fault::new(at, format!("{} needs a value", function.name()));
        last.or(result).ok_or_else(problem)
    }
}

/// Takes a field of a value, or calls its method.
fn field(value: &Value, name: &str, arguments: &[Value]) -> Result<Value, String> {
    match value {
        Value::Object(object) if object.has_method(name) => match arguments {
            [Value::Text(text)] => object
                .call(name, text)
                .ok_or_else(|| format!("{} has no method {name}", object.kind())),
            _ => Err(format!("{name} takes one text, such as {name} \"team\"")),
        },
        Value::Object(object) => match (object.field(name), arguments) {
            (Some(field), []) => Ok(field),
            (Some(_), _) => Err(format!("{name} is a field and takes no arguments")),
            (None, _) => Err(format!("{} has no field {name}", object.kind())),
        },
        Value::Map { entries, .. } => match (entries.get(name), arguments) {
            (Some(entry), []) => Ok(entry.clone()),
            (_, [_, ..]) => Err(format!(
                "{name} is an entry of a map and takes no arguments"
            )),
            (None, []) => Err(format!(
                "the map has no entry {name}; use index, which gives an empty value then"
            )),
        },
        other => Err(format!("{} has no field {name}", other.kind())),
    }
}
