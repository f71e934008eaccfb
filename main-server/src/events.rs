//! `GET /v1/tickets/{id}/events`: the ticket as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt};
use proto::Ticket;

use crate::Api;
use crate::auth::Caller;
use crate::problem::Refusal;
use crate::tickets::ticket_id;

/// How often a comment is sent while nothing happens, so that proxies keep the stream.
const COMMENT_EVERY: Duration = Duration::from_secs(15);

/// First the ticket as it is, then, if it waits, as it settled; then the stream ends. It also ends, with a comment,
/// when this server stops serving: the phone connects again and reads what it missed.
pub(crate) async fn ticket_events(
    State(api): State<Arc<Api>>,
    Caller(user): Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let id = ticket_id(path)?;
    let (now, mut changes) = api.waiters.follow(id, &user).await?;
    let waits = !now.state.is_final();
    let first = event(&now);
    let rest = stream::once(async move {
        tokio::select! {
            settled = changes.settled() => event(&settled),
            () = api.closing.cancelled() => Event::default().comment("closing"),
        }
    });
    let events = stream::once(async { first }).chain(rest.take(usize::from(waits))).map(Ok::<_, Infallible>);
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(COMMENT_EVERY).text("waiting")).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

fn event(ticket: &Ticket) -> Event {
    let event = Event::default().event("ticket");
    event.json_data(ticket).unwrap_or_else(|_| Event::default().comment("the ticket cannot be shown"))
}
