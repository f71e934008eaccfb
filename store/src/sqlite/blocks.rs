//! Blocking. One connection writes, so no settlement is in flight while a block is written.

use proto::{PoolTicket, UserId};

use super::rows::{pool_ticket_from, pool_view};
use super::{SqliteStore, duration_to_db, now_ms};
use crate::Result;

/// `?1` the blocker, `?2` the blocked.
const INSERT_BLOCK: &str = concat!(
    "INSERT INTO blocks (blocker, blocked, created_at) VALUES (?1, ?2, ",
    now_ms!(),
    ") ON CONFLICT DO NOTHING"
);

const DELETE_BLOCK: &str = "DELETE FROM blocks WHERE blocker = ?1 AND blocked = ?2";

/// `?1` the user, `?2` the rematch time.
const POOL_TICKET_OF_USER: &str = concat!(pool_view!(), "WHERE state = 'waiting' AND user = ?1");

impl SqliteStore {
    pub(super) async fn insert_block(&self, user: &UserId, blocked: &UserId) -> Result<Option<PoolTicket>> {
        let mut transaction = self.begin().await?;
        sqlx::query(INSERT_BLOCK)
            .bind(user.as_str())
            .bind(blocked.as_str())
            .execute(&mut *transaction)
            .await?;
        let row = sqlx::query(POOL_TICKET_OF_USER)
            .bind(user.as_str())
            .bind(duration_to_db(self.rules.no_rematch_for))
            .fetch_optional(&mut *transaction)
            .await?;
        let pool = row.as_ref().map(pool_ticket_from).transpose()?;
        transaction.commit().await?;
        Ok(pool)
    }

    pub(super) async fn delete_block(&self, user: &UserId, blocked: &UserId) -> Result<()> {
        sqlx::query(DELETE_BLOCK).bind(user.as_str()).bind(blocked.as_str()).execute(&self.writer).await?;
        Ok(())
    }
}
