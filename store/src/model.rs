//! What goes into the store and what comes out.

use std::time::Duration;

use proto::{
    InterestSet, Match, MatchId, MatchMade, PoolTicket, Region, ShardId, Ticket, TicketId, Timestamp, UserId,
    shard_of,
};

/// What a store decides by. Fixed while it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// How many shards there are. Recorded at first; a store with another count does not open.
    pub shard_count: u16,
    /// How long a ticket may wait.
    pub expire_after: Duration,
    /// How long two people who were matched are not matched again.
    pub no_rematch_for: Duration,
    /// How long after its match an equal wish without an idempotency key counts as the same press of the button: a double
    /// tap may come after the first tap was matched.
    pub same_press_within: Duration,
    /// How a scope comes to be its first label alone; `None` when it never does.
    pub wide: Option<WideRule>,
}

/// How scopes widen down to their first label.
///
/// Two tickets of one shard's regions meet in that shard's engine whatever their scopes. A scope of one label reaches
/// regions of other shards: its ticket joins a second pool then, that of the shard of the label alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WideRule {
    /// How long a scope stays as it is before it widens, and again.
    pub after: Duration,
    /// How many labels it loses each time.
    pub labels: u8,
}

impl Rules {
    /// How long a settled ticket is still its user's current one.
    pub const RESUME_WINDOW: Duration = Duration::from_secs(10 * 60);
    /// How long an idempotency key is kept.
    pub const KEY_LIFE: Duration = Duration::from_secs(24 * 3600);
    /// The most partners that a ticket carries in its avoid list: the latest ones.
    pub const MAX_AVOIDED_PARTNERS: u32 = 100;
    /// The most blocked users that a ticket carries in its avoid list: the latest ones. The store refuses the others, too,
    /// when it settles.
    pub const MAX_AVOIDED_BLOCKS: u32 = 1_000;

    /// The shard of a region.
    pub fn shard_of(&self, region: &Region) -> ShardId {
        shard_of(region, self.shard_count)
    }

    /// The second shard of a ticket of this region and how long after its creation it joins that one's pool. `None` when
    /// its scope never becomes its first label alone, is so from the start, or both shards are the same.
    pub fn wide_shard_of(&self, region: &Region) -> Option<(ShardId, Duration)> {
        let wide = self.wide?;
        let labels = region.as_str().split('.').count();
        let steps = u32::try_from((labels - 1).div_ceil(usize::from(wide.labels.max(1)))).ok()?;
        let (delay, first): (_, Region) = (wide.after.checked_mul(steps)?, region.prefix(1).parse().ok()?);
        let shard = self.shard_of(&first);
        (steps > 0 && delay < self.expire_after && shard != self.shard_of(region)).then_some((shard, delay))
    }
}

/// A ticket to be committed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTicket {
    /// The id it gets if it is new.
    pub id: TicketId,
    /// Whose it is.
    pub user: UserId,
    /// Where its user is.
    pub region: Region,
    /// What its user likes.
    pub interests: InterestSet,
    /// The caller's idempotency key.
    pub key: Option<String>,
}

/// How a new ticket was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Accepted {
    /// It was committed.
    Created {
        /// As its user sees it.
        ticket: Ticket,
        /// As an engine needs it.
        pool: PoolTicket,
    },
    /// The user has a waiting ticket, this one. A key that came with the same region and interests now names it too.
    /// Or, without a key, an equal one that was matched a moment ago ([`Rules::same_press_within`]).
    Waiting(Ticket),
    /// The key named this ticket before. It may have settled since.
    Keyed(Ticket),
}

/// A ticket and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedTicket {
    /// Whose it is.
    pub user: UserId,
    /// The ticket.
    pub ticket: Ticket,
}

/// Two tickets that an engine wants settled as a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proposal {
    /// The match's id, fixed before the first try so that a repeat finds the outcome.
    pub match_id: MatchId,
    /// One ticket.
    pub a: TicketId,
    /// The other.
    pub b: TicketId,
}

/// How a proposal was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Settlement {
    /// It is a match now (or was already, from an earlier try with the same match id).
    Matched {
        /// How long the first ticket waited.
        wait_a: Duration,
        /// How long the second ticket waited.
        wait_b: Duration,
        /// The match, as others are told of it.
        made: Box<MatchMade>,
    },
    /// One or both tickets are settled, overdue or unknown.
    Gone {
        /// Whether the first is.
        a: bool,
        /// Whether the second is.
        b: bool,
    },
    /// The two were partners not long ago.
    Recent,
    /// One of the two has blocked the other.
    Blocked,
}

/// How a cancellation was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Cancelled {
    /// It is cancelled by this call.
    Now(Ticket),
    /// It was cancelled before.
    Before(Ticket),
    /// It was matched or expired first.
    TooLate(Ticket),
    /// The user has no such ticket.
    Unknown,
}

/// Where a page of matches starts: before this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchCursor {
    /// When the last match of the previous page was made.
    pub made_at: Timestamp,
    /// Its id.
    pub id: MatchId,
}

impl From<&Match> for MatchCursor {
    fn from(last: &Match) -> Self {
        Self { made_at: last.made_at, id: last.id }
    }
}

/// How much waits in a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardLoad {
    /// Which shard.
    pub shard: ShardId,
    /// How many tickets wait.
    pub waiting: u64,
    /// How long the oldest of them has waited.
    pub oldest_wait: Duration,
}
