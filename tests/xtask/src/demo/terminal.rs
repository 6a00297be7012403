//! How the demo talks: short headings, indented lines, and the commands as a person would type them.

use std::time::Duration;

/// Prints the heading of a part.
pub(super) fn heading(text: &str) {
    println!("\n== {text}");
}

/// Prints a line of our own.
pub(super) fn say(text: &str) {
    println!("{}", format!("   {text}").trim_end());
}

/// Prints a line of two columns.
pub(super) fn entry(name: &str, value: &str) {
    println!("   {name:<15} {value}");
}

/// Prints a command, and who types it.
pub(super) fn command(who: &str, text: &str) {
    println!("\n   {who} $ {text}");
}

/// Prints what a program printed.
pub(super) fn quote(text: &str) {
    for line in text.trim_end().lines() {
        println!("{}", format!("   {line}").trim_end());
    }
}

/// Shows a duration in seconds with one decimal.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
