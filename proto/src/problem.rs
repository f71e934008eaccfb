//! Errors as callers see them: `application/problem+json` (RFC 9457) from a closed set of types.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Ticket;

macro_rules! problem_types {
    ($($variant:ident = $slug:literal, $status:literal, $title:literal, $advice:literal;)*) => {
        /// The closed set of problem types. The wire form is `/problems/<slug>`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(into = "&'static str", try_from = "String")]
        pub enum ProblemType {
            $(#[doc = $title] $variant,)*
        }

        impl ProblemType {
            /// Every type.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The type's URI reference, such as `/problems/not-found`.
            pub const fn uri(self) -> &'static str {
                match self { $(Self::$variant => concat!("/problems/", $slug),)* }
            }

            /// The type's name alone, as in metrics.
            pub const fn slug(self) -> &'static str {
                match self { $(Self::$variant => $slug,)* }
            }

            /// The HTTP status it comes with unless the case calls for a nearer one.
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// What went wrong, in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// What a caller can do about it.
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice,)* }
            }
        }
    };
}

problem_types! {
    InvalidRequest = "invalid-request", 422, "The request is not valid",
        "Mend the parts named in `errors`; sending the same request again fails again.";
    Unauthorized = "unauthorized", 401, "The caller is not known",
        "Send a valid token in the Authorization header.";
    Forbidden = "forbidden", 403, "The caller may not do this",
        "Ask somebody who may.";
    NotFound = "not-found", 404, "There is no such thing here",
        "Check the path. An id of somebody else is not found either.";
    TicketExists = "ticket-exists", 409, "Another ticket of this user is waiting",
        "The waiting ticket is in `ticket`: wait for it, or cancel it before asking for another.";
    AlreadySettled = "already-settled", 409, "The ticket was settled before",
        "The ticket, as it settled, is in `ticket`.";
    KeyReused = "key-reused", 422, "The idempotency key was used for another request",
        "Use a new Idempotency-Key for a new request.";
    TooLarge = "too-large", 413, "The request is too large",
        "Send a smaller request.";
    RateLimited = "rate-limited", 429, "Too many requests",
        "Wait for the time in Retry-After.";
    PoolFull = "pool-full", 503, "Too many people are waiting here",
        "No ticket was made. Wait for the time in Retry-After.";
    StoreUnavailable = "store-unavailable", 503, "The store does not answer",
        "Nothing was changed. Wait for the time in Retry-After, then send the same request again.";
    OutcomeUnknown = "outcome-unknown", 503, "It is not known whether the request took effect",
        "Send the same request again: it is answered with the same ticket.";
    Draining = "draining", 503, "This server is shutting down",
        "Send the same request again: another server answers.";
    Internal = "internal", 500, "Something went wrong here",
        "Trying again may help. The operators can see what happened.";
}

impl From<ProblemType> for &'static str {
    fn from(kind: ProblemType) -> Self {
        kind.uri()
    }
}

impl TryFrom<String> for ProblemType {
    type Error = String;

    fn try_from(uri: String) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|kind| kind.uri() == uri);
        found.ok_or_else(|| format!("{uri} is not a problem type"))
    }
}

/// What is wrong with one part of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// Which part: a member of the body (`region`, `interests[3]`), a query parameter, a path segment or a header.
    pub field: String,
    /// What is wrong with it and what would be right.
    pub message: String,
}

/// A problem document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// The type, shown as its URI reference.
    #[serde(rename = "type")]
    pub kind: ProblemType,
    /// The type's title.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened here and what to do about it.
    pub detail: String,
    /// The parts of the request that are wrong; left out when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// The ticket that stands in the way; left out when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<Box<Ticket>>,
    /// When to try again, sent as the `Retry-After` header.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
}

impl Problem {
    /// A problem of a type, with the type's own status.
    pub fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        Self {
            kind,
            title: kind.title().to_owned(),
            status: kind.status(),
            detail: detail.into(),
            errors: Vec::new(),
            ticket: None,
            retry_after: None,
        }
    }

    /// The same with a nearer status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same, naming a part of the request that is wrong.
    #[must_use]
    pub fn with_error(mut self, field: impl Into<String>, message: impl Into<String>) -> Self {
        self.errors.push(FieldError { field: field.into(), message: message.into() });
        self
    }

    /// The same, showing the ticket that stands in the way.
    #[must_use]
    pub fn with_ticket(mut self, ticket: Ticket) -> Self {
        self.ticket = Some(Box::new(ticket));
        self
    }

    /// The same, saying when to try again.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_distinct_and_shown_as_their_uri() {
        for (n, kind) in ProblemType::ALL.iter().enumerate() {
            assert!(ProblemType::ALL[n + 1..].iter().all(|other| other.uri() != kind.uri()));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.uri());
            assert_eq!(serde_json::from_value::<ProblemType>(kind.uri().into()).unwrap(), *kind);
            assert!((400..600).contains(&kind.status()));
        }
    }

    #[test]
    fn every_type_is_in_the_documents() {
        let page = include_str!("../../docs/problems.md");
        for kind in ProblemType::ALL {
            let row =
                format!("| `{}` | {} | {} | {} |", kind.uri(), kind.status(), kind.title(), kind.advice());
            assert!(page.contains(&row), "docs/problems.md lacks this row:\n{row}");
        }
    }

    #[test]
    fn empty_members_are_left_out() {
        let problem = Problem::new(ProblemType::NotFound, "no ticket has this id");
        assert_eq!(
            serde_json::to_value(&problem).unwrap(),
            serde_json::json!({
                "type": "/problems/not-found", "title": "There is no such thing here", "status": 404,
                "detail": "no ticket has this id"
            })
        );
    }
}
