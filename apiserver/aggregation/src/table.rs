//! Rows and columns for people.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::list_options::IncludeObject;
use crate::negotiation::MetaVersion;
use crate::reads::{full_object, partial_object};
use crate::resource::{ApiGroup, Definition, Resource};
use crate::snapshot::Versioned;

/// How a table is to be written.
#[derive(Debug, Clone, Copy)]
pub struct TableRequest {
    /// The version of the table itself.
    pub version: MetaVersion,
    /// How much of each object a row carries.
    pub include_object: IncludeObject,
    /// The time that ages are counted to.
    pub now: Timestamp,
}

/// Returns a table of the entries.
pub fn table(
    group: &ApiGroup,
    resource: &dyn Resource,
    entries: &[&Versioned],
    revision: u64,
    request: TableRequest,
) -> Value {
    let rows: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let mut cells = vec![json!(entry.object.key.name)];
            cells.extend(resource.cells(&entry.object, request.now));
            let mut row = Map::from_iter([("cells".to_owned(), json!(cells))]);
            let object = match request.include_object {
                IncludeObject::None => None,
                IncludeObject::Metadata => Some(partial_object(entry, request.version)),
                IncludeObject::Object => Some(full_object(group, resource.definition(), entry)),
            };
            if let Some(object) = object {
                row.insert("object".to_owned(), object);
            }
            Value::Object(row)
        })
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": request.version.api_version(),
        "metadata": {"resourceVersion": revision.to_string()},
        "columnDefinitions": column_definitions(resource.definition()),
        "rows": rows,
    })
}

fn column_definitions(definition: &Definition) -> Vec<Value> {
    let name = json!({
        "name": "Name", "type": "string", "format": "name", "priority": 0,
        "description": "The name of the object.",
    });
    let others = definition.columns.iter().map(|column| {
        json!({
            "name": column.name, "type": column.column_type.as_str(), "format": "",
            "priority": column.priority, "description": column.description,
        })
    });
    std::iter::once(name).chain(others).collect()
}

/// Writes the time since a moment the way `kubectl` does: two units while they matter, then one.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - since.as_second();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let pair = |large: i64, unit: &str, small: i64, small_unit: &str| {
        if small == 0 {
            format!("{large}{unit}")
        } else {
            format!("{large}{unit}{small}{small_unit}")
        }
    };
    match () {
        () if seconds < 0 => "0s".to_owned(),
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => pair(minutes, "m", seconds % 60, "s"),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => pair(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => pair(days, "d", hours % 24, "h"),
        () if days < 730 => format!("{days}d"),
        () if days < 8 * 365 => pair(days / 365, "y", days % 365, "d"),
        () => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_written_as_people_know_them() {
        let now = Timestamp::from_second(2_000_000_000).unwrap();
        for (seconds, text) in [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_100, "3h5m"),
            (8 * 3600, "8h"),
            (47 * 3600, "47h"),
            (48 * 3600, "2d"),
            (51 * 3600, "2d3h"),
            (9 * 86_400, "9d"),
            (800 * 86_400, "2y70d"),
            (3000 * 86_400, "8y"),
        ] {
            let since = Timestamp::from_second(2_000_000_000 - seconds).unwrap();
            assert_eq!(age(since, now), text, "{seconds}");
        }
    }
}
