//! Opening: the lock, the pragmas, the migrations, the check for damage.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Row, SqlitePool};

use super::SqliteStore;
use crate::{OpenError, Rules};

/// Where a SQLite store keeps its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqliteLocation {
    /// In memory: gone when the store closes.
    Memory,
    /// In this file, made when it is missing, as is its folder.
    File(PathBuf),
}

/// Page cache of each connection: 64 MiB (negative: in KiB). The default of 2 MiB does not hold the indexes of a burst.
const CACHE_SIZE: &str = "-65536";
/// The log is copied into the database when it holds this many pages (32 MiB): a burst rewrites the same pages often,
/// and each is copied once a checkpoint.
const CHECKPOINT_PAGES: &str = "8192";
/// How long a statement waits for a lock. Only a backup or another program's reader ever holds one.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a call waits for the connection before it fails as unavailable.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

impl SqliteStore {
    /// Opens the store, makes it if it is not there, and brings its tables up to date.
    ///
    /// # Errors
    /// When another process has it, it is damaged, it was made with another shard count, or the file system refuses.
    pub async fn open(location: &SqliteLocation, rules: Rules) -> Result<Self, OpenError> {
        let (options, lock) = match location {
            SqliteLocation::Memory => (SqliteConnectOptions::new().in_memory(true), None),
            SqliteLocation::File(path) => (file_options(path)?, Some(lock_for(path)?)),
        };
        let options = options
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .pragma("cache_size", CACHE_SIZE)
            .pragma("temp_store", "MEMORY")
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
            .busy_timeout(BUSY_TIMEOUT);
        let (writer, reader) = connect(location, options).await.map_err(|error| explain(location, error))?;
        prepare(&writer, &rules).await.map_err(|error| explain(location, error))?;
        Ok(Self { rules, writer, reader, lock })
    }
}

fn file_options(path: &Path) -> Result<SqliteConnectOptions, OpenError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|source| OpenError::Folder { path: folder.display().to_string(), source })?;
    }
    Ok(SqliteConnectOptions::new().filename(path))
}

/// Takes the file beside the database that says it is in use. The operating system gives it back when the process
/// ends, however it ends.
fn lock_for(path: &Path) -> Result<File, OpenError> {
    let lock_path = path.with_extension("lock");
    let folder_error = |source| OpenError::Folder { path: lock_path.display().to_string(), source };
    let file =
        File::options().create(true).truncate(false).write(true).open(&lock_path).map_err(folder_error)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path.display().to_string() }),
        Err(TryLockError::Error(source)) => Err(folder_error(source)),
    }
}

async fn connect(
    location: &SqliteLocation,
    options: SqliteConnectOptions,
) -> Result<(SqlitePool, SqlitePool), OpenError> {
    let single = || {
        SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // The one connection lives as long as the store: in memory it *is* the database.
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
    };
    let writer = single().connect_with(options.clone()).await?;
    let reader = match location {
        SqliteLocation::Memory => writer.clone(),
        SqliteLocation::File(_) => single().connect_lazy_with(options.pragma("query_only", "ON")),
    };
    Ok((writer, reader))
}

async fn prepare(writer: &SqlitePool, rules: &Rules) -> Result<(), OpenError> {
    let health: String = sqlx::query("PRAGMA quick_check(1)").fetch_one(writer).await?.try_get(0)?;
    if health != "ok" {
        return Err(OpenError::Damaged { path: String::new(), why: health });
    }
    // A newer program may have left migrations that this one does not know; they are additive.
    let mut migrator = sqlx::migrate!("migrations/sqlite");
    migrator.set_ignore_missing(true).run(writer).await?;
    record_shard_count(writer, rules.shard_count).await?;
    forget_earlier_members(writer, rules.shard_count).await
}

/// Nobody else has the file: whoever the members and owners were, they are gone, and their shards are free at once.
async fn forget_earlier_members(writer: &SqlitePool, shard_count: u16) -> Result<(), OpenError> {
    sqlx::query("DELETE FROM members; DELETE FROM shard_leases").execute(writer).await?;
    let shards: Vec<u16> = (0..shard_count).collect();
    sqlx::query("INSERT INTO shard_leases (shard) SELECT value FROM json_each(?1)")
        .bind(serde_json::to_string(&shards).expect("numbers are written"))
        .execute(writer)
        .await?;
    Ok(())
}

async fn record_shard_count(writer: &SqlitePool, given: u16) -> Result<(), OpenError> {
    sqlx::query("INSERT INTO settings (name, value) VALUES ('shard_count', ?1) ON CONFLICT DO NOTHING")
        .bind(given.to_string())
        .execute(writer)
        .await?;
    let stored: String = sqlx::query("SELECT value FROM settings WHERE name = 'shard_count'")
        .fetch_one(writer)
        .await?
        .try_get(0)?;
    match stored.parse() {
        Ok(stored) if stored == given => Ok(()),
        Ok(stored) => Err(OpenError::ShardCount { stored, given }),
        Err(_) => Err(OpenError::Damaged { path: String::new(), why: format!("shard count {stored:?}") }),
    }
}

/// Says which file, and tells damage from other errors.
fn explain(location: &SqliteLocation, error: OpenError) -> OpenError {
    let path = match location {
        SqliteLocation::Memory => "the database in memory".to_owned(),
        SqliteLocation::File(path) => path.display().to_string(),
    };
    let database = |error: &sqlx::Error| {
        // SQLITE_CORRUPT and SQLITE_NOTADB, https://sqlite.org/rescode.html
        let code = error.as_database_error()?.code()?.parse::<u32>().ok()?;
        matches!(code & 0xff, 11 | 26).then(|| error.to_string())
    };
    let why = match &error {
        OpenError::Damaged { why, .. } => Some(why.clone()),
        OpenError::Database(error) | OpenError::Migrate(sqlx::migrate::MigrateError::Execute(error)) => {
            database(error)
        }
        OpenError::Folder { .. }
        | OpenError::InUse { .. }
        | OpenError::ShardCount { .. }
        | OpenError::Address
        | OpenError::Unavailable(_)
        | OpenError::TooManyConnections { .. }
        | OpenError::Migrate(_) => None,
    };
    match why {
        Some(why) => OpenError::Damaged { path, why },
        None => error,
    }
}
