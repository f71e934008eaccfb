//! Blocking: the block is committed, then the settlements in flight are waited for.

use proto::{PoolTicket, UserId};
use sqlx::PgConnection;

use super::rows::{pool_ticket_from, pool_view};
use super::{PostgresStore, with_clock};
use crate::parse::duration_to_db;
use crate::{Result, StoreError};

/// `$1` the blocker, `$2` the blocked.
pub(super) const INSERT_BLOCK: &str = concat!(
    with_clock!(),
    " INSERT INTO blocks (blocker, blocked, created_at) SELECT $1, $2, now FROM clock ON CONFLICT DO NOTHING"
);

/// `$1` both users. A settlement that read its blocks before ours was there holds these locks until it is done; one that
/// locks them later reads ours. The statement is its own transaction: the locks are given back at its end.
pub(super) const WAIT_FOR_SETTLEMENTS: &str =
    "SELECT id FROM tickets WHERE user_id = ANY($1) AND state = 'waiting' ORDER BY id FOR UPDATE";

pub(super) const DELETE_BLOCK: &str = "DELETE FROM blocks WHERE blocker = $1 AND blocked = $2";

/// `$1` the user, `$2` the rematch time.
pub(super) const POOL_TICKET_OF_USER: &str =
    concat!(pool_view!(), "WHERE t.state = 'waiting' AND t.user_id = $1");

impl PostgresStore {
    pub(super) async fn insert_block(&self, user: &UserId, blocked: &UserId) -> Result<Option<PoolTicket>> {
        let mut connection = self.acquire().await?;
        sqlx::query(INSERT_BLOCK)
            .bind(user.as_str())
            .bind(blocked.as_str())
            .execute(&mut *connection)
            .await?;
        self.wait_and_refresh(&mut connection, user, blocked).await.map_err(StoreError::after_commit)
    }

    async fn wait_and_refresh(
        &self,
        connection: &mut PgConnection,
        user: &UserId,
        blocked: &UserId,
    ) -> Result<Option<PoolTicket>> {
        sqlx::query(WAIT_FOR_SETTLEMENTS)
            .bind(vec![user.as_str(), blocked.as_str()])
            .execute(&mut *connection)
            .await?;
        let row = sqlx::query(POOL_TICKET_OF_USER)
            .bind(user.as_str())
            .bind(duration_to_db(self.rules.no_rematch_for))
            .fetch_optional(connection)
            .await?;
        row.as_ref().map(pool_ticket_from).transpose()
    }

    pub(super) async fn delete_block(&self, user: &UserId, blocked: &UserId) -> Result<()> {
        sqlx::query(DELETE_BLOCK)
            .bind(user.as_str())
            .bind(blocked.as_str())
            .execute(&mut *self.acquire().await?)
            .await?;
        Ok(())
    }
}
