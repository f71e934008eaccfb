//! The connection to Postgres as a server's settings name it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use proto::OwnerId;
use store::{Member, MemberKind, OpenError, PostgresConfig, PostgresStore, Rules};
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::secret;

/// How long a starting server waits for Postgres to answer: a machine that boots starts both at once.
const START_DEADLINE: Duration = Duration::from_secs(30);
/// Waits between tries.
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));

/// Where the store is.
#[derive(Debug, Clone, clap::Args)]
pub struct DatabaseArgs {
    /// Address of the store: postgres://user:password@host:port/database
    #[arg(long, env = "DOVETAIL_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// File with that address, so that the password is in no argument
    #[arg(long, env = "DOVETAIL_DATABASE_FILE", value_name = "FILE")]
    database_file: Option<PathBuf>,
    /// The most connections to the store. All servers together stay below 80 % of what Postgres permits
    #[arg(long, env = "DOVETAIL_DATABASE_CONNECTIONS", value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=1000))]
    database_connections: u32,
}

impl DatabaseArgs {
    /// Opens the store and makes this process known there. Waits a while for a Postgres that does not answer yet.
    ///
    /// # Errors
    /// When there is no address, Postgres does not answer for 30 s, or refuses what will not change by waiting.
    pub async fn open(
        &self,
        owner: OwnerId,
        kind: MemberKind,
        rules: Rules,
    ) -> anyhow::Result<(Arc<PostgresStore>, Member)> {
        let url = secret::read("database", self.database.as_deref(), self.database_file.as_deref())?;
        let url = url.context("where is the store? give --database, DOVETAIL_DATABASE, --database-file or DOVETAIL_DATABASE_FILE")?;
        ensure!(
            !url.starts_with("sqlite:"),
            "--database: SQLite serves one process alone; that is standalone"
        );
        ensure!(
            url.starts_with("postgres://") || url.starts_with("postgresql://"),
            "--database: the address must begin with postgres://"
        );
        let member = Member { owner, kind, connections: self.database_connections };
        let config = PostgresConfig { url, connections: self.database_connections, member: member.clone() };
        let deadline = Instant::now() + START_DEADLINE;
        let mut backoff = RETRY;
        loop {
            match PostgresStore::open(&config, rules.clone()).await {
                Ok(store) => return Ok((Arc::new(store), member)),
                Err(error @ OpenError::Unavailable(_)) if Instant::now() < deadline => {
                    let wait = backoff.next_wait();
                    tracing::warn!(error = &error as &dyn std::error::Error, ?wait, "waiting for Postgres");
                    tokio::time::sleep(wait).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
