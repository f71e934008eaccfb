//! Counts and times every request by its route, never by anything a caller chooses.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;

pub(crate) async fn record_request(request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = known_method(request.method().as_str());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = metrics::SharedString::from(
        route.map_or_else(|| "none".to_owned(), |route| route.as_str().to_owned()),
    );
    let status = metrics::SharedString::from(response.status().as_str().to_owned());
    metrics::counter!(
        "dovetail_http_requests_total",
        "method" => method, "route" => route.clone(), "status" => status.clone()
    )
    .increment(1);
    metrics::histogram!(
        "dovetail_http_request_duration_seconds",
        "method" => method, "route" => route, "status" => status
    )
    .record(start.elapsed());
    response
}

/// A caller may send any word as a method; a metric has few.
fn known_method(method: &str) -> &'static str {
    ["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"]
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}
