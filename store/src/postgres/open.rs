//! Opening: the settings of connections, the migrations, the shard count, and the share of the server's connections.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection, Row};
use uuid::Uuid;

use super::{PostgresStore, with_clock};
use crate::error::is_away;
use crate::parse::duration_to_db;
use crate::{Member, OpenError, Rules};

/// A log filter's directive that leaves out Postgres's notices, such as that a table of a migration is there already.
pub const NOTICES_IN_LOGS: &str = "sqlx::postgres::notice=warn";

/// Where a Postgres store keeps its data, and who opens it.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresConfig {
    /// `postgres://user:password@host:port/database`.
    pub url: String,
    /// The most connections that are open at a time: the size of the pool.
    pub connections: u32,
    /// The process that opens it. It must say again within [`Member::LIFE`] that it runs ([`crate::Members::renew`]), with
    /// as many connections as above.
    pub member: Member,
}

impl fmt::Debug for PostgresConfig {
    /// Without the URL, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url: _, connections, member } = self;
        f.debug_struct("PostgresConfig")
            .field("connections", connections)
            .field("member", member)
            .finish_non_exhaustive()
    }
}

/// How long a call waits for a connection, a new one included, before it fails as unavailable.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);
/// A connection that was idle for longer is asked whether it lives before it is used: it may be from before the server's
/// restart. Under load none is, and none costs a round trip more.
const TRUSTED_WHILE_IDLE: Duration = Duration::from_millis(500);
/// How long opening may take to reach the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a process that would have too many connections looks again. Who died a moment ago still counts.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(200);
/// For how long it does: until whoever died before it opened counts no more.
const LOOK_AGAIN_FOR: Duration = Member::LIFE.saturating_add(Duration::from_secs(1));

/// The processes' share of the server's connections, in percent: the rest is for people, backups and replicas.
const SHARE_OF_CONNECTIONS: u32 = 80;

/// Names the advisory lock under which processes open the store one after the other: "dovetail".
const OPENING: i64 = 0x646f_7665_7461_696c;

/// Settings of each connection.
pub(super) const SESSION: &[(&str, &str)] = &[
    // No statement takes long; one that does must not keep its locks.
    ("statement_timeout", "5s"),
    // A process that stops half way through a transaction must not keep its locks either.
    ("idle_in_transaction_session_timeout", "1s"),
    // Longer than such a process keeps them, so that who waits for them goes on.
    ("lock_timeout", "2s"),
    // Every statement looks up a few rows by index. Plans are made while the tables are empty, when reading all of a table
    // is cheapest, and then kept; so no plan may do that.
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("jit", "off"),
];

