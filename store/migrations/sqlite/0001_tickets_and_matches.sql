-- Moments are milliseconds since 1970-01-01T00:00:00Z on the store's clock. Ids are 16 bytes.

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tickets (
    id         BLOB PRIMARY KEY,
    user       TEXT NOT NULL,
    region     TEXT NOT NULL,
    shard      INTEGER NOT NULL,
    -- A JSON array of the texts, as the user wrote them.
    interests  TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'matched', 'cancelled', 'expired')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled_at INTEGER,
    match_id   BLOB,
    CHECK ((state = 'waiting') = (settled_at IS NULL)),
    CHECK ((state = 'matched') = (match_id IS NOT NULL))
) WITHOUT ROWID;

-- A user is in at most one waiting ticket.
CREATE UNIQUE INDEX one_waiting_ticket_per_user ON tickets (user) WHERE state = 'waiting';
-- What an engine reads when it takes a shard, and afterwards.
CREATE INDEX waiting_by_shard ON tickets (shard, created_at, id) WHERE state = 'waiting';
-- What the sweep settles.
CREATE INDEX waiting_by_deadline ON tickets (expires_at) WHERE state = 'waiting';
-- What the app resumes with.
CREATE INDEX settled_by_user ON tickets (user, settled_at) WHERE state <> 'waiting';

-- Which ticket answered a request that carried an idempotency key.
CREATE TABLE ticket_keys (
    user       TEXT NOT NULL,
    key        TEXT NOT NULL,
    ticket_id  BLOB NOT NULL REFERENCES tickets (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (user, key)
) WITHOUT ROWID;

CREATE INDEX ticket_keys_by_age ON ticket_keys (created_at);

CREATE TABLE matches (
    id         BLOB PRIMARY KEY,
    region     TEXT NOT NULL,
    -- A JSON array, spelt as on the earlier ticket.
    shared     TEXT NOT NULL,
    similarity REAL NOT NULL,
    made_at    INTEGER NOT NULL
) WITHOUT ROWID;

-- Two rows a match; a ticket is in at most one match.
CREATE TABLE match_participants (
    ticket_id BLOB PRIMARY KEY REFERENCES tickets (id),
    match_id  BLOB NOT NULL REFERENCES matches (id),
    user      TEXT NOT NULL,
    partner   TEXT NOT NULL,
    made_at   INTEGER NOT NULL,
    CHECK (user <> partner)
) WITHOUT ROWID;

-- A user's matches, newest first; also their latest partners.
CREATE INDEX matches_by_user ON match_participants (user, made_at, match_id);
