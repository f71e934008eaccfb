//! Members and leases on the database's clock.
//!
//! Each statement is its own transaction and waits for nobody who waits: shards are taken with SKIP LOCKED.

use async_trait::async_trait;
use proto::{OwnerId, ShardId};
use sqlx::Row;
use uuid::Uuid;

use super::{PostgresStore, bounded, with_clock};
use crate::parse::{self, duration_to_db};
use crate::{Lease, Member, MemberKind, Members, Result, Roster};

/// `$1` the owner, `$2` the kind, `$3` the connections, `$4` its life.
pub(super) const RENEW: &str = concat!(
    with_clock!(),
    ", renewed AS (UPDATE shard_leases SET expires_at = (SELECT now FROM clock) + $4 WHERE owner = $1) \
     INSERT INTO members (owner, kind, connections, expires_at) SELECT $1, $2, $3, now + $4 FROM clock \
     ON CONFLICT (owner) DO UPDATE \
     SET kind = excluded.kind, connections = excluded.connections, expires_at = excluded.expires_at"
);

/// `$1` how long ago their lives ended.
pub(super) const FORGET: &str = concat!(
    with_clock!(),
    ", gone AS MATERIALIZED ( \
       SELECT owner FROM members WHERE expires_at <= (SELECT now FROM clock) - $1 FOR UPDATE SKIP LOCKED \
     ), deleted AS (DELETE FROM members m USING gone WHERE m.owner = gone.owner), \
     over AS MATERIALIZED ( \
       SELECT shard FROM shard_leases WHERE owner IS NOT NULL AND expires_at <= (SELECT now FROM clock) - $1 \
       FOR UPDATE SKIP LOCKED \
     ) \
     UPDATE shard_leases l SET owner = NULL FROM over WHERE l.shard = over.shard"
);

/// `$1` the kind whose members are named. Members have no shard; they come first, by owner; then leases, by shard.
pub(super) const ROSTER: &str = concat!(
    with_clock!(),
    " SELECT owner, NULL::int AS shard FROM members \
      WHERE kind = $1 AND expires_at > (SELECT now FROM clock) \
      UNION ALL \
      SELECT owner, shard FROM shard_leases \
      WHERE owner IS NOT NULL AND expires_at > (SELECT now FROM clock) \
      ORDER BY shard NULLS FIRST, owner"
);

/// `$1` the owner, `$2` the life of a lease, `$3` how many.
pub(super) const TAKE_SHARDS: &str = concat!(
    with_clock!(),
    ", free AS MATERIALIZED ( \
       SELECT shard FROM shard_leases WHERE owner IS NULL OR expires_at <= (SELECT now FROM clock) \
       ORDER BY shard LIMIT $3 FOR UPDATE SKIP LOCKED \
     ) \
     UPDATE shard_leases l SET owner = $1, expires_at = (SELECT now FROM clock) + $2 \
     FROM free WHERE l.shard = free.shard RETURNING l.shard"
);

/// `$1` the owner, `$2` shards.
pub(super) const RELEASE_SHARDS: &str =
    "UPDATE shard_leases SET owner = NULL WHERE owner = $1 AND shard = ANY($2::int[])";

/// `$1` the owner.
pub(super) const LEAVE: &str = "WITH released AS (UPDATE shard_leases SET owner = NULL WHERE owner = $1) \
     DELETE FROM members WHERE owner = $1";

fn uuid(owner: OwnerId) -> Uuid {
    Uuid::from_u128(owner.as_u128())
}

impl PostgresStore {
    async fn renew_member(&self, member: &Member) -> Result<Roster> {
        let mut connection = self.acquire().await?;
        sqlx::query(RENEW)
            .bind(uuid(member.owner))
            .bind(member.kind.as_str())
            .bind(i32::try_from(member.connections).unwrap_or(i32::MAX))
            .bind(duration_to_db(Member::LIFE))
            .execute(&mut *connection)
            .await?;
        sqlx::query(FORGET).bind(duration_to_db(Member::KEPT_FOR)).execute(&mut *connection).await?;
        let rows =
            sqlx::query(ROSTER).bind(MemberKind::MatchingServer.as_str()).fetch_all(&mut *connection).await?;
        let mut roster = Roster::default();
        for row in &rows {
            let owner = OwnerId::from_u128(row.try_get::<Uuid, _>(0)?.as_u128());
            match row.try_get(1)? {
                None => roster.matching_servers.push(owner),
                Some(shard) => roster.leases.push(Lease { shard: parse::shard(shard)?, owner }),
            }
        }
        Ok(roster)
    }

    async fn take_free_shards(&self, owner: OwnerId, limit: u16) -> Result<Vec<ShardId>> {
        let rows = sqlx::query(TAKE_SHARDS)
            .bind(uuid(owner))
            .bind(duration_to_db(Member::LIFE))
            .bind(i64::from(limit))
            .fetch_all(&mut *self.acquire().await?)
            .await?;
        let mut taken =
            rows.iter().map(|row| parse::shard(row.try_get(0)?)).collect::<Result<Vec<ShardId>>>()?;
        taken.sort_unstable();
        Ok(taken)
    }

    async fn release_leases(&self, owner: OwnerId, shards: &[ShardId]) -> Result<()> {
        let shards: Vec<i32> = shards.iter().map(|shard| shard.0.into()).collect();
        sqlx::query(RELEASE_SHARDS)
            .bind(uuid(owner))
            .bind(shards)
            .execute(&mut *self.acquire().await?)
            .await?;
        Ok(())
    }

    async fn delete_member(&self, owner: OwnerId) -> Result<()> {
        sqlx::query(LEAVE).bind(uuid(owner)).execute(&mut *self.acquire().await?).await?;
        Ok(())
    }
}

#[async_trait]
impl Members for PostgresStore {
    async fn renew(&self, member: &Member) -> Result<Roster> {
        bounded("renew", self.renew_member(member)).await
    }

    async fn take_shards(&self, owner: OwnerId, limit: u16) -> Result<Vec<ShardId>> {
        bounded("take_shards", self.take_free_shards(owner, limit)).await
    }

    async fn release_shards(&self, owner: OwnerId, shards: &[ShardId]) -> Result<()> {
        bounded("release_shards", self.release_leases(owner, shards)).await
    }

    async fn leave(&self, owner: OwnerId) -> Result<()> {
        bounded("leave", self.delete_member(owner)).await
    }
}
