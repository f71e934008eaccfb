//! Every refusal is a problem document (RFC 9457).

use std::any::Any;
use std::error::Error;
use std::fmt::Write as _;
use std::time::Duration;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use proto::{Problem, ProblemType};
use store::StoreError;

/// A refusal on its way to the caller.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) Problem);

/// When to try again after the store did not answer.
const STORE_RETRY_AFTER: Duration = Duration::from_secs(2);

impl Refusal {
    pub(crate) fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        Self(Problem::new(kind, detail))
    }

    /// A request that is wrong in one part.
    pub(crate) fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self(
            Problem::new(
                ProblemType::InvalidRequest,
                "Mend what is named in `errors`, then send the request again.",
            )
            .with_error(field, message),
        )
    }

    pub(crate) fn no_ticket() -> Self {
        Self::new(ProblemType::NotFound, "You have no ticket with this id.")
    }

    pub(crate) fn store_unavailable() -> Self {
        Self(
            Problem::new(
                ProblemType::StoreUnavailable,
                "Nothing was changed. Try again after the time in Retry-After.",
            )
            .with_retry_after(STORE_RETRY_AFTER),
        )
    }

    pub(crate) fn outcome_unknown() -> Self {
        Self(
            Problem::new(
                ProblemType::OutcomeUnknown,
                "Your ticket may or may not have been made. Send the same request again: you get the same ticket.",
            )
            .with_retry_after(STORE_RETRY_AFTER),
        )
    }

    pub(crate) fn internal() -> Self {
        Self::new(ProblemType::Internal, "This is our fault. The operators can see what happened.")
    }

    pub(crate) fn draining() -> Self {
        Self(
            Problem::new(ProblemType::Draining, "Try again: another server will answer.")
                .with_retry_after(Duration::from_secs(1)),
        )
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        tracing::error!(error = &error as &dyn Error, "the store failed a request");
        if error.is_transient() { Self::store_unavailable() } else { Self::internal() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(problem) = self;
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(after) = problem.retry_after {
            // Whole seconds, rounded up, so that nobody comes too early.
            let seconds = after.as_millis().div_ceil(1_000).max(1);
            if let Ok(value) = HeaderValue::from_str(&seconds.to_string()) {
                headers.insert(header::RETRY_AFTER, value);
            }
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

pub(crate) async fn no_such_route(uri: Uri) -> Refusal {
    let known = "/v1/tickets, /v1/tickets/current, /v1/tickets/{id}, /v1/tickets/{id}/events, /v1/matches, /v1/matches/{id}";
    let mut detail = String::from("There is nothing at this path");
    if uri.path().len() > 1 && uri.path().ends_with('/') {
        detail.push_str("; it must not end in a slash");
    }
    let _ = write!(detail, ". Paths are {known}.");
    Refusal::new(ProblemType::NotFound, detail)
}

pub(crate) async fn no_such_method(method: Method) -> Refusal {
    let mut refusal =
        Refusal::invalid("method", format!("{method} is not allowed here; the Allow header names what is"));
    refusal.0.status = StatusCode::METHOD_NOT_ALLOWED.as_u16();
    refusal
}

#[allow(clippy::needless_pass_by_value, reason = "the shape that the layer calls")]
pub(crate) fn after_panic(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    tracing::error!(message, "a request handler panicked");
    Refusal::internal().into_response()
}

/// What a problem type means: where its URI leads.
pub(crate) async fn describe_problem(slug: Result<Path<String>, PathRejection>) -> Response {
    let slug = slug.map(|Path(slug)| slug).unwrap_or_default();
    match ProblemType::ALL.iter().find(|kind| kind.slug() == slug) {
        Some(kind) => {
            format!("{} (HTTP {})\n\n{}\n", kind.title(), kind.status(), kind.advice()).into_response()
        }
        None => Refusal::new(ProblemType::NotFound, "There is no such problem type.").into_response(),
    }
}
