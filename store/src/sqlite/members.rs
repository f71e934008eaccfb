//! Members and leases. One process has the file, so these say little here; they say it as every store does.

use async_trait::async_trait;
use proto::{OwnerId, ShardId};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{SqliteStore, duration_to_db, now_ms, to_json};
use crate::timing::timed;
use crate::{Lease, Member, MemberKind, Members, Result, Roster};

/// `?1` the owner, `?2` the kind, `?3` the connections, `?4` its life.
const RENEW_MEMBER: &str = concat!(
    "INSERT INTO members (owner, kind, connections, expires_at) VALUES (?1, ?2, ?3, ",
    now_ms!(),
    " + ?4) ON CONFLICT (owner) DO UPDATE \
     SET kind = excluded.kind, connections = excluded.connections, expires_at = excluded.expires_at"
);

/// `?1` the owner, `?2` its life.
const RENEW_LEASES: &str =
    concat!("UPDATE shard_leases SET expires_at = ", now_ms!(), " + ?2 WHERE owner = ?1");

/// `?1` how long ago their lives ended.
const FORGET_MEMBERS: &str = concat!("DELETE FROM members WHERE expires_at <= ", now_ms!(), " - ?1");

/// `?1` how long ago they ran out.
const FORGET_LEASES: &str = concat!(
    "UPDATE shard_leases SET owner = NULL WHERE owner IS NOT NULL AND expires_at <= ",
    now_ms!(),
    " - ?1"
);

/// `?1` the kind.
const MEMBERS: &str =
    concat!("SELECT owner FROM members WHERE kind = ?1 AND expires_at > ", now_ms!(), " ORDER BY owner");

const LEASES: &str = concat!(
    "SELECT shard, owner FROM shard_leases WHERE owner IS NOT NULL AND expires_at > ",
    now_ms!(),
    " ORDER BY shard"
);

/// `?1` the owner, `?2` the life of a lease, `?3` how many.
const TAKE_SHARDS: &str = concat!(
    "UPDATE shard_leases SET owner = ?1, expires_at = ",
    now_ms!(),
    " + ?2 WHERE shard IN (SELECT shard FROM shard_leases WHERE owner IS NULL OR expires_at <= ",
    now_ms!(),
    " ORDER BY shard LIMIT ?3) RETURNING shard"
);

/// `?1` the owner, `?2` shards.
const RELEASE_SHARDS: &str = "UPDATE shard_leases SET owner = NULL \
     WHERE owner = ?1 AND shard IN (SELECT value FROM json_each(?2))";

const RELEASE_ALL: &str = "UPDATE shard_leases SET owner = NULL WHERE owner = ?1";

const DELETE_MEMBER: &str = "DELETE FROM members WHERE owner = ?1";

fn bytes(owner: OwnerId) -> Vec<u8> {
    owner.to_bytes().to_vec()
}

fn owner_at(row: &SqliteRow, column: usize) -> Result<OwnerId> {
    Ok(OwnerId::from_bytes(row.try_get(column)?)?)
}

fn lease_from(row: &SqliteRow) -> Result<Lease> {
    Ok(Lease { shard: ShardId(row.try_get(0)?), owner: owner_at(row, 1)? })
}

impl SqliteStore {
    async fn renew_member(&self, member: &Member) -> Result<Roster> {
        let (life, long_over) = (duration_to_db(Member::LIFE), duration_to_db(Member::KEPT_FOR));
        let mut transaction = self.begin().await?;
        sqlx::query(RENEW_MEMBER)
            .bind(bytes(member.owner))
            .bind(member.kind.as_str())
            .bind(member.connections)
            .bind(life)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(RENEW_LEASES).bind(bytes(member.owner)).bind(life).execute(&mut *transaction).await?;
        sqlx::query(FORGET_MEMBERS).bind(long_over).execute(&mut *transaction).await?;
        sqlx::query(FORGET_LEASES).bind(long_over).execute(&mut *transaction).await?;
        let owners = sqlx::query(MEMBERS)
            .bind(MemberKind::MatchingServer.as_str())
            .fetch_all(&mut *transaction)
            .await?;
        let leases = sqlx::query(LEASES).fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(Roster {
            matching_servers: owners.iter().map(|row| owner_at(row, 0)).collect::<Result<_>>()?,
            leases: leases.iter().map(lease_from).collect::<Result<_>>()?,
        })
    }

    async fn take_free_shards(&self, owner: OwnerId, limit: u16) -> Result<Vec<ShardId>> {
        let rows = sqlx::query(TAKE_SHARDS)
            .bind(bytes(owner))
            .bind(duration_to_db(Member::LIFE))
            .bind(limit)
            .fetch_all(&self.writer)
            .await?;
        let mut taken =
            rows.iter().map(|row| Ok(ShardId(row.try_get(0)?))).collect::<Result<Vec<ShardId>>>()?;
        taken.sort_unstable();
        Ok(taken)
    }

    async fn release_leases(&self, owner: OwnerId, shards: &[ShardId]) -> Result<()> {
        let shards = to_json(&shards)?;
        sqlx::query(RELEASE_SHARDS).bind(bytes(owner)).bind(shards).execute(&self.writer).await?;
        Ok(())
    }

    async fn delete_member(&self, owner: OwnerId) -> Result<()> {
        let mut transaction = self.begin().await?;
        sqlx::query(RELEASE_ALL).bind(bytes(owner)).execute(&mut *transaction).await?;
        sqlx::query(DELETE_MEMBER).bind(bytes(owner)).execute(&mut *transaction).await?;
        Ok(transaction.commit().await?)
    }
}

#[async_trait]
impl Members for SqliteStore {
    async fn renew(&self, member: &Member) -> Result<Roster> {
        timed("renew", self.renew_member(member)).await
    }

    async fn take_shards(&self, owner: OwnerId, limit: u16) -> Result<Vec<ShardId>> {
        timed("take_shards", self.take_free_shards(owner, limit)).await
    }

    async fn release_shards(&self, owner: OwnerId, shards: &[ShardId]) -> Result<()> {
        timed("release_shards", self.release_leases(owner, shards)).await
    }

    async fn leave(&self, owner: OwnerId) -> Result<()> {
        timed("leave", self.delete_member(owner)).await
    }
}
