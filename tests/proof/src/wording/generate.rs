//! Templates by chance: most of them make sense, and some are broken on purpose.

use crate::dice::Dice;

/// What templates are made of, for those that are put together without sense.
pub const PIECES: [&str; 64] = [
    "{{",
    "}}",
    "{{- ",
    " -}}",
    "{{/*",
    "*/}}",
    " ",
    "\n",
    "\t",
    "text",
    "|",
    "(",
    ")",
    ":=",
    "=",
    ",",
    ".",
    "$",
    "$x",
    "$i",
    ".Author",
    ".Count",
    ".Resources",
    ".Operations",
    ".Labels",
    ".Name",
    ".Kind",
    ".Label",
    ".LabelValues",
    ".LabelValue",
    ".Nothing",
    "if ",
    "else",
    "end",
    "range ",
    "with ",
    "eq ",
    "ne ",
    "lt ",
    "and ",
    "or ",
    "not ",
    "len ",
    "index ",
    "slice ",
    "print ",
    "printf ",
    "println ",
    "\"team\"",
    "\"%s\"",
    "\"%d\"",
    "`raw`",
    "0",
    "1",
    "-2",
    "true",
    "false",
    "nil",
    "html ",
    "break",
    "define ",
    "\"\\n\"",
    "'c'",
    "é",
];

/// What a generator knows of where it is.
#[derive(Clone)]
struct Scope {
    /// What the dot is.
    dot: Kind,
    /// Variables that stand for a resource, a text, or a number.
    variables: Vec<(String, Kind)>,
    depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Commit,
    Resource,
    Text,
    Number,
    Truth,
    List,
    Map,
}

/// Makes the source of a template.
pub fn source(dice: &mut Dice) -> String {
    let mut scope = Scope {
        dot: Kind::Commit,
        variables: Vec::new(),
        depth: 0,
    };
    let mut source = nodes(dice, &mut scope);
    for _ in 0..dice.below(12).saturating_sub(9) {
        break_it(dice, &mut source);
    }
    source
}

/// Puts something where it does not belong, or takes something out.
fn break_it(dice: &mut Dice, source: &mut String) {
    let places: Vec<usize> = source.char_indices().map(|(at, _)| at).collect();
    let Some(at) = dice.pick(&places).copied() else {
        return;
    };
    if dice.once_in(2) {
        source.insert_str(at, dice.one(&PIECES));
    } else {
        source.remove(at);
    }
}

fn nodes(dice: &mut Dice, scope: &mut Scope) -> String {
    let known = scope.variables.len();
    let mut text = String::new();
    for _ in 0..1 + dice.below(3) {
        text.push_str(&node(dice, scope));
    }
    scope.variables.truncate(known);
    text
}

fn node(dice: &mut Dice, scope: &mut Scope) -> String {
    let choice = dice.below(if scope.depth < 3 { 10 } else { 5 });
    match choice {
        0 => dice
            .one(&["chore: ", " x ", "\n\n", "- ", "{ }", "é ", "  ", "}}"])
            .to_owned(),
        1..=3 => {
            let kind = kind(dice);
            let value = value(dice, scope, kind);
            action(dice, &value)
        }
        4 => variable(dice, scope),
        5 => comment(dice),
        6 | 7 => condition(dice, scope),
        _ => range(dice, scope),
    }
}

/// Puts braces around the inside of an action.
fn action(dice: &mut Dice, inside: &str) -> String {
    let open = dice.one(&["{{", "{{", "{{ ", "{{- ", "{{-\n"]);
    let close = dice.one(&["}}", "}}", " }}", " -}}", "\n-}}"]);
    format!("{open}{inside}{close}")
}

fn comment(dice: &mut Dice) -> String {
    if dice.once_in(40) {
        return dice.one(&["{{ /* a */}}", "{{/* a */ }}"]).to_owned();
    }
    dice.one(&["{{/* a }} */}}", "{{- /* a */ -}}", "{{/**/ -}}"])
        .to_owned()
}

fn variable(dice: &mut Dice, scope: &mut Scope) -> String {
    let kind = kind(dice);
    let value = value(dice, scope, kind);
    let name = dice.one(&["$a", "$b", "$c1"]).to_owned();
    let known = scope.variables.iter().any(|(known, _)| *known == name);
    if known && dice.once_in(2) {
        scope.variables.retain(|(known, _)| *known != name);
        scope.variables.push((name.clone(), kind));
        return action(dice, &format!("{name} = {value}"));
    }
    scope.variables.push((name.clone(), kind));
    action(dice, &format!("{name} := {value}"))
}

