//! What `/healthz`, `/livez` and `/readyz` answer, on whichever port they are asked.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use http_body_util::Full;

use super::readiness::{Check, Readiness};

/// Answers a probe, or returns `None` for a path that is none.
///
/// `?verbose` lists the checks, `?exclude=CHECK` leaves one out, and `/readyz/CHECK` asks for one alone.
pub fn answer(
    path: &str,
    query: Option<&str>,
    readiness: &Readiness,
) -> Option<Response<Full<Bytes>>> {
    let (door, rest) = match path.strip_prefix('/')?.split_once('/') {
        Some((door, check)) => (door, Some(check)),
        None => (path.strip_prefix('/')?, None),
    };
    match (door, rest) {
        ("healthz" | "livez", None) => Some(respond(StatusCode::OK, "ok")),
        ("readyz", None) => Some(ready(&asked_for(query), is_verbose(query), readiness)),
        ("readyz", Some(name)) => {
            let check = Check::ALL.into_iter().find(|check| check.name() == name)?;
            Some(ready(&[check], false, readiness))
        }
        _ => None,
    }
}

fn asked_for(query: Option<&str>) -> Vec<Check> {
    let left_out: Vec<&str> = pairs(query)
        .filter_map(|(key, value)| (key == "exclude").then_some(value))
        .collect();
    Check::ALL
        .into_iter()
        .filter(|check| !left_out.contains(&check.name()))
        .collect()
}

fn is_verbose(query: Option<&str>) -> bool {
    pairs(query).any(|(key, _)| key == "verbose")
}

fn pairs(query: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    let parts = query.unwrap_or_default().split('&');
    parts.map(|part| part.split_once('=').unwrap_or((part, "")))
}

fn ready(checks: &[Check], verbose: bool, readiness: &Readiness) -> Response<Full<Bytes>> {
    let is_ready = checks.iter().all(|check| readiness.is_met(*check));
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    };
    if is_ready && !verbose {
        return respond(status, "ok");
    }
    let mut text = String::new();
    for check in checks {
        let (mark, word) = if readiness.is_met(*check) {
            ('+', "ok")
        } else {
            ('-', "not yet")
        };
        text.push_str(&format!("[{mark}]{} {word}\n", check.name()));
    }
    text.push_str(if is_ready {
        "readyz check passed\n"
    } else {
        "readyz check failed\n"
    });
    respond(status, text)
}

fn respond(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    async fn get(target: &str, readiness: &Readiness) -> Option<(u16, String)> {
        let (path, query) = target
            .split_once('?')
            .map_or((target, None), |(p, q)| (p, Some(q)));
        let response = answer(path, query, readiness)?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Some((status, String::from_utf8(body.to_vec()).unwrap()))
    }

    #[tokio::test]
    async fn ready_means_that_the_api_can_be_served_and_nothing_else() {
        let readiness = Readiness::waiting_for_api();
        let (status, text) = get("/readyz", &readiness).await.unwrap();
        assert_eq!(status, 500);
        assert!(text.contains("[-]tls-loaded not yet\n"), "{text}");
        assert!(text.contains("[+]not-shutting-down ok\n"), "{text}");
        for check in [
            Check::TlsLoaded,
            Check::AuthConfigLoadedOnce,
            Check::Discovery,
        ] {
            assert_eq!(get("/readyz", &readiness).await.unwrap().0, 500);
            readiness.meet(check);
        }
        assert_eq!(
            get("/readyz", &readiness).await.unwrap(),
            (200, "ok".to_owned())
        );
        readiness.shut_down();
        assert_eq!(get("/readyz", &readiness).await.unwrap().0, 500);
        assert_eq!(
            get("/healthz", &readiness).await.unwrap(),
            (200, "ok".to_owned())
        );
    }

    #[tokio::test]
    async fn checks_can_be_listed_left_out_and_asked_for_alone() {
        let readiness = Readiness::waiting_for_api();
        assert_eq!(
            get("/readyz/not-shutting-down", &readiness)
                .await
                .unwrap()
                .0,
            200
        );
        assert_eq!(get("/readyz/tls-loaded", &readiness).await.unwrap().0, 500);
        assert_eq!(get("/readyz/git", &readiness).await, None);
        let without =
            "/readyz?exclude=tls-loaded&exclude=auth-config-loaded-once&exclude=discovery";
        assert_eq!(get(without, &readiness).await.unwrap().0, 200);
        let (status, text) = get("/readyz?verbose", &Readiness::without_api())
            .await
            .unwrap();
        assert_eq!((status, text.lines().count()), (200, 5), "{text}");
    }

    #[tokio::test]
    async fn other_paths_are_no_probes() {
        for path in ["/", "/metrics", "/healthz/x", "/ready", "healthz"] {
            assert_eq!(get(path, &Readiness::without_api()).await, None, "{path}");
        }
    }
}
