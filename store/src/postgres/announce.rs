//! Which matches others are still to be told of.

use std::time::Duration;

use proto::{MatchId, MatchMade};
use uuid::Uuid;

use super::rows::made_from;
use super::{PostgresStore, with_clock};
use crate::Result;
use crate::parse::duration_to_db;

/// `$1` the least age, `$2` the limit.
pub(super) const UNANNOUNCED: &str = concat!(
    with_clock!(),
    " SELECT m.id, m.earlier, e.user_id, m.later, l.user_id, m.shared, m.similarity, m.region, m.made_at \
      FROM matches m JOIN tickets e ON e.id = m.earlier JOIN tickets l ON l.id = m.later \
      WHERE m.announced_at IS NULL AND m.made_at <= (SELECT now FROM clock) - $1 \
      ORDER BY m.made_at, m.id LIMIT $2"
);

/// `$1` ids. Locked in id order: several processes may announce the same ones. They are found by id, so what is still to be
/// announced is asked in a way that no index answers.
pub(super) const NOTE_ANNOUNCED: &str = concat!(
    with_clock!(),
    ", told AS MATERIALIZED ( \
       SELECT id FROM matches WHERE id = ANY($1) AND coalesce(announced_at, 0) = 0 ORDER BY id FOR UPDATE \
     ) \
     UPDATE matches m SET announced_at = (SELECT now FROM clock) FROM told WHERE m.id = told.id"
);

impl PostgresStore {
    pub(super) async fn read_unannounced(&self, age: Duration, limit: u32) -> Result<Vec<MatchMade>> {
        let rows = sqlx::query(UNANNOUNCED)
            .bind(duration_to_db(age))
            .bind(i64::from(limit))
            .fetch_all(&mut *self.acquire().await?)
            .await?;
        rows.iter().map(made_from).collect()
    }

    pub(super) async fn mark_announced(&self, ids: &[MatchId]) -> Result<()> {
        let ids: Vec<Uuid> = ids.iter().map(|id| Uuid::from_u128(id.as_u128())).collect();
        sqlx::query(NOTE_ANNOUNCED).bind(ids).execute(&mut *self.acquire().await?).await?;
        Ok(())
    }
}
