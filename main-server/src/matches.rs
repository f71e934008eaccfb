//! `GET /v1/matches` and `GET /v1/matches/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use proto::{Match, MatchPage, ProblemType, Timestamp};
use store::MatchCursor;

use crate::Api;
use crate::auth::Caller;
use crate::problem::Refusal;
use crate::query::{Parameters, whole_number};

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 100;

pub(crate) async fn list_matches(
    State(api): State<Arc<Api>>,
    Caller(user): Caller,
    query: Parameters,
) -> Result<Json<MatchPage>, Refusal> {
    let limit = limit(query.one("limit")?)?;
    let before = query.one("cursor")?.map(parse_cursor).transpose()?;
    // One more than asked for tells whether there is a next page.
    let mut items = api.store.matches(&user, before, limit + 1).await?;
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let next_cursor = items.last().filter(|_| more).map(|last| write_cursor(MatchCursor::from(last)));
    Ok(Json(MatchPage { items, next_cursor }))
}

pub(crate) async fn read_match(
    State(api): State<Arc<Api>>,
    Caller(user): Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Match>, Refusal> {
    let not_found = || Refusal::new(ProblemType::NotFound, "You have no match with this id.");
    let Path(text) = path.map_err(|_| not_found())?;
    let id = text.parse().map_err(|_| not_found())?;
    api.store.match_by_id(&user, id).await?.map(Json).ok_or_else(not_found)
}

fn limit(text: Option<&str>) -> Result<u32, Refusal> {
    let Some(text) = text else { return Ok(DEFAULT_LIMIT) };
    match whole_number(text).and_then(|limit| u32::try_from(limit).ok()) {
        Some(limit @ 1..=MAX_LIMIT) => Ok(limit),
        _ => Err(Refusal::invalid("limit", format!("must be a whole number from 1 to {MAX_LIMIT}"))),
    }
}

/// Callers hand a cursor back as it is; what is inside may change.
fn write_cursor(cursor: MatchCursor) -> String {
    format!("{}_{}", cursor.made_at.as_millis(), cursor.id)
}

fn parse_cursor(text: &str) -> Result<MatchCursor, Refusal> {
    let wrong = || Refusal::invalid("cursor", "must be the next_cursor of an earlier page");
    let (millis, id) = text.split_once('_').ok_or_else(wrong)?;
    Ok(MatchCursor {
        made_at: Timestamp::from_millis(whole_number(millis).ok_or_else(wrong)?),
        id: id.parse().map_err(|_| wrong())?,
    })
}
