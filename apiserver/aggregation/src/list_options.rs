//! The query of a read: parsing, and the rules that hold between its parameters.

use url::form_urlencoded;

use crate::selector::{FieldSelector, LabelSelector};
use crate::status::{Cause, Status};

/// The parsed and validated query of a get or list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Which labels an object must have.
    pub labels: LabelSelector,
    /// Which fields an object must have.
    pub fields: FieldSelector,
    /// How fresh the answer must be.
    pub freshness: Freshness,
    /// Whether a stream of changes is asked for.
    pub watch: bool,
    /// How much of each object a table row carries.
    pub include_object: IncludeObject,
    /// Whether the answer is indented for people.
    pub pretty: bool,
}

/// How fresh an answer must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Freshness {
    /// Whatever is newest.
    #[default]
    Any,
    /// Not older than this version.
    NotOlderThan(u64),
    /// Exactly this version.
    Exact(u64),
}

/// How much of each object a table row carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// The metadata.
    #[default]
    Metadata,
    /// The whole object.
    Object,
}

impl ListOptions {
    /// Parses a query string. The parameters of a stream are read by [`Self::watch`] only.
    ///
    /// `limit` is checked and not used: a server may always return the whole list, and then hands
    /// out no continue token, so any token presented is a foreign one.
    pub fn parse(query: &str) -> Result<Self, Status> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        let get = |name: &str| {
            pairs
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
                .unwrap_or("")
        };
        let present = |name: &str| pairs.iter().any(|(key, _)| key == name);
        for number in ["limit", "timeoutSeconds"] {
            if !get(number).is_empty() && get(number).parse::<i64>().is_err() {
                return Err(Status::bad_request(format!(
                    "the query parameter {number} has the value {:?}, which is no whole number",
                    get(number)
                )));
            }
        }
        let watch = truth(present("watch"), get("watch"));
        if !watch {
            check_rules(&get, &present)?;
        }
        if !watch && !get("continue").is_empty() {
            return Err(Status::bad_request(
                "continue key is not valid: this server issued none",
            ));
        }
        Ok(Self {
            labels: LabelSelector::parse(get("labelSelector"))
                .map_err(|error| Status::bad_request(error.to_string()))?,
            fields: FieldSelector::parse(get("fieldSelector"))
                .map_err(|error| Status::bad_request(error.to_string()))?,
            freshness: freshness(get("resourceVersion"), get("resourceVersionMatch"))?,
            watch,
            include_object: include_object(get("includeObject"))?,
            pretty: truth(present("pretty"), get("pretty")),
        })
    }
}

/// A parameter without a value counts as set, and anything but `false` and `0` as true.
fn truth(present: bool, value: &str) -> bool {
    present && !(value.eq_ignore_ascii_case("false") || value == "0")
}

fn include_object(text: &str) -> Result<IncludeObject, Status> {
    match text {
        "" | "Metadata" => Ok(IncludeObject::Metadata),
        "None" => Ok(IncludeObject::None),
        "Object" => Ok(IncludeObject::Object),
        other => Err(Status::bad_request(format!(
            "unrecognized includeObject value: {other:?}"
        ))),
    }
}

fn freshness(version: &str, matching: &str) -> Result<Freshness, Status> {
    if version.is_empty() || version == "0" {
        return Ok(Freshness::Any);
    }
    let number = version.parse::<u64>().map_err(|_| {
        Status::bad_request(format!(
            "invalid resource version {version:?}: not a whole number"
        ))
    })?;
    Ok(if matching == "Exact" {
        Freshness::Exact(number)
    } else {
        Freshness::NotOlderThan(number)
    })
}

fn check_rules<'a>(
    get: &impl Fn(&str) -> &'a str,
    present: &impl Fn(&str) -> bool,
) -> Result<(), Status> {
    let (matching, version) = (get("resourceVersionMatch"), get("resourceVersion"));
    let mut causes = Vec::new();
    if !matching.is_empty() {
        let mut refuse = |reason: &'static str, why: &str| {
            causes.push(Cause::new(reason, "resourceVersionMatch", why));
        };
        if version.is_empty() {
            refuse(
                "FieldValueForbidden",
                "resourceVersionMatch needs resourceVersion",
            );
        }
        if !get("continue").is_empty() {
            refuse(
                "FieldValueForbidden",
                "resourceVersionMatch cannot be used with continue",
            );
        }
        if !["Exact", "NotOlderThan"].contains(&matching) {
            refuse(
                "FieldValueNotSupported",
                "supported values: \"Exact\", \"NotOlderThan\"",
            );
        }
        if matching == "Exact" && version == "0" {
            refuse(
                "FieldValueForbidden",
                "resourceVersionMatch Exact needs a version above 0",
            );
        }
    }
    if present("sendInitialEvents") {
        causes.push(Cause::new(
            "FieldValueForbidden",
            "sendInitialEvents",
            "sendInitialEvents cannot be used with a list",
        ));
    }
    if causes.is_empty() {
        Ok(())
    } else {
        Err(Status::invalid_list_options(causes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_real_clients_are_read() {
        let options = ListOptions::parse("limit=500").unwrap();
        assert_eq!(options, ListOptions::default());
        let options = ListOptions::parse(
            "fieldSelector=metadata.name%3Dx&limit=500&resourceVersion=0&includeObject=Object",
        )
        .unwrap();
        assert_eq!(options.fields.required("metadata.name"), Some("x"));
        assert_eq!(options.freshness, Freshness::Any);
        assert_eq!(options.include_object, IncludeObject::Object);
        assert!(
            ListOptions::parse("watch=true&resourceVersion=12")
                .unwrap()
                .watch
        );
        assert!(!ListOptions::parse("watch=0").unwrap().watch);
        let exact = ListOptions::parse("resourceVersion=7&resourceVersionMatch=Exact").unwrap();
        assert_eq!(exact.freshness, Freshness::Exact(7));
    }

    #[test]
    fn bad_queries_are_refused_with_the_right_code() {
        for (query, code) in [
            ("limit=many", 400),
            ("timeoutSeconds=x", 400),
            ("labelSelector=a%20b", 400),
            ("fieldSelector=name", 400),
            ("resourceVersion=abc", 400),
            ("continue=eyJ9", 400),
            ("includeObject=Bogus", 400),
            ("resourceVersionMatch=Exact", 422),
            ("resourceVersion=0&resourceVersionMatch=Exact", 422),
            ("resourceVersion=1&resourceVersionMatch=Roughly", 422),
            (
                "resourceVersion=1&resourceVersionMatch=Exact&continue=x",
                422,
            ),
            ("sendInitialEvents=true", 422),
        ] {
            assert_eq!(
                ListOptions::parse(query).unwrap_err().code(),
                code,
                "{query}"
            );
        }
    }
}