fn condition(dice: &mut Dice, scope: &mut Scope) -> String {
    let known = scope.variables.len();
    let before = scope.clone();
    let what = kind(dice);
    let mut condition = value(dice, scope, what);
    if dice.once_in(4) {
        condition = format!("$v := {condition}");
        scope.variables.push(("$v".to_owned(), what));
    }
    scope.depth += 1;
    let is_with = dice.once_in(2);
    let keyword = if is_with { "with" } else { "if" };
    let mut text = action(dice, &format!("{keyword} {condition}"));
    if is_with {
        scope.dot = what;
    }
    text.push_str(&nodes(dice, scope));
    scope.dot = before.dot;
    match dice.below(4) {
        0 | 1 => {
            text.push_str(&action(dice, "else"));
            text.push_str(&nodes(dice, scope));
        }
        2 => {
            let other = value(dice, scope, Kind::Truth);
            text.push_str(&action(dice, &format!("else {keyword} {other}")));
            if is_with {
                scope.dot = Kind::Truth;
            }
            text.push_str(&nodes(dice, scope));
            scope.dot = before.dot;
        }
        _ => {}
    }
    scope.depth -= 1;
    scope.variables.truncate(known);
    text + &action(dice, "end")
}

fn range(dice: &mut Dice, scope: &mut Scope) -> String {
    let known = scope.variables.len();
    let dot = scope.dot;
    let (over, item, key) = match dice.below(4) {
        0 => (value(dice, scope, Kind::Map), Kind::Text, Kind::Text),
        1 => (value(dice, scope, Kind::List), Kind::Text, Kind::Number),
        _ => ("$.Resources".to_owned(), Kind::Resource, Kind::Number),
    };
    let head = match dice.below(3) {
        0 => format!("range {over}"),
        1 => {
            scope.variables.push(("$e".to_owned(), item));
            format!("range $e := {over}")
        }
        _ => {
            scope.variables.push(("$i".to_owned(), key));
            scope.variables.push(("$e".to_owned(), item));
            format!("range $i, $e := {over}")
        }
    };
    scope.depth += 1;
    scope.dot = item;
    let mut text = action(dice, &head) + &nodes(dice, scope);
    scope.dot = dot;
    scope.variables.truncate(known);
    if dice.once_in(3) {
        text.push_str(&action(dice, "else"));
        text.push_str(&nodes(dice, scope));
    }
    scope.depth -= 1;
    text + &action(dice, "end")
}

fn kind(dice: &mut Dice) -> Kind {
    dice.one(&[
        Kind::Text,
        Kind::Text,
        Kind::Number,
        Kind::Truth,
        Kind::List,
        Kind::Map,
    ])
}

/// Makes an operand: what can stand as an argument.
fn operand(dice: &mut Dice, scope: &Scope, kind: Kind) -> String {
    let value = value(dice, scope, kind);
    if value.contains([' ', '|']) && !value.starts_with(['"', '`']) {
        format!("({value})")
    } else {
        value
    }
}

/// Makes a pipeline of about the wanted kind.
fn value(dice: &mut Dice, scope: &Scope, wanted: Kind) -> String {
    let wanted = if dice.once_in(80) { kind(dice) } else { wanted };
    let mut deeper = scope.clone();
    deeper.depth += 1;
    if scope.depth > 4 {
        return leaf(dice, scope, wanted);
    }
    let scope = &deeper;
    match wanted {
        Kind::Text | Kind::Commit | Kind::Resource => text(dice, scope),
        Kind::Number => match dice.below(4) {
            0 => format!("len {}", operand(dice, scope, Kind::List)),
            1 => format!("{} | len", operand(dice, scope, Kind::Text)),
            2 => format!("index {} \"CREATE\"", operand(dice, scope, Kind::Map)),
            _ => leaf(dice, scope, wanted),
        },
        Kind::Truth => {
            let (a, b, c, d) = (
                operand(dice, scope, Kind::Number),
                operand(dice, scope, Kind::Number),
                operand(dice, scope, Kind::Text),
                operand(dice, scope, Kind::Text),
            );
            let (p, q) = (
                operand(dice, scope, Kind::Truth),
                operand(dice, scope, Kind::List),
            );
            match dice.below(8) {
                0 => format!("eq {a} {b}"),
                1 => format!("ne {c} {d}"),
                2 => format!("lt {a} {b}"),
                3 => format!("{a} | le {b}"),
                4 => format!("and {p} {q}"),
                5 => format!("or {c} {p}"),
                6 => format!("not {q}"),
                _ => format!("gt {c} {d} | or false"),
            }
        }
        Kind::List => match dice.below(3) {
            0 => {
                let list = operand(dice, scope, Kind::List);
                format!("slice {list} {}", dice.below(10) / 8)
            }
            1 => "$.LabelValues \"team\"".to_owned(),
            _ => leaf(dice, scope, wanted),
        },
        Kind::Map => leaf(dice, scope, wanted),
    }
}

