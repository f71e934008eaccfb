//! A new database for each world, in the one Postgres of this program.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use store::{PostgresStore, Store};
use tokio::sync::OnceCell;

use crate::world::{postgres_config, rules};

/// An empty database with its tables: copying it is faster than making them.
const TEMPLATE: &str = "template_of_stores";

/// Makes a database and answers its URL.
pub async fn new_database() -> String {
    static TEMPLATE_MADE: OnceCell<()> = OnceCell::const_new();
    static MADE: AtomicU32 = AtomicU32::new(0);
    TEMPLATE_MADE.get_or_init(make_template).await;
    let postgres = testkit::shared::postgres().await.unwrap();
    let name = format!("store_{}", MADE.fetch_add(1, Ordering::Relaxed));
    let mut connection = PgConnection::connect(&postgres.url()).await.unwrap();
    let copy = format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE}");
    connection.execute(AssertSqlSafe(copy)).await.unwrap();
    connection.close().await.unwrap();
    postgres.url_of(&name)
}

async fn make_template() {
    let postgres = testkit::shared::postgres().await.unwrap();
    postgres.create_database(TEMPLATE).await.unwrap();
    let config = postgres_config(&postgres.url_of(TEMPLATE));
    PostgresStore::open(&config, rules()).await.unwrap().close().await;
    // Its opener has left with it.
    let mut connection = PgConnection::connect(&config.url).await.unwrap();
    connection.execute("DELETE FROM members").await.unwrap();
    connection.close().await.unwrap();
}
