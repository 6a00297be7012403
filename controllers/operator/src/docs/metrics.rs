//! The page about metrics.

use board::metrics::{MAX_SERIES, OVERFLOW_LABEL, RegisterError};

use super::cell;
use crate::metrics::Metrics;

/// Prints every registered family.
///
/// # Errors
/// Returns the family that cannot be registered.
pub fn metrics() -> Result<String, RegisterError> {
    let rows = Metrics::describe()?;
    let mut page = format!(
        "# Metrics

Printed by `gitops-reverser docs metrics` from the families that the program registers.

`/metrics` is served on `--metrics-bind-address` in the Prometheus text format, and `/build-info` beside it.
A family holds at most {MAX_SERIES} series; everything beyond is counted in one series with the label
`{OVERFLOW_LABEL}=\"true\"`, so a wrong label cannot exhaust the memory. Names of mirrored objects are never
labels. Gauges about a loop are read at the moment of the scrape, and a time that something has lasted is
`time()` minus a timestamp.

| Family | Type | Labels | Meaning | When to act |
| --- | --- | --- | --- | --- |
"
    );
    for row in rows {
        let labels: Vec<_> = row
            .labels
            .iter()
            .map(|label| format!("`{label}`"))
            .collect();
        page.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            row.name,
            row.kind,
            labels.join(", "),
            cell(row.meaning),
            cell(row.act)
        ));
    }
    Ok(page)
}
