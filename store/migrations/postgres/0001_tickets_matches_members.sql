-- Moments are milliseconds since 1970-01-01T00:00:00Z on the database's clock.
-- User ids, keys and regions are compared byte for byte (COLLATE "C"), whatever the locale of the database.
--
-- No foreign keys: every row is written by a transaction that has just read or written what it names, counts what it
-- wrote, and nothing is ever deleted that is named. A foreign key would ask again for each row of each batch.

CREATE TABLE settings (
    name  text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE tickets (
    id         uuid PRIMARY KEY,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    settled_at bigint,
    -- From when the ticket is in the pool of its second shard, too.
    wide_from  bigint,
    shard      integer NOT NULL,
    -- The second shard of a ticket whose scope becomes its first label alone.
    wide_shard integer,
    match_id   uuid,
    state      text COLLATE "C" NOT NULL DEFAULT 'waiting'
               CHECK (state IN ('waiting', 'matched', 'cancelled', 'expired')),
    user_id    text COLLATE "C" NOT NULL,
    region     text COLLATE "C" NOT NULL,
    -- A JSON array of the texts, as the user wrote them.
    interests  text NOT NULL,
    -- The idempotency key that came with it. Looked up in ticket_keys, which is filled from here.
    key        text COLLATE "C",
    CHECK ((state = 'waiting') = (settled_at IS NULL)),
    CHECK ((state = 'matched') = (match_id IS NOT NULL)),
    CHECK ((wide_shard IS NULL) = (wide_from IS NULL))
);

-- A user is in at most one waiting ticket.
CREATE UNIQUE INDEX one_waiting_ticket_per_user ON tickets (user_id) WHERE state = 'waiting';
-- What an engine reads when it takes a shard, and afterwards.
CREATE INDEX waiting_by_shard ON tickets (shard, created_at, id) WHERE state = 'waiting';
CREATE INDEX waiting_by_wide_shard ON tickets (wide_shard, wide_from, id)
    WHERE state = 'waiting' AND wide_shard IS NOT NULL;
-- What the sweep settles.
CREATE INDEX waiting_by_deadline ON tickets (expires_at) WHERE state = 'waiting';
-- What the app resumes with.
CREATE INDEX settled_by_user ON tickets (user_id, settled_at) WHERE state <> 'waiting';

-- A ticket is updated once, when it settles. The state is in the predicate of the indexes, so that no such update is HOT:
-- room left in the pages (fillfactor) would stay empty, and each leaves a dead row and dead entries in the waiting indexes.
-- Those are few and read each second, so they must not wait until a fifth of all tickets ever made is dead (the default),
-- nor for a vacuum that skips indexes because few pages of the table have dead rows.
ALTER TABLE tickets SET (
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_analyze_scale_factor = 0.02,
    vacuum_index_cleanup = on
);

-- Which ticket answered a request that carried an idempotency key.
CREATE TABLE ticket_keys (
    ticket_id  uuid NOT NULL,
    created_at bigint NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, key)
);

CREATE INDEX ticket_keys_by_age ON ticket_keys (created_at);

CREATE TABLE matches (
    id           uuid PRIMARY KEY,
    -- The two tickets.
    earlier      uuid NOT NULL,
    later        uuid NOT NULL,
    made_at      bigint NOT NULL,
    announced_at bigint,
    similarity   double precision NOT NULL,
    region       text COLLATE "C" NOT NULL,
    -- A JSON array, spelt as on the earlier ticket.
    shared       text NOT NULL,
    CHECK (earlier <> later)
);

-- Emptied as matches are announced, a moment after they were made; see tickets for the settings.
CREATE INDEX unannounced_matches ON matches (made_at, id) WHERE announced_at IS NULL;
ALTER TABLE matches SET (
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_scale_factor = 0.01,
    vacuum_index_cleanup = on
);

-- Two rows a match; a ticket is in at most one match.
CREATE TABLE match_participants (
    ticket_id uuid PRIMARY KEY,
    match_id  uuid NOT NULL,
    made_at   bigint NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    partner   text COLLATE "C" NOT NULL,
    CHECK (user_id <> partner)
);

-- A user's matches, newest first; also their latest partners.
CREATE INDEX matches_by_user ON match_participants (user_id, made_at, match_id);

CREATE TABLE blocks (
    created_at bigint NOT NULL,
    blocker    text COLLATE "C" NOT NULL,
    blocked    text COLLATE "C" NOT NULL,
    PRIMARY KEY (blocker, blocked)
);

-- The latest blocks of a user, which go with their ticket to its engine.
CREATE INDEX blocks_by_age ON blocks (blocker, created_at);
-- Who has blocked a user.
CREATE INDEX blocks_of_user ON blocks (blocked);

CREATE TABLE members (
    owner       uuid PRIMARY KEY,
    expires_at  bigint NOT NULL,
    connections integer NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('main-server', 'matching-server'))
);

-- One row a shard, from the first opening on; free while it has no owner.
CREATE TABLE shard_leases (
    shard      integer PRIMARY KEY,
    owner      uuid,
    expires_at bigint NOT NULL DEFAULT 0
);
