//! Values as parts of a path that every file system can hold (PL-10, D26).

/// Names that Windows keeps for devices, whatever the extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Names of files that mean something to the folder or to kustomize, so no object's document can have one.
const RESERVED: [&str; 4] = [
    "kustomization.yaml",
    "kustomization.yml",
    ".sops.yaml",
    ".sops.yml",
];

/// The ends of the names of encrypted files.
const SEALED: [&str; 2] = [".sops.yaml", ".sops.yml"];

/// The longest name that common file systems hold, in bytes.
pub(crate) const MAX_BYTES: usize = 255;

/// Escapes what can stand nowhere in a part of a path, as percent and two hex digits. Two values never become
/// the same text.
pub(crate) fn value(value: &str) -> String {
    escape_where(value, |c| c.is_control() || "/\\%<>:\"|?*".contains(c))
}

/// Escapes the characters of a template's own text that Windows cannot hold.
pub(crate) fn literal(text: &str) -> String {
    escape_where(text, |c| "<>:\"|?*".contains(c))
}

/// Finishes the name of a folder: no device and no dot or blank at its end, which Windows drops.
pub(crate) fn folder_name(text: &str) -> String {
    let mut out = without_device(text);
    if let Some(last) = out.chars().last().filter(|c| ". ".contains(*c)) {
        out.pop();
        escape(&mut out, last);
    }
    out
}

/// Finishes the name of a file. A name that the folder would take for something else than a plain (or sealed)
/// document is escaped: an object may well be called `kustomization`, or `x.sops`.
pub(crate) fn file_name(text: &str, sensitive: bool) -> String {
    let out = without_device(text);
    if is_reserved(&out) {
        return escape_first(&out);
    }
    let dot = SEALED
        .iter()
        .filter(|_| !sensitive)
        .find_map(|end| has_end(&out, end).then(|| out.len() - end.len()));
    match dot.map(|at| out.split_at(at)) {
        Some((stem, end)) => format!("{stem}{}", escape_first(end)),
        None => out,
    }
}

/// Says whether the folder gives a file of this name another meaning than that of a document.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED
        .iter()
        .any(|reserved| name.eq_ignore_ascii_case(reserved))
}

/// Says whether a file of this name is expected to be encrypted.
pub(crate) fn is_sealed_name(name: &str) -> bool {
    SEALED.iter().any(|end| has_end(name, end))
}

/// Compares in any letter case, because some file systems do.
fn has_end(name: &str, end: &str) -> bool {
    name.len() >= end.len()
        && name.as_bytes()[name.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

fn without_device(text: &str) -> String {
    let stem = text.split('.').next().unwrap_or_default();
    // Windows also looks past blanks before the extension.
    let stem = stem.trim_end_matches(' ').to_ascii_lowercase();
    if DEVICES.contains(&stem.as_str()) {
        escape_first(text)
    } else {
        text.to_owned()
    }
}

fn escape_first(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let mut chars = text.chars();
    if let Some(first) = chars.next() {
        escape(&mut out, first);
    }
    out.push_str(chars.as_str());
    out
}

fn escape_where(text: &str, illegal: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if illegal(c) {
            escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out
}

fn escape(out: &mut String, c: char) {
    let mut buffer = [0; 4];
    for byte in c.encode_utf8(&mut buffer).bytes() {
        out.push_str(&format!("%{byte:02X}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, sensitive: bool) -> String {
        let suffix = if sensitive { ".sops.yaml" } else { ".yaml" };
        file_name(&format!("{}{suffix}", value(name)), sensitive)
    }

    #[test]
    fn pl_10_d26_a_segment_is_safe_on_every_system() {
        let cases = [
            ("app", "app.yaml"),
            ("system:node", "system%3Anode.yaml"),
            ("a%3Ab", "a%253Ab.yaml"),
            ("con", "%63on.yaml"),
            ("CON.x", "%43ON.x.yaml"),
            ("console", "console.yaml"),
            ("com1", "%63om1.yaml"),
            ("a.", "a..yaml"),
        ];
        for (name, expected) in cases {
            assert_eq!(file(name, false), expected);
        }
        assert_eq!(folder_name("a."), "a%2E");
        assert_eq!(folder_name("nul"), "%6Eul");
        assert_eq!(folder_name(".."), ".%2E");
    }

    #[test]
    fn pl_10_a_name_that_means_something_to_the_folder_is_escaped() {
        for (name, sensitive, expected) in [
            ("kustomization", false, "%6Bustomization.yaml"),
            ("Kustomization", false, "%4Bustomization.yaml"),
            ("kustomization", true, "kustomization.sops.yaml"),
            ("x.sops", false, "x%2Esops.yaml"),
            ("x.sops", true, "x.sops.sops.yaml"),
            ("x%2Esops", false, "x%252Esops.yaml"),
            (".sops", false, "%2Esops.yaml"),
        ] {
            assert_eq!(file(name, sensitive), expected);
        }
    }
}
