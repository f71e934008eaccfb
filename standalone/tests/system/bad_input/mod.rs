//! Bad input is refused with what is wrong with it, and changes nothing.

mod bodies;
mod headers;
mod interests;
mod paths;

use crate::app::App;
use crate::raw;

/// The closed set of problem types, as it was published.
const PROBLEM_TYPES: [&str; 14] = [
    "invalid-request",
    "unauthorized",
    "forbidden",
    "not-found",
    "ticket-exists",
    "already-settled",
    "key-reused",
    "too-large",
    "rate-limited",
    "pool-full",
    "store-unavailable",
    "outcome-unknown",
    "draining",
    "internal",
];

/// A good body.
const GOOD: &str = r#"{"region":"kr.seoul","interests":["jazz"]}"#;

/// One bad request and how it must be answered.
struct Case {
    name: String,
    line: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    half_close: bool,
    status: u16,
    slug: &'static str,
    /// The parts that `errors` names, in order.
    fields: Vec<String>,
}

impl Case {
    fn new(name: &str, line: &str, status: u16, slug: &'static str, fields: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            line: line.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            half_close: false,
            status,
            slug,
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        }
    }

    /// A press of match that is wrong somewhere.
    fn press(name: &str, status: u16, slug: &'static str, fields: &[&str]) -> Self {
        let case = Self::new(name, "POST /v1/tickets", status, slug, fields);
        case.header("Content-Type", "application/json")
    }

    /// A press of match with this body.
    fn press_body(name: &str, body: impl Into<Vec<u8>>, status: u16, fields: &[&str]) -> Self {
        Self::press(name, status, "invalid-request", fields).body(body)
    }

    fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The body, with its length.
    fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        let length = self.body.len().to_string();
        self.header("Content-Length", length)
    }

    /// Sends it as `user`; answers what is wrong with the answer.
    async fn failure(&self, app: &App, user: &str) -> Option<String> {
        let token = format!("Bearer dev.{user}");
        let mut headers: Vec<(&str, &[u8])> = Vec::new();
        if !self.headers.iter().any(|(name, _)| name.contains("Authorization")) {
            headers.push(("Authorization", token.as_bytes()));
        }
        headers.extend(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())));
        let bytes = raw::request(&self.line, &headers, &self.body);
        let reply = raw::exchange(app.place().api, &bytes, self.half_close).await;
        let problem: serde_json::Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let slug =
            problem["type"].as_str().and_then(|uri| uri.strip_prefix("/problems/")).unwrap_or_default();
        let errors = problem["errors"].as_array().cloned().unwrap_or_default();
        let fields: Vec<_> = errors.iter().map(|error| error["field"].as_str().unwrap_or_default()).collect();
        let messages_say_something =
            errors.iter().all(|error| error["message"].as_str().is_some_and(|text| !text.is_empty()));
        let good = reply.status.as_u16() == self.status
            && problem["status"] == self.status
            && reply.header("content-type") == "application/problem+json"
            && slug == self.slug
            && PROBLEM_TYPES.contains(&slug)
            && fields == self.fields
            && messages_say_something
            && (self.status != 405 || !reply.header("allow").is_empty())
            && (self.status != 401 || reply.header("www-authenticate") == "Bearer");
        let wanted = format!("{} {} {:?}", self.status, self.slug, self.fields);
        (!good).then(|| format!("{}: wanted {wanted}, got {reply:?}", self.name))
    }
}

/// Sends every case as another user, then looks whether anything came of it.
async fn assert_refused(cases: &[Case]) {
    let app = App::start().await;
    let mut failures = Vec::new();
    for (n, case) in cases.iter().enumerate() {
        failures.extend(case.failure(&app, &format!("user-{n}")).await);
    }
    assert!(failures.is_empty(), "{} wrong:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(app.admin("/ready").await.status, 200);
    for n in 0..cases.len() {
        app.user(&format!("user-{n}")).current().await.expect_problem(404, "not-found");
    }
    assert!(app.metric("dovetail_http_requests_total", "status=\"5").await < 0.5, "no 5xx");
    assert!(app.metric("dovetail_tickets_waiting", "").await < 0.5, "nobody waits");
}