fn text(dice: &mut Dice, scope: &Scope) -> String {
    match dice.below(9) {
        0 => format!(
            "printf {} {}",
            dice.one(&[
                "\"%s\"",
                "\"[%-6s]\"",
                "\"%8s|\"",
                "\"%.2s\"",
                "\"%q\"",
                "\"%v%%\"",
                "\"%x\""
            ]),
            operand(dice, scope, Kind::Text)
        ),
        1 => format!(
            "printf {} {} {}",
            dice.one(&[
                "\"%d %s\"",
                "\"%03d-%v\"",
                "\"%+d%s\"",
                "\"%-4d%q\"",
                "\"%5v %s\"",
                "`%s %d`"
            ]),
            operand(dice, scope, Kind::Number),
            operand(dice, scope, Kind::Text)
        ),
        2 => {
            let kinds = [kind(dice), kind(dice)];
            let [one, other] = kinds.map(|kind| operand(dice, scope, kind));
            format!("{} {one} {other}", dice.one(&["print", "println"]))
        }
        3 => format!(
            "slice {} {}",
            operand(dice, scope, Kind::Text),
            dice.one(&["0", "0 0", "0 1", "1"])
        ),
        4 => "$.LabelValue \"team\"".to_owned(),
        5 => format!("index {} \"team\"", operand(dice, scope, Kind::Map)),
        6 => format!(
            "(index $.Resources 0).{}",
            dice.one(&[
                "Name",
                "Name",
                "Namespace",
                "Kind",
                "Label \"team\"",
                "Labels.team",
                "String",
                "Nothing"
            ])
        ),
        7 => format!(
            "\"team\" | $.LabelValue | print {}",
            operand(dice, scope, Kind::Number)
        ),
        _ => leaf(dice, scope, Kind::Text),
    }
}

fn leaf(dice: &mut Dice, scope: &Scope, wanted: Kind) -> String {
    let known: Vec<&(String, Kind)> = scope
        .variables
        .iter()
        .filter(|(_, kind)| *kind == wanted)
        .collect();
    if let Some((name, _)) = dice.pick(&known).filter(|_| dice.clone().once_in(2)) {
        return name.clone();
    }
    if scope.dot == wanted && dice.once_in(3) {
        return ".".to_owned();
    }
    let root = if scope.dot == Kind::Commit {
        dice.one(&["", "$"])
    } else {
        "$"
    };
    let resource = scope
        .variables
        .iter()
        .filter(|(_, kind)| *kind == Kind::Resource)
        .map(|(name, _)| name.as_str())
        .next_back()
        .or((scope.dot == Kind::Resource).then_some(""));
    match (wanted, resource) {
        (Kind::Text, Some(resource)) if dice.once_in(2) => format!(
            "{resource}.{}",
            dice.one(&[
                "Name",
                "Namespace",
                "Operation",
                "APIVersion",
                "Kind",
                "Group"
            ])
        ),
        (Kind::Number, Some(resource)) if dice.once_in(2) => format!("{resource}.Generation"),
        (Kind::Map, Some(resource)) if dice.once_in(2) => format!("{resource}.Labels"),
        (Kind::Text | Kind::Commit | Kind::Resource, _) => dice
            .one(&[
                &format!("{root}.Author"),
                &format!("{root}.GitTarget"),
                &format!("{root}.RequestMessage"),
                "\"a b\"",
                "`raw \"text\"`",
                "\"tab\\tand \\\"quote\\u00e9\\\\\"",
                "\"\"",
            ])
            .to_owned(),
        (Kind::Number, _) => dice
            .one(&[&format!("{root}.Count"), "0", "1", "2", "-3", "12"])
            .to_owned(),
        (Kind::Truth, _) => dice.one(&["true", "false"]).to_owned(),
        (Kind::List, _) => format!("{root}.Resources"),
        (Kind::Map, _) => format!("{root}.Operations"),
    }
}
