//! `GET` and `DELETE /v1/tickets/{id}`, `GET /v1/tickets/current`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use proto::{Problem, ProblemType, Ticket, TicketId};
use store::Cancelled;

use crate::Api;
use crate::auth::Caller;
use crate::problem::Refusal;
use crate::query::{Parameters, whole_number};

/// The longest wait, in seconds: proxies cut at 60.
const MAX_WAIT_SECONDS: u64 = 50;

pub(crate) async fn read_ticket(
    State(api): State<Arc<Api>>,
    Caller(user): Caller,
    path: Result<Path<String>, PathRejection>,
    query: Parameters,
) -> Result<Json<Ticket>, Refusal> {
    let id = ticket_id(path)?;
    let wait = wait_time(&query)?;
    if wait.is_zero() {
        return Ok(Json(api.waiters.read(id, &user).await?));
    }
    let (ticket, mut changes) = api.waiters.follow(id, &user).await?;
    if ticket.state.is_final() {
        return Ok(Json(ticket));
    }
    tokio::select! {
        settled = changes.settled() => Ok(Json(settled)),
        () = tokio::time::sleep(wait) => Ok(Json(ticket)),
        () = api.closing.cancelled() => Ok(Json(ticket)),
    }
}

pub(crate) async fn current_ticket(
    State(api): State<Arc<Api>>,
    Caller(user): Caller,
) -> Result<Json<Ticket>, Refusal> {
    match api.store.current_ticket(&user).await? {
        Some(ticket) => Ok(Json(ticket)),
        None => Err(Refusal::new(
            ProblemType::NotFound,
            "You have no waiting ticket, and none that settled within the last 10 minutes.",
        )),
    }
}

pub(crate) async fn cancel_ticket(
    State(api): State<Arc<Api>>,
    Caller(user): Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Ticket>, Refusal> {
    let id = ticket_id(path)?;
    match api.store.cancel(&user, id).await? {
        Cancelled::Now(ticket) => {
            metrics::counter!("dovetail_tickets_settled_total", "outcome" => "cancelled").increment(1);
            let rules = api.store.rules();
            let wide = rules.wide_shard_of(&ticket.region).map(|(shard, _)| shard);
            for shard in [rules.shard_of(&ticket.region)].into_iter().chain(wide) {
                api.hints.withdraw(shard, id, ticket.expires_at);
            }
            api.tell_settled(id);
            Ok(Json(ticket))
        }
        Cancelled::Before(ticket) => Ok(Json(ticket)),
        Cancelled::TooLate(ticket) => {
            api.tell_settled(id);
            let problem = Problem::new(
                ProblemType::AlreadySettled,
                format!("The ticket was {} before it could be cancelled.", ticket.state.as_str()),
            );
            Err(Refusal(problem.with_ticket(ticket)))
        }
        Cancelled::Unknown => Err(Refusal::no_ticket()),
    }
}

/// The id in the path. A malformed one names nothing, so it is not found.
pub(crate) fn ticket_id(path: Result<Path<String>, PathRejection>) -> Result<TicketId, Refusal> {
    let Path(text) = path.map_err(|_| Refusal::no_ticket())?;
    text.parse().map_err(|_| Refusal::no_ticket())
}

fn wait_time(query: &Parameters) -> Result<Duration, Refusal> {
    match query.one("wait")?.map(whole_number) {
        None => Ok(Duration::ZERO),
        Some(Some(seconds @ 0..=MAX_WAIT_SECONDS)) => Ok(Duration::from_secs(seconds)),
        Some(_) => Err(Refusal::invalid(
            "wait",
            format!("must be a whole number of seconds from 0 to {MAX_WAIT_SECONDS}"),
        )),
    }
}
