//! The functions that a template can call.

use std::cmp::Ordering;

use super::format;
use super::value::Value;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    And,
    Or,
    Not,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Len,
    Index,
    Slice,
    Print,
    Printf,
    Println,
}

const ALL: [Function; 15] = [
    Function::And,
    Function::Or,
    Function::Not,
    Function::Eq,
    Function::Ne,
    Function::Lt,
    Function::Le,
    Function::Gt,
    Function::Ge,
    Function::Len,
    Function::Index,
    Function::Slice,
    Function::Print,
    Function::Printf,
    Function::Println,
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|function| function.name() == name)
    }

    /// Lists all of them for a message.
    pub(super) fn names() -> String {
        ALL.map(Self::name).join(", ")
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Not => "not",
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Len => "len",
            Self::Index => "index",
            Self::Slice => "slice",
            Self::Print => "print",
            Self::Printf => "printf",
            Self::Println => "println",
        }
    }
}

/// Calls a function with all of its arguments. The error says what is wrong with them.
pub(super) fn call(function: Function, arguments: &[Value]) -> Result<Value, String> {
    let wants = |what: &str| Err(format!("{} takes {what}", function.name()));
    match (function, arguments) {
        (Function::And | Function::Or, [.., last]) => Ok(last.clone()),
        (Function::And | Function::Or, []) => wants("one value or more"),
        (Function::Not, [value]) => Ok(Value::Truth(!value.is_true())),
        (Function::Not, _) => wants("one value"),
        (Function::Eq, [first, others @ ..]) if !others.is_empty() => equals_any(first, others),
        (Function::Eq, _) => wants("two values or more"),
        (Function::Ne, [one, other]) => same(one, other).map(|same| Value::Truth(!same)),
        (Function::Lt, [one, other]) => ordered(one, other, Ordering::is_lt),
        (Function::Le, [one, other]) => ordered(one, other, Ordering::is_le),
        (Function::Gt, [one, other]) => ordered(one, other, Ordering::is_gt),
        (Function::Ge, [one, other]) => ordered(one, other, Ordering::is_ge),
        (Function::Ne | Function::Lt | Function::Le | Function::Gt | Function::Ge, _) => {
            wants("two values")
        }
        (Function::Len, [value]) => length(value),
        (Function::Len, _) => wants("one value"),
        (Function::Index, [value, keys @ ..]) => keys
            .iter()
            .try_fold(value.clone(), |value, key| index(&value, key)),
        (Function::Index, []) => wants("a list or a map, and what to take from it"),
        (Function::Slice, [value, bounds @ ..]) => slice(value, bounds),
        (Function::Slice, []) => wants("a text or a list, and where to cut it"),
        (Function::Print, values) => format::spaced(values).map(Value::text),
        (Function::Println, values) => format::line(values).map(Value::text),
        (Function::Printf, [Value::Text(template), values @ ..]) => {
            format::formatted(template, values).map(Value::text)
        }
        (Function::Printf, _) => wants("a text with verbs first"),
    }
}

/// Compares until one is equal, as Go does: what stands behind is not looked at.
fn equals_any(first: &Value, others: &[Value]) -> Result<Value, String> {
    for other in others {
        if same(first, other)? {
            return Ok(Value::Truth(true));
        }
    }
    Ok(Value::Truth(false))
}

fn same(one: &Value, other: &Value) -> Result<bool, String> {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => Ok(one == other),
        (Value::Integer(one), Value::Integer(other)) => Ok(one == other),
        (Value::Truth(one), Value::Truth(other)) => Ok(one == other),
        _ => Err(incomparable(one, other)),
    }
}

fn ordered(one: &Value, other: &Value, holds: fn(Ordering) -> bool) -> Result<Value, String> {
    let ordering = match (one, other) {
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        (Value::Integer(one), Value::Integer(other)) => one.cmp(other),
        _ => return Err(incomparable(one, other)),
    };
    Ok(Value::Truth(holds(ordering)))
}

fn incomparable(one: &Value, other: &Value) -> String {
    format!("{} cannot be compared with {}", one.kind(), other.kind())
}

fn length(value: &Value) -> Result<Value, String> {
    let length = match value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.len(),
        Value::Map { entries, .. } => entries.len(),
        other => return Err(format!("{} has no length", other.kind())),
    };
    Ok(Value::Integer(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn index(value: &Value, key: &Value) -> Result<Value, String> {
    match (value, key) {
        (Value::List(items), Value::Integer(at)) => usize::try_from(*at)
            .ok()
            .and_then(|at| items.get(at).cloned())
            .ok_or_else(|| format!("the list has {} entries, and none at {at}", items.len())),
        (Value::Map { entries, missing }, Value::Text(name)) => {
            Ok(entries.get(&**name).unwrap_or(missing).clone())
        }
        _ => Err(format!(
            "index cannot take {} of {}",
            key.kind(),
            value.kind()
        )),
    }
}

fn slice(value: &Value, bounds: &[Value]) -> Result<Value, String> {
    let length = match value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.len(),
        other => return Err(format!("slice cannot cut {}", other.kind())),
    };
    let bound = |at: usize, otherwise: usize| match bounds.get(at) {
        None => Ok(otherwise),
        Some(Value::Integer(bound)) => usize::try_from(*bound)
            .ok()
            .filter(|bound| *bound <= length)
            .ok_or_else(|| format!("slice cannot cut at {bound}: the length is {length}")),
        Some(other) => Err(format!(
            "slice cuts at numbers, and this is {}",
            other.kind()
        )),
    };
    if bounds.len() > 2 {
        return Err("slice with three bounds is not supported".to_owned());
    }
    let (from, to) = (bound(0, 0)?, bound(1, length)?);
    if from > to {
        return Err(format!("slice cannot cut from {from} to {to}"));
    }
    match value {
        Value::Text(text) => text
            .get(from..to)
            .map(Value::text)
            .ok_or_else(|| "slice would cut a character in two".to_owned()),
        Value::List(items) => Ok(Value::List(items[from..to].into())),
        other => Err(format!("slice cannot cut {}", other.kind())),
    }
}
