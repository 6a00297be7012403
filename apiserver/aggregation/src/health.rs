//! The health answers: a word for a machine, a list for a person.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use url::form_urlencoded;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The name, as in `/readyz/NAME`.
    pub name: &'static str,
    /// Why it does not hold, if it does not.
    pub failure: Option<String>,
}

impl Check {
    /// Returns a check that holds, or fails with the reason.
    pub fn new(name: &'static str, holds: bool, reason: &str) -> Self {
        Self {
            name,
            failure: (!holds).then(|| reason.to_owned()),
        }
    }
}

/// Renders an answer over the checks. `path` is shown to people; `one` asks for a single check;
/// the query may hold `verbose` and `exclude=NAME`.
pub fn render(path: &str, one: Option<&str>, query: &str, checks: &[Check]) -> Response<Bytes> {
    let parameters: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let verbose = parameters.iter().any(|(key, _)| key == "verbose");
    let excluded = |name: &str| {
        parameters
            .iter()
            .any(|(key, value)| key == "exclude" && value == name)
    };
    if let Some(name) = one {
        return match checks.iter().find(|check| check.name == name) {
            None => text(
                StatusCode::NOT_FOUND,
                format!("no check is named {name:?}\n"),
            ),
            Some(Check {
                failure: Some(reason),
                ..
            }) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{reason}\n")),
            Some(_) => text(StatusCode::OK, "ok".to_owned()),
        };
    }
    let mut lines = String::new();
    let mut passed = true;
    for check in checks {
        match &check.failure {
            _ if excluded(check.name) => lines += &format!("[+]{} excluded: ok\n", check.name),
            None => lines += &format!("[+]{} ok\n", check.name),
            Some(reason) => {
                passed = false;
                lines += &format!("[-]{} failed: {reason}\n", check.name);
            }
        }
    }
    let name = path.trim_matches('/');
    match (passed, verbose) {
        (true, false) => text(StatusCode::OK, "ok".to_owned()),
        (true, true) => text(StatusCode::OK, format!("{lines}{name} check passed\n")),
        (false, _) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("{lines}{name} check failed\n"),
        ),
    }
}

fn text(status: StatusCode, body: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_a_word_or_a_list() {
        let checks = [Check::new("a", true, ""), Check::new("b", false, "not yet")];
        let said = |one, query, checks: &[Check]| {
            let response = render("/readyz", one, query, checks);
            let body = String::from_utf8(response.body().to_vec()).unwrap();
            (response.status().as_u16(), body)
        };
        assert_eq!(said(None, "", &checks[..1]), (200, "ok".to_owned()));
        assert_eq!(
            said(None, "verbose", &checks[..1]),
            (200, "[+]a ok\nreadyz check passed\n".to_owned())
        );
        assert_eq!(
            said(None, "", &checks),
            (
                500,
                "[+]a ok\n[-]b failed: not yet\nreadyz check failed\n".to_owned()
            )
        );
        assert_eq!(said(None, "exclude=b", &checks), (200, "ok".to_owned()));
        assert_eq!(said(Some("a"), "", &checks), (200, "ok".to_owned()));
        assert_eq!(said(Some("b"), "", &checks), (500, "not yet\n".to_owned()));
        assert_eq!(said(Some("c"), "", &checks).0, 404);
    }
}
