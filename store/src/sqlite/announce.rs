//! Which matches others are still to be told of.

use std::time::Duration;

use proto::{MatchId, MatchMade, MatchedTicket};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::rows::{moment_at, region_at, ticket_id_at, user_at};
use super::{SqliteStore, duration_to_db, hex, now_ms, to_json};
use crate::{Result, parse};

/// `?1` the least age, `?2` the limit.
const UNANNOUNCED: &str = concat!(
    "SELECT m.id, m.earlier, e.user, m.later, l.user, m.shared, m.similarity, m.region, m.made_at \
     FROM matches m JOIN tickets e ON e.id = m.earlier JOIN tickets l ON l.id = m.later \
     WHERE m.announced_at IS NULL AND m.made_at <= ",
    now_ms!(),
    " - ?1 ORDER BY m.made_at, m.id LIMIT ?2"
);

const NOTE_ANNOUNCED: &str = concat!(
    "UPDATE matches SET announced_at = ",
    now_ms!(),
    " WHERE announced_at IS NULL AND id IN (SELECT unhex(value) FROM json_each(?1))"
);

fn made_from(row: &SqliteRow) -> Result<MatchMade> {
    Ok(MatchMade {
        id: MatchId::from_bytes(row.try_get(0)?)?,
        tickets: [
            MatchedTicket { id: ticket_id_at(row, 1)?, user: user_at(row, 2)? },
            MatchedTicket { id: ticket_id_at(row, 3)?, user: user_at(row, 4)? },
        ],
        shared_interests: parse::shared_interests(row.try_get(5)?)?,
        similarity: row.try_get(6)?,
        region: region_at(row, 7)?,
        made_at: moment_at(row, 8)?,
    })
}

impl SqliteStore {
    pub(super) async fn read_unannounced(&self, age: Duration, limit: u32) -> Result<Vec<MatchMade>> {
        let rows =
            sqlx::query(UNANNOUNCED).bind(duration_to_db(age)).bind(limit).fetch_all(&self.reader).await?;
        rows.iter().map(made_from).collect()
    }

    pub(super) async fn mark_announced(&self, ids: &[MatchId]) -> Result<()> {
        let ids = to_json(&ids.iter().map(|id| hex(id.to_bytes())).collect::<Vec<_>>())?;
        sqlx::query(NOTE_ANNOUNCED).bind(ids).execute(&self.writer).await?;
        Ok(())
    }
}
