//! Requests and their answers, without a network.

use aggregation::answer::{Documents, Request, VersionInfo, answer, check, rejection};
use aggregation::authorize::ResourceAttributes;
use aggregation::route::Route;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response};
use serde_json::{Value, json};

use crate::widgets::{group, now};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn send(method: &Method, target: &str, sent: &[(&str, &str)]) -> Response<Bytes> {
    let group = group();
    let version = VersionInfo {
        version: "1.2.3".to_owned(),
        source_revision: "abc".to_owned(),
    };
    let documents = Documents::new(&group, &version);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let route = Route::parse(&group, path);
    let mut headers = HeaderMap::new();
    for (name, value) in sent {
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    let request = Request {
        method,
        query,
        headers: &headers,
    };
    check(&group, &route, request)
        .and_then(|options| answer(&group, &documents, &route, request, &options, now()))
        .unwrap_or_else(|status| rejection(&status, false))
}

fn get(target: &str, accept: &str) -> (u16, Value) {
    let response = send(&Method::GET, target, &[("accept", accept)]);
    (
        response.status().as_u16(),
        serde_json::from_slice(response.body()).unwrap_or_default(),
    )
}

fn names(list: &Value) -> Vec<String> {
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    list["items"].as_array().unwrap().iter().map(name).collect()
}

const WIDGETS: &str = "/apis/example.test/v1/widgets";
const RED: &str = "/apis/example.test/v1/namespaces/red/widgets";

#[test]
fn an_object_is_complete() {
    let (code, object) = get(&format!("{RED}/a"), "application/json");
    assert_eq!(code, 200);
    assert_eq!(
        object,
        json!({
            "apiVersion": "example.test/v1",
            "kind": "Widget",
            "metadata": {
                "name": "a", "namespace": "red", "uid": "uid-red-a", "generation": 2,
                "creationTimestamp": "2026-03-01T09:55:00Z",
                "labels": {"team": "red"},
                "resourceVersion": object["metadata"]["resourceVersion"],
            },
            "spec": {"size": 3},
            "status": {"phase": "Resting"},
        })
    );
    let version: u64 = object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(version > 0);
}

#[test]
fn lists_select_and_keep_their_order() {
    for (target, expected) in [
        (WIDGETS.to_owned(), &["b", "a", "b"][..]),
        (RED.to_owned(), &["a", "b"]),
        (
            "/apis/example.test/v1/namespaces/none/widgets".to_owned(),
            &[],
        ),
        (format!("{WIDGETS}?limit=1"), &["b", "a", "b"]),
        (format!("{WIDGETS}?labelSelector=team%3Dblue"), &["b"]),
        (
            format!("{WIDGETS}?labelSelector=team%20notin%20(blue)"),
            &["a", "b"],
        ),
        (
            format!("{WIDGETS}?fieldSelector=metadata.name%3Db"),
            &["b", "b"],
        ),
        (
            format!("{WIDGETS}?fieldSelector=metadata.namespace!%3Dred"),
            &["b"],
        ),
        (
            format!("{WIDGETS}?fieldSelector=status.phase%3DTurning"),
            &["b", "b"],
        ),
        (
            format!("{RED}?fieldSelector=status.phase%3DTurning&labelSelector=team"),
            &["b"],
        ),
    ] {
        let (code, list) = get(&target, "application/json");
        assert_eq!(code, 200, "{target}");
        assert_eq!(names(&list), expected, "{target}");
        assert_eq!(list["kind"], "WidgetList");
        assert_eq!(list["apiVersion"], "example.test/v1");
        assert!(list["metadata"].get("continue").is_none());
        for item in list["items"].as_array().unwrap() {
            assert_eq!(
                (&item["kind"], &item["apiVersion"]),
                (&json!("Widget"), &json!("example.test/v1"))
            );
        }
    }
}

#[test]
fn versions_are_honoured() {
    let (_, list) = get(WIDGETS, "application/json");
    let current: u64 = list["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let code = |query: String| get(&format!("{WIDGETS}?{query}"), "application/json");
    assert_eq!(code("resourceVersion=0".to_owned()).0, 200);
    assert_eq!(code(format!("resourceVersion={current}")).0, 200);
    assert_eq!(code("resourceVersion=1".to_owned()).0, 200);
    assert_eq!(
        code(format!(
            "resourceVersion={current}&resourceVersionMatch=Exact"
        ))
        .0,
        200
    );
    let (gone, status) = code("resourceVersion=1&resourceVersionMatch=Exact".to_owned());
    assert_eq!((gone, &status["reason"]), (410, &json!("Expired")));
    let (late, status) = code(format!("resourceVersion={}", current + 1_000_000));
    assert_eq!(late, 504);
    assert_eq!(
        status["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
    assert_eq!(status["details"]["retryAfterSeconds"], 1);
}

#[test]
fn tables_carry_what_kubectl_needs() {
    let (code, table) = get(RED, TABLE);
    assert_eq!(code, 200);
    assert_eq!(
        (&table["kind"], &table["apiVersion"]),
        (&json!("Table"), &json!("meta.k8s.io/v1"))
    );
    let columns: Vec<(&str, i64)> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| {
            (
                column["name"].as_str().unwrap(),
                column["priority"].as_i64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        columns,
        [("Name", 0), ("Size", 0), ("Phase", 1), ("Age", 0)]
    );
    assert_eq!(table["columnDefinitions"][0]["format"], "name");
    assert_eq!(
        table["rows"][0]["cells"],
        json!(["a", 3, "Resting", "125m"])
    );
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(table["rows"][0]["object"]["metadata"]["namespace"], "red");

    let (_, bare) = get(&format!("{RED}?includeObject=None"), TABLE);
    assert!(bare["rows"][0].get("object").is_none());
    let (_, full) = get(&format!("{RED}?includeObject=Object"), TABLE);
    assert_eq!(full["rows"][0]["object"]["spec"]["size"], 3);
    let (_, one) = get(&format!("{RED}/a"), TABLE);
    assert_eq!(one["rows"].as_array().unwrap().len(), 1);
    let (_, old) = get(RED, "application/json;as=Table;v=v1beta1;g=meta.k8s.io");
    assert_eq!(old["apiVersion"], "meta.k8s.io/v1beta1");
}

#[test]
fn metadata_alone_is_served() {
    let (_, list) = get(
        RED,
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    );
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
    assert!(list["items"][0].get("spec").is_none());
    let (code, one) = get(
        &format!("{RED}/a"),
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    );
    assert_eq!((code, &one["kind"]), (200, &json!("PartialObjectMetadata")));
}

#[test]
fn refusals_have_code_reason_and_sentence() {
    let not_found = "the server could not find the requested resource";
    for (target, accept, code, reason, message) in [
        (
            format!("{RED}/zz"),
            TABLE,
            404,
            "NotFound",
            "widgets.example.test \"zz\" not found",
        ),
        (
            "/apis/example.test/v1/nosuch".to_owned(),
            "*/*",
            404,
            "NotFound",
            not_found,
        ),
        (
            "/apis/example.test/v9".to_owned(),
            "*/*",
            404,
            "NotFound",
            not_found,
        ),
        (
            "/apis/example.test/v1/namespaces/x/racks".to_owned(),
            "*/*",
            404,
            "NotFound",
            not_found,
        ),
        (format!("{WIDGETS}/a"), "*/*", 404, "NotFound", not_found),
        (format!("{RED}/a/status"), "*/*", 404, "NotFound", not_found),
        ("/api".to_owned(), "*/*", 404, "NotFound", not_found),
        (
            format!("{WIDGETS}?fieldSelector=spec.size%3D3"),
            "*/*",
            400,
            "BadRequest",
            "field label not supported: spec.size",
        ),
        (
            format!("{WIDGETS}?watch=true"),
            "*/*",
            405,
            "MethodNotAllowed",
            "watch is not supported on resources of kind \"widgets.example.test\"",
        ),
        (
            "/apis/example.test/v1/racks/main".to_owned(),
            "*/*",
            405,
            "MethodNotAllowed",
            "get is not supported on resources of kind \"racks.example.test\"",
        ),
        (
            RED.to_owned(),
            "application/vnd.kubernetes.protobuf",
            406,
            "NotAcceptable",
            "only the following media types are accepted: application/json",
        ),
    ] {
        let (got, status) = get(&target, accept);
        assert_eq!(
            (got, status["reason"].as_str(), status["message"].as_str()),
            (code, Some(reason), Some(message)),
            "{target}"
        );
        assert_eq!(
            (&status["kind"], &status["status"]),
            (&json!("Status"), &json!("Failure"))
        );
        assert_eq!(status["code"], code);
    }
    let (_, status) = get(&format!("{RED}/zz"), "*/*");
    let details = json!({"name": "zz", "group": "example.test", "kind": "widgets"});
    assert_eq!(status["details"], details);
}

#[test]
fn writes_are_not_allowed() {
    for method in [
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ] {
        for target in [WIDGETS.to_owned(), RED.to_owned(), format!("{RED}/a")] {
            let response = send(&method, &target, &[]);
            assert_eq!(response.status(), 405, "{method} {target}");
            assert_eq!(response.headers()["allow"], "GET");
        }
        assert_eq!(send(&method, "/apis", &[]).status(), 405);
    }
    assert_eq!(
        send(&Method::HEAD, "/apis/example.test/v1", &[]).status(),
        200
    );
}

#[test]
fn discovery_comes_in_both_forms_and_is_tagged() {
    let response = send(&Method::GET, "/apis", &[("accept", AGGREGATED)]);
    assert_eq!(response.headers()["content-type"], AGGREGATED);
    let tag = response.headers()["etag"].to_str().unwrap().to_owned();
    let again = send(
        &Method::GET,
        "/apis",
        &[("accept", AGGREGATED), ("if-none-match", &tag)],
    );
    assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
    let (_, plain) = get("/apis", "application/json");
    assert_eq!(plain["kind"], "APIGroupList");
    let beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    assert_eq!(get("/apis", beta).0, 406);
    assert_eq!(
        get("/apis/example.test", "*/*").1["preferredVersion"]["version"],
        "v1"
    );
    assert_eq!(
        get("/apis/example.test/v1", "*/*").1["kind"],
        "APIResourceList"
    );
    assert_eq!(get("/version", "*/*").1["gitVersion"], "v1.2.3");
}

#[test]
fn openapi_addresses_hold_the_hash() {
    let (_, index) = get("/openapi/v3", "application/json");
    let url = index["paths"]["apis/example.test/v1"]["serverRelativeURL"]
        .as_str()
        .unwrap();
    let response = send(&Method::GET, url, &[]);
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["cache-control"], "public, immutable");
    assert!(response.headers().contains_key("expires"));
    let hash = url.split_once("hash=").unwrap().1;
    assert_eq!(response.headers()["etag"], format!("\"{hash}\""));

    let (path, _) = url.split_once('?').unwrap();
    let moved = send(&Method::GET, &format!("{path}?hash=OLD"), &[]);
    assert_eq!(
        (moved.status().as_u16(), &moved.headers()["location"]),
        (301, &HeaderValue::from_str(url).unwrap())
    );
    let plain = send(&Method::GET, path, &[]);
    assert_eq!(plain.headers()["cache-control"], "no-cache, private");

    let version_2 = send(&Method::GET, "/openapi/v2", &[]);
    let tag = version_2.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(
        send(&Method::GET, "/openapi/v2", &[("if-none-match", &tag)]).status(),
        304
    );
    assert_eq!(
        get(
            "/openapi/v2",
            "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
        )
        .0,
        406
    );
}

#[test]
fn warnings_reach_the_reader_and_people_get_indented_text() {
    let response = send(
        &Method::GET,
        "/apis/example.test/v1/racks",
        &[("user-agent", "curl/8")],
    );
    assert_eq!(response.headers()["warning"], "299 - \"racks are 'old'\"");
    assert!(response.body().starts_with(b"{\n  "));
    let machine = send(&Method::GET, "/apis/example.test/v1/racks", &[]);
    assert!(!machine.body().starts_with(b"{\n"));
    let asked = send(&Method::GET, "/apis/example.test/v1/racks?pretty=true", &[]);
    assert!(asked.body().starts_with(b"{\n"));
}

#[test]
fn a_list_by_name_is_judged_as_one_object() {
    let group = group();
    for (path, query, expected) in [
        (RED, "", ("list", Some("red"), None)),
        (
            RED,
            "fieldSelector=metadata.name%3Da",
            ("list", Some("red"), Some("a")),
        ),
        (
            WIDGETS,
            "fieldSelector=metadata.name!%3Da",
            ("list", None, None),
        ),
        (
            "/apis/example.test/v1/namespaces/red/widgets/a",
            "",
            ("get", Some("red"), Some("a")),
        ),
    ] {
        let route = Route::parse(&group, path);
        let headers = HeaderMap::new();
        let request = Request {
            method: &Method::GET,
            query,
            headers: &headers,
        };
        let options = check(&group, &route, request).unwrap();
        let attributes = ResourceAttributes::of_read(&group, &route, &options).unwrap();
        assert_eq!(
            (
                attributes.verb,
                attributes.namespace.as_deref(),
                attributes.name.as_deref()
            ),
            expected,
            "{path}?{query}"
        );
        assert_eq!(
            (attributes.resource.as_str(), attributes.version.as_str()),
            ("widgets", "v1")
        );
    }
}
