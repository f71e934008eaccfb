-- Blocks, matches that are still to be announced, tickets that widen into a second shard, and who runs and holds what.

-- The second shard of a ticket whose scope becomes its first label alone, and from when it is in that one's pool too.
ALTER TABLE tickets ADD COLUMN wide_shard INTEGER;
ALTER TABLE tickets ADD COLUMN wide_from INTEGER;
CREATE INDEX waiting_by_wide_shard ON tickets (wide_shard, wide_from, id)
    WHERE state = 'waiting' AND wide_shard IS NOT NULL;

ALTER TABLE matches ADD COLUMN earlier BLOB REFERENCES tickets (id);
ALTER TABLE matches ADD COLUMN later BLOB REFERENCES tickets (id);
ALTER TABLE matches ADD COLUMN announced_at INTEGER;
-- Nobody was to be told of those that were made before this.
UPDATE matches SET announced_at = made_at;
CREATE INDEX unannounced_matches ON matches (made_at, id) WHERE announced_at IS NULL;

CREATE TABLE blocks (
    blocker    TEXT NOT NULL,
    blocked    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (blocker, blocked)
) WITHOUT ROWID;

-- The latest blocks of a user, which go with their ticket to its engine.
CREATE INDEX blocks_by_age ON blocks (blocker, created_at);
-- Who has blocked a user.
CREATE INDEX blocks_of_user ON blocks (blocked);

CREATE TABLE members (
    owner       BLOB PRIMARY KEY,
    kind        TEXT NOT NULL CHECK (kind IN ('main-server', 'matching-server')),
    connections INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) WITHOUT ROWID;

-- One row a shard, from the first opening on; free while it has no owner.
CREATE TABLE shard_leases (
    shard      INTEGER PRIMARY KEY,
    owner      BLOB,
    expires_at INTEGER NOT NULL DEFAULT 0
);
