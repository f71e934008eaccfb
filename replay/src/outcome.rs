//! What the client saw of each request of a trace. The only thing that a report is made from.

use proto::{MatchId, TicketId};

/// What came of one request, as far as its phone knows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seen {
    /// What came of submitting it.
    pub posted: Posted,
    /// From the scheduled moment to the answer that named the ticket, in milliseconds.
    pub accept_ms: Option<f64>,
    /// The final state that the phone saw.
    pub ending: Ending,
    /// From the scheduled moment to seeing that state, in milliseconds.
    pub wait_ms: Option<f64>,
    /// How much later than scheduled the phone sent, in milliseconds: the load generator's own fault.
    pub send_lag_ms: Option<f64>,
    /// How often it sent again because an answer was lost or the server asked for it.
    pub retries: u32,
    /// Answers that no server should give, each as a short kind such as `POST 500`.
    pub errors: Vec<String>,
}

/// What came of submitting a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Posted {
    /// The run ended before.
    #[default]
    NotSent,
    /// Sent, and the run ended before an answer came.
    Unanswered,
    /// It has this ticket: its own, or one that was waiting for its user already.
    Ticket(TicketId),
    /// Honestly refused, with 429 or 503.
    Rejected,
    /// No usable answer came, however often it tried.
    Failed,
}

/// The final state that a phone saw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ending {
    /// None so far.
    #[default]
    Unsettled,
    /// It was told of a match.
    Matched {
        /// Which match.
        match_id: MatchId,
        /// The partner's user id as in the trace; `None` is somebody who is not of this run.
        partner: Option<Box<str>>,
    },
    /// The ticket was withdrawn.
    Cancelled,
    /// The ticket's deadline passed.
    Expired,
}
