//! Why the store did not do what it was asked.

use proto::InvalidId;
use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;

/// A call failed. Whether it took effect may be unknown; every call is safe to repeat.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused or could not be reached, and nothing took effect. Worth trying again.
    #[error("the store is not available")]
    Unavailable(#[source] sqlx::Error),
    /// The database went away half way; what was asked may have taken effect. Worth trying again.
    #[error("the store went away before it answered")]
    OutcomeUnknown(#[source] sqlx::Error),
    /// The database holds something that this program would never write. Not worth trying again.
    #[error("the store holds an invalid {what}")]
    Invalid {
        /// What it is.
        what: &'static str,
        /// Why it is invalid.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Something that must hold did not; the transaction was rolled back. Not worth trying again.
    #[error("the store contradicts itself: {0}")]
    Contradiction(&'static str),
}

impl StoreError {
    /// Whether the same call may work a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::OutcomeUnknown(_) => true,
            Self::Invalid { .. } | Self::Contradiction(_) => false,
        }
    }

    /// The same failure, of a call that had committed something before.
    pub(crate) fn after_commit(self) -> Self {
        match self {
            Self::Unavailable(error) => Self::OutcomeUnknown(error),
            other @ (Self::OutcomeUnknown(_) | Self::Invalid { .. } | Self::Contradiction(_)) => other,
        }
    }

    /// Whether another transaction was in the way: the same may work at once.
    pub(crate) fn is_contention(&self) -> bool {
        let Self::Unavailable(sqlx::Error::Database(refused)) = self else { return false };
        let Some(refused) = refused.try_downcast_ref::<PgDatabaseError>() else { return false };
        // Serialization, deadlock, lock timeout, or a key that was written meanwhile.
        matches!(refused.code(), "40001" | "40P01" | "55P03") || refused.constraint() == Some(KEYS)
    }

    pub(crate) fn invalid(
        what: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Invalid { what, source: source.into() }
    }
}

/// What an error that the database answered with says of what was asked.
enum Answer {
    /// Nothing took effect, and the same may work a little later.
    TryAgain,
    /// It may have taken effect: the server was told to stop, before or after.
    Unknown,
    /// Nothing took effect, and the same is refused again: rows that break a rule of the tables, values that cannot be kept,
    /// tables or a file that are not as they should be.
    Lasting,
}

fn answer_of(refused: &dyn DatabaseError) -> Answer {
    if let Some(refused) = refused.try_downcast_ref::<PgDatabaseError>() {
        return postgres_answer(refused.code(), refused.constraint());
    }
    // SQLITE_CORRUPT, SQLITE_CONSTRAINT, SQLITE_NOTADB, https://sqlite.org/rescode.html
    let code = refused.code().and_then(|code| code.parse::<u32>().ok());
    let lasting = code.is_some_and(|code| matches!(code & 0xff, 11 | 19 | 26));
    if lasting { Answer::Lasting } else { Answer::TryAgain }
}

/// Whether the server could not be reached, or says that it does not serve now.
pub(crate) fn is_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => true,
        // Operator intervention, connection exceptions, insufficient resources.
        sqlx::Error::Database(refused) => {
            refused.code().is_some_and(|code| ["57", "08", "53"].iter().any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}

/// The table whose key two requests may write at once: the second finds the first's when it tries again.
const KEYS: &str = "ticket_keys_pkey";

/// Codes: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn postgres_answer(code: &str, constraint: Option<&str>) -> Answer {
    match code {
        "23505" if constraint == Some(KEYS) => Answer::TryAgain,
        // The server shuts down, or another of its processes crashed. It says so to whoever waits for an answer, at times
        // also to who has just committed.
        "57P01" | "57P02" => Answer::Unknown,
        _ => match code.get(..2) {
            // Cardinality, data, integrity, syntax or missing tables, limits of the program, an error within the server.
            Some("21" | "22" | "23" | "42" | "54" | "XX") => Answer::Lasting,
            // Deadlock, lock or statement timeout, no room, no connection, read-only standby, and the like.
            _ => Answer::TryAgain,
        },
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(refused) => match answer_of(&*refused) {
                Answer::TryAgain => Self::Unavailable(sqlx::Error::Database(refused)),
                Answer::Unknown => Self::OutcomeUnknown(sqlx::Error::Database(refused)),
                Answer::Lasting => Self::invalid("state", refused),
            },
            // Refused before anything ran.
            sqlx::Error::InvalidSavePointStatement
            | sqlx::Error::BeginFailed
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed => Self::Unavailable(error),
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::Decode(_)
            | sqlx::Error::Encode(_)
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::TypeNotFound { .. } => Self::invalid("row", error),
            _ => Self::OutcomeUnknown(error),
        }
    }
}

impl From<InvalidId> for StoreError {
    fn from(error: InvalidId) -> Self {
        Self::invalid("id", error)
    }
}

/// The store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder of the database cannot be made or written.
    #[error("cannot use the data folder {path}")]
    Folder {
        /// Which folder.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Another process has it.
    #[error("{path} is in use by another process; stop that one first, or use another data folder")]
    InUse {
        /// Which file.
        path: String,
    },
    /// The file is damaged, or is something else.
    #[error(
        "{path} is damaged or is not a Dovetail database ({why}); restore it from a backup, or move it away to start anew"
    )]
    Damaged {
        /// Which file.
        path: String,
        /// What the database said.
        why: String,
    },
    /// It was made with another shard count.
    #[error(
        "the store has {stored} shards but this process was told {given}; the count is fixed when a store is made"
    )]
    ShardCount {
        /// What the store says.
        stored: u16,
        /// What this process was told.
        given: u16,
    },
    /// What was given as the store's address is none.
    #[error("the store's address is not of the form postgres://user:password@host:port/database")]
    Address,
    /// The processes together would open too many connections.
    #[error(
        "this process may open {wanted} connections to Postgres and those that run may open {others}, but together they \
         may open {share} (80 % of the {for_all} that max_connections leaves to ordinary users); give each process fewer \
         connections, start fewer processes, or raise max_connections"
    )]
    TooManyConnections {
        /// How many this process wants.
        wanted: u32,
        /// How many the others have.
        others: i64,
        /// How many all of them may have.
        share: i64,
        /// How many the server has for all but superusers.
        for_all: i32,
    },
    /// The server cannot be reached, or does not serve now. Worth trying again.
    #[error("the store is not available")]
    Unavailable(#[source] sqlx::Error),
    /// A migration failed.
    #[error("cannot bring the store's tables up to date")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// Anything else.
    #[error("cannot open the store")]
    Database(#[from] sqlx::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_postgres_says_is_told_apart() {
        // Deadlock, lock and statement timeout, serialization, start, no room, no connection, an abandoned transaction.
        for code in ["40P01", "55P03", "57014", "40001", "57P03", "53100", "53300", "25P03", "25006"] {
            assert!(matches!(postgres_answer(code, None), Answer::TryAgain), "{code}");
        }
        for code in ["57P01", "57P02"] {
            assert!(matches!(postgres_answer(code, None), Answer::Unknown), "{code}");
        }
        // Unique, check and not-null violations, a NUL, too large for an index, no such column.
        for code in ["23505", "23514", "23502", "22021", "54000", "42703"] {
            assert!(matches!(postgres_answer(code, None), Answer::Lasting), "{code}");
        }
        assert!(matches!(postgres_answer("23505", Some("matches_pkey")), Answer::Lasting));
        assert!(matches!(postgres_answer("23505", Some(KEYS)), Answer::TryAgain));
    }
}
