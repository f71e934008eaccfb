//! Who runs, and which matching server holds which shard.

use std::time::Duration;

use async_trait::async_trait;
use proto::{OwnerId, ShardId};

use crate::Result;

/// What a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind {
    /// It serves the API.
    MainServer,
    /// It holds shards.
    MatchingServer,
}

impl MemberKind {
    /// The kind's name, as in the store and in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MainServer => "main-server",
            Self::MatchingServer => "matching-server",
        }
    }
}

/// A running process as it makes itself known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// This start of the process.
    pub owner: OwnerId,
    /// What it is.
    pub kind: MemberKind,
    /// The most connections to the store that it may open.
    pub connections: u32,
}

impl Member {
    /// How long a process counts as running after it last said so. It says so every second: one lost word is no death, and
    /// a shard is taken over within five seconds of its owner's end.
    pub const LIFE: Duration = Duration::from_secs(3);
    /// How long it is kept after that. Whoever was only paused meanwhile finds the shards that nobody else has taken.
    pub const KEPT_FOR: Duration = Duration::from_secs(120);
}

/// A shard and who holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Which shard.
    pub shard: ShardId,
    /// Who holds it.
    pub owner: OwnerId,
}

/// Who runs and who holds what, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roster {
    /// The matching servers that run, in id order.
    pub matching_servers: Vec<OwnerId>,
    /// The shards that somebody holds whose lease has not run out, in shard order.
    pub leases: Vec<Lease>,
}

/// The running processes and the leases on shards, on the store's clock.
///
/// A lease is for balance, not for safety: two owners for a moment only waste proposals.
#[async_trait]
pub trait Members: Send + Sync + 'static {
    /// Says that a process runs, prolongs the leases it holds that nobody else has taken, also those that had run out, and
    /// answers who else runs and who holds what. Members and leases that are long over are removed.
    async fn renew(&self, member: &Member) -> Result<Roster>;

    /// Takes up to `limit` shards that nobody holds, or whose lease has run out, for [`Member::LIFE`]; answers which.
    async fn take_shards(&self, owner: OwnerId, limit: u16) -> Result<Vec<ShardId>>;

    /// Gives back those of these shards that this owner holds.
    async fn release_shards(&self, owner: OwnerId, shards: &[ShardId]) -> Result<()>;

    /// Says that a process ends: its leases are free at once, and it counts no more.
    async fn leave(&self, owner: OwnerId) -> Result<()>;
}
