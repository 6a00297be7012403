//! Values as parts of a path that every file system can hold (PL-10, D26).

/// Names that Windows keeps for devices, whatever the extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The longest name that common file systems hold, in bytes.
pub(crate) const MAX_BYTES: usize = 255;

/// Writes a value as one part of a path. What a path, Windows or the escaping itself needs is written as
/// percent and two hex digits; two values never become the same part.
pub(crate) fn segment(value: &str, suffix: &str) -> String {
    let mut out = String::with_capacity(value.len() + suffix.len());
    for c in value.chars() {
        if c.is_control() || "/\\%<>:\"|?*".contains(c) {
            escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    let stem = out
        .split('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let first = out.chars().next();
    if let Some(first) = first.filter(|_| DEVICES.contains(&stem.as_str())) {
        let rest = out.split_off(first.len_utf8());
        out.clear();
        escape(&mut out, first);
        out.push_str(&rest);
    }
    // Windows drops a dot or a blank at the end of a name.
    if suffix.is_empty()
        && let Some(last) = out.chars().last().filter(|c| ". ".contains(*c))
    {
        out.pop();
        escape(&mut out, last);
    }
    out.push_str(suffix);
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
        for (value, expected) in cases {
            assert_eq!(segment(value, ".yaml"), expected);
        }
        assert_eq!(segment("a.", ""), "a%2E");
        assert_eq!(segment("nul", ""), "%6Eul");
    }
}
