//! Paths, queries and methods.

use super::{Case, GOOD, assert_refused};

const ID: &str = "0192f3c1-7b4e-7c3a-9d1e-5f60718293a4";

fn not_found(line: &str) -> Case {
    Case::new(line, line, 404, "not-found", &[])
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let mut cases = Vec::new();
    let ids = [
        ID,
        "1",
        "%00",
        "%zz",
        "%",
        "%ff%fe",
        "..%2f..",
        "null",
        "0192f3c17b4e7c3a9d1e5f60718293a4",
        "Current",
        "%7B%7D",
        "0192f3c1-7b4e-7c3a-9d1e-5f60718293a4%20",
        "{0192f3c1-7b4e-7c3a-9d1e-5f60718293a}",
        "🙂",
    ];
    for id in ids {
        cases.push(not_found(&format!("GET /v1/tickets/{id}")));
        cases.push(not_found(&format!("DELETE /v1/tickets/{id}")));
        cases.push(not_found(&format!("GET /v1/tickets/{id}/events")));
        cases.push(not_found(&format!("GET /v1/matches/{id}")));
        cases.push(not_found(&format!("GET /problems/{id}")));
    }
    let paths = [
        "/",
        "/v1",
        "/v1/",
        "/v1/tickets/",
        "/v1/tickets//",
        "//v1/tickets",
        "/v1/tickets/current/",
        "/V1/tickets/current",
        "/v1/nothing",
        "/v2/tickets",
        "/v1/matches/",
        "/metrics",
        "/ready",
        "/v1/tickets/a/b/c",
        "/v1/../v1/matches",
        "/%2e%2e/etc/passwd",
    ];
    cases.extend(paths.map(|path| not_found(&format!("GET {path}"))));
    cases.push(not_found(&format!("GET /v1/tickets/{ID}/")));
    let mut slash = Case::press("POST with a trailing slash", 404, "not-found", &[]).body(GOOD);
    slash.line = "POST /v1/tickets/".to_owned();
    cases.push(slash);
    assert_refused(&cases).await;
}

#[tokio::test]
async fn bad_waits_are_refused() {
    let waits = [
        "wait=-1",
        "wait=51",
        "wait=99999999999999999999999",
        "wait=abc",
        "wait=",
        "wait",
        "wait=1.5",
        "wait=1s",
        "wait=0x10",
        "wait=1&wait=2",
        "wait=1&wait=1",
        "wait=%31%00",
        "wait=%ff",
        "wait=+5",
        "wait=%2B5",
        "wait=%205",
        "wait=null",
    ];
    let case = |query: &str| {
        let line = format!("GET /v1/tickets/{ID}?{query}");
        Case::new(&line, &line, 422, "invalid-request", &["wait"])
    };
    assert_refused(&waits.map(case)).await;
}

#[tokio::test]
async fn bad_pages_are_refused() {
    let case = |query: &str, field: &str| {
        let line = format!("GET /v1/matches?{query}");
        Case::new(&line, &line, 422, "invalid-request", &[field])
    };
    let limits = [
        "limit=0",
        "limit=-1",
        "limit=101",
        "limit=99999999999999999999",
        "limit=abc",
        "limit=",
        "limit=1.0",
        "limit=1&limit=2",
        "limit=%2B5",
        "limit=%ff",
    ];
    let mut cases: Vec<_> = limits.iter().map(|query| case(query, "limit")).collect();
    let after_all = format!("cursor=99999999999999999999999_{ID}");
    let twice = format!("cursor=1_{ID}&cursor=1_{ID}");
    let cursors = [
        "cursor=",
        "cursor=abc",
        "cursor=1",
        "cursor=_",
        "cursor=1_1",
        "cursor=-1_0192f3c1-7b4e-7c3a-9d1e-5f60718293a4",
        "cursor=1_0192f3c1-7b4e-7c3a-9d1e-5f60718293a4x",
        "cursor=%00",
        "cursor=%27%20OR%201=1",
        &after_all,
        &twice,
    ];
    cases.extend(cursors.iter().map(|query| case(query, "cursor")));
    assert_refused(&cases).await;
}

#[tokio::test]
async fn other_methods_are_refused_with_those_that_are_allowed() {
    let ticket = format!("/v1/tickets/{ID}");
    let (events, a_match) = (format!("{ticket}/events"), format!("/v1/matches/{ID}"));
    let wrong = [
        ("/v1/tickets", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"].as_slice()),
        ("/v1/tickets/current", &["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]),
        (&ticket, &["POST", "PUT", "PATCH", "OPTIONS"]),
        (&events, &["POST", "PUT", "DELETE"]),
        ("/v1/matches", &["POST", "PUT", "DELETE"]),
        (&a_match, &["POST", "PUT", "DELETE"]),
        ("/problems/internal", &["POST", "DELETE"]),
    ];
    let cases: Vec<_> = wrong
        .iter()
        .flat_map(|(path, methods)| methods.iter().map(move |method| format!("{method} {path}")))
        .map(|line| Case::new(&line, &line, 405, "invalid-request", &["method"]))
        .collect();
    assert_refused(&cases).await;
}

#[tokio::test]
async fn every_problem_type_has_a_page() {
    let app = crate::app::App::start().await;
    for slug in super::PROBLEM_TYPES {
        let page = app.user("ana").get(&format!("/problems/{slug}")).await;
        assert_eq!(page.status, 200, "{slug}");
        assert!(page.text().contains("HTTP"), "{slug}: {page:?}");
    }
}
