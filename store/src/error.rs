//! Why the store did not do what it was asked.

use proto::InvalidId;

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

    pub(crate) fn invalid(
        what: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Invalid { what, source: source.into() }
    }
}

/// Whether the same call would be refused again: a damaged file, or rows that break a rule of the tables.
fn is_lasting(refused: &dyn sqlx::error::DatabaseError) -> bool {
    // SQLITE_CORRUPT, SQLITE_CONSTRAINT, SQLITE_NOTADB, https://sqlite.org/rescode.html
    let code = refused.code().and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| matches!(code & 0xff, 11 | 19 | 26))
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(refused) if is_lasting(&*refused) => Self::invalid("state", refused),
            // Refused before anything ran, or answered with an error: rolled back.
            sqlx::Error::InvalidSavePointStatement
            | sqlx::Error::BeginFailed
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::Database(_) => Self::Unavailable(error),
            error @ (sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) => {
                Self::invalid("row", error)
            }
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
    /// A migration failed.
    #[error("cannot bring the store's tables up to date")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// Anything else.
    #[error("cannot open the store")]
    Database(#[from] sqlx::Error),
}