impl PostgresStore {
    /// Opens the store, brings its tables up to date, and makes its process known as a member.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses, the store was made with another shard count, or the processes together
    /// would have too many connections.
    pub async fn open(config: &PostgresConfig, rules: Rules) -> Result<Self, OpenError> {
        let options = connect_options(config)?;
        prepare(&options, config, rules.shard_count).await.map_err(tell_absence)?;
        let options = options.options(SESSION.iter().copied());
        let pool = PgPoolOptions::new()
            .max_connections(config.connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire(|connection, metadata| {
                Box::pin(async move {
                    if metadata.idle_for > TRUSTED_WHILE_IDLE {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options);
        Ok(Self { rules, pool })
    }
}

fn connect_options(config: &PostgresConfig) -> Result<PgConnectOptions, OpenError> {
    let is_postgres = ["postgres://", "postgresql://"].iter().any(|scheme| config.url.starts_with(scheme));
    let options = is_postgres.then(|| PgConnectOptions::from_str(&config.url).ok()).flatten();
    let options = options.ok_or(OpenError::Address)?.application_name(config.member.kind.as_str());
    // Its lines hold whole statements, and come by the dozen when Postgres is slow, which the histogram of store calls says.
    Ok(options.disable_statement_logging())
}

/// Tells a server that is away from one that refuses.
fn tell_absence(error: OpenError) -> OpenError {
    match error {
        OpenError::Database(error) | OpenError::Migrate(MigrateError::Execute(error)) if is_away(&error) => {
            OpenError::Unavailable(error)
        }
        other => other,
    }
}

/// Brings the database up to date and makes the process a member, over a connection of its own.
async fn prepare(
    options: &PgConnectOptions,
    config: &PostgresConfig,
    shard_count: u16,
) -> Result<(), OpenError> {
    let mut connection = connect(options).await?;
    migrate(&mut connection).await?;
    warn_of_lossy_settings(&mut connection).await?;
    join(&mut connection, config, shard_count).await?;
    Ok(connection.close().await?)
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, OpenError> {
    let connecting = PgConnection::connect_with(options);
    tokio::time::timeout(CONNECT_TIMEOUT, connecting)
        .await
        .unwrap_or_else(|_| {
            let why = std::io::Error::new(std::io::ErrorKind::TimedOut, "no answer from Postgres");
            Err(sqlx::Error::Io(why))
        })
        .map_err(OpenError::Database)
}

/// Processes that start at once take turns: the migrator holds an advisory lock.
async fn migrate(connection: &mut PgConnection) -> Result<(), OpenError> {
    // A newer program may have left migrations that this one does not know; they are additive.
    let mut migrator = sqlx::migrate!("migrations/postgres");
    Ok(migrator.set_ignore_missing(true).run(connection).await?)
}

async fn warn_of_lossy_settings(connection: &mut PgConnection) -> Result<(), OpenError> {
    for setting in ["fsync", "synchronous_commit", "full_page_writes"] {
        let row = sqlx::query("SELECT current_setting($1)").bind(setting).fetch_one(&mut *connection).await?;
        let value: String = row.try_get(0)?;
        if value == "off" {
            tracing::warn!(setting, "Postgres may lose what it committed when its machine fails");
        }
    }
    Ok(())
}

/// Records or checks the shard count and registers the member, looking again for a while if there is no room for it.
async fn join(
    connection: &mut PgConnection,
    config: &PostgresConfig,
    shard_count: u16,
) -> Result<(), OpenError> {
    let deadline = tokio::time::Instant::now() + LOOK_AGAIN_FOR;
    loop {
        let mut transaction = connection.begin().await?;
        // Given back at the end of the transaction.
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(OPENING).execute(&mut *transaction).await?;
        record_shard_count(&mut transaction, shard_count).await?;
        match register(&mut transaction, config).await {
            Err(OpenError::TooManyConnections { .. }) if tokio::time::Instant::now() < deadline => {
                transaction.rollback().await?;
                tokio::time::sleep(LOOK_AGAIN_AFTER).await;
            }
            outcome => {
                outcome?;
                return Ok(transaction.commit().await?);
            }
        }
    }
}

async fn record_shard_count(connection: &mut PgConnection, given: u16) -> Result<(), OpenError> {
    sqlx::query("INSERT INTO settings (name, value) VALUES ('shard_count', $1) ON CONFLICT DO NOTHING")
        .bind(given.to_string())
        .execute(&mut *connection)
        .await?;
    let stored: String = sqlx::query("SELECT value FROM settings WHERE name = 'shard_count'")
        .fetch_one(&mut *connection)
        .await?
        .try_get(0)?;
    match stored.parse() {
        Ok(stored) if stored == given => {}
        Ok(stored) => return Err(OpenError::ShardCount { stored, given }),
        Err(_) => {
            let path = "the Postgres database".to_owned();
            return Err(OpenError::Damaged { path, why: format!("shard count {stored:?}") });
        }
    }
    sqlx::query("INSERT INTO shard_leases (shard) SELECT generate_series(0, $1 - 1) ON CONFLICT DO NOTHING")
        .bind(i32::from(given))
        .execute(connection)
        .await?;
    Ok(())
}

const CONNECTIONS_FOR_ALL: &str = "SELECT current_setting('max_connections')::int \
     - current_setting('superuser_reserved_connections')::int \
     - coalesce(current_setting('reserved_connections', true), '0')::int";

/// `$1` the member that does not count.
const CONNECTIONS_OF_OTHERS: &str = concat!(
    with_clock!(),
    " SELECT coalesce(sum(connections), 0)::bigint FROM members \
      WHERE owner <> $1 AND expires_at > (SELECT now FROM clock)"
);

/// `$1` the owner, `$2` the kind, `$3` the connections, `$4` its life.
const REGISTER: &str = concat!(
    with_clock!(),
    " INSERT INTO members (owner, kind, connections, expires_at) SELECT $1, $2, $3, now + $4 FROM clock \
      ON CONFLICT (owner) DO UPDATE \
      SET kind = excluded.kind, connections = excluded.connections, expires_at = excluded.expires_at"
);

/// Makes the process a member, if its connections and those of the others stay within their share.
async fn register(connection: &mut PgConnection, config: &PostgresConfig) -> Result<(), OpenError> {
    let owner = Uuid::from_u128(config.member.owner.as_u128());
    let for_all: i32 = sqlx::query(CONNECTIONS_FOR_ALL).fetch_one(&mut *connection).await?.try_get(0)?;
    let others: i64 =
        sqlx::query(CONNECTIONS_OF_OTHERS).bind(owner).fetch_one(&mut *connection).await?.try_get(0)?;
    let share = i64::from(for_all) * i64::from(SHARE_OF_CONNECTIONS) / 100;
    if others + i64::from(config.connections) > share {
        return Err(OpenError::TooManyConnections { wanted: config.connections, others, share, for_all });
    }
    sqlx::query(REGISTER)
        .bind(owner)
        .bind(config.member.kind.as_str())
        .bind(i32::try_from(config.connections).unwrap_or(i32::MAX))
        .bind(duration_to_db(Member::LIFE))
        .execute(connection)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberKind;
    use proto::OwnerId;

    fn config(url: &str) -> PostgresConfig {
        let member = Member { owner: OwnerId::from_u128(1), kind: MemberKind::MainServer, connections: 2 };
        PostgresConfig { url: url.to_owned(), connections: 2, member }
    }

    #[test]
    fn the_password_is_not_shown() {
        let config = config("postgres://ana:hunter2@127.0.0.1/dovetail");
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_it() {
        for url in ["", "mysql://ana:hunter2@host/db", "postgres://ana:hunter2@host:port/db", "hunter2"] {
            let error = connect_options(&config(url)).expect_err(url);
            assert!(!format!("{error:?} {error}").contains("hunter2"), "{url}");
        }
    }
}
