//! `POST /v1/tickets`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use proto::{Problem, ProblemType, Ticket, UserId};
use store::{Accepted, NewTicket};

use crate::Api;
use crate::auth::Caller;
use crate::body::{Wish, read_wish};
use crate::problem::Refusal;

/// The longest idempotency key, in characters.
const MAX_KEY: usize = 128;

pub(crate) async fn create_ticket(
    State(api): State<Arc<Api>>,
    Caller(user): Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let answer = answer(&api, user, &headers, body).await;
    let result = match &answer {
        Ok(Answer::Created(_)) => "created",
        Ok(Answer::Existing(_)) => "existing",
        Err(Refusal(problem)) => problem.kind.slug(),
    };
    metrics::counter!("dovetail_tickets_submitted_total", "result" => result).increment(1);
    Ok(match answer? {
        Answer::Created(ticket) => created(&ticket),
        Answer::Existing(ticket) => axum::Json(ticket).into_response(),
    })
}

/// A ticket for the caller.
enum Answer {
    Created(Ticket),
    Existing(Ticket),
}

async fn answer(api: &Api, user: UserId, headers: &HeaderMap, body: Body) -> Result<Answer, Refusal> {
    if api.closing.is_cancelled() {
        return Err(Refusal::draining());
    }
    let key = idempotency_key(headers)?;
    let Wish { region, interests } = tokio::select! {
        biased;
        wish = read_wish(headers, body) => wish?,
        // A body that still arrives does not hold up the stop.
        () = api.closing.cancelled() => return Err(Refusal::draining()),
    };
    let shard = api.store.rules().shard_of(&region);
    let wish = NewTicket { id: service::ids::new_ticket_id(), user, region, interests, key };
    if let Err(full) = api.admission.check(shard)
        && !is_known(api, &wish).await?
    {
        return Err(full);
    }
    match api.acceptor.accept(wish.clone()).await? {
        Accepted::Created { ticket, .. } => Ok(Answer::Created(ticket)),
        Accepted::Waiting(ticket) if same_wish(&ticket, &wish) => Ok(Answer::Existing(ticket)),
        Accepted::Waiting(ticket) => Err(ticket_exists(ticket)),
        Accepted::Keyed(ticket) if same_wish(&ticket, &wish) => Ok(Answer::Existing(ticket)),
        Accepted::Keyed(_) => Err(key_reused()),
    }
}

/// Whether the caller is nobody new: has a waiting ticket, or a key that names one. They are answered as ever.
async fn is_known(api: &Api, wish: &NewTicket) -> Result<bool, Refusal> {
    if let Some(key) = &wish.key
        && api.store.keyed_ticket(&wish.user, key).await?.is_some()
    {
        return Ok(true);
    }
    let current = api.store.current_ticket(&wish.user).await?;
    Ok(current.is_some_and(|ticket| !ticket.state.is_final()))
}

fn same_wish(ticket: &Ticket, wish: &NewTicket) -> bool {
    ticket.region == wish.region && ticket.interests.same_as(&wish.interests)
}

fn created(ticket: &Ticket) -> Response {
    let mut response = (StatusCode::CREATED, axum::Json(ticket)).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/tickets/{}", ticket.id)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

fn ticket_exists(ticket: Ticket) -> Refusal {
    let problem = Problem::new(
        ProblemType::TicketExists,
        "You have a waiting ticket with another region or other interests. Cancel it first, or wait for it.",
    );
    Refusal(problem.with_ticket(ticket))
}

fn key_reused() -> Refusal {
    let problem = Problem::new(ProblemType::KeyReused, "Use a new Idempotency-Key for a new request.");
    Refusal(problem.with_error("Idempotency-Key", "was used with another region or other interests"))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    const NAME: &str = "Idempotency-Key";
    let mut values = headers.get_all(NAME).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Refusal::invalid(NAME, "is there twice"));
    }
    let text = value.to_str().unwrap_or_default();
    let visible = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if text.trim().is_empty() || text.len() > MAX_KEY || !visible {
        return Err(Refusal::invalid(NAME, format!("must be 1 to {MAX_KEY} visible ASCII characters")));
    }
    Ok(Some(text.to_owned()))
}
