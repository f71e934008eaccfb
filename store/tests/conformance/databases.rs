//! A new database for each world, in the one Postgres of this program.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use store::{PostgresStore, Store};
use tokio::sync::OnceCell;

use crate::world::{postgres_config, rules};

/// Makes a database and answers its URL.
pub async fn new_database() -> String {
    /// An empty database with its tables: copying it is faster than making them.
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    static MADE: AtomicU32 = AtomicU32::new(0);
    let template = TEMPLATE.get_or_init(make_template).await;
    let postgres = testkit::shared::postgres().await.unwrap();
    let name = format!("copy_{}", MADE.fetch_add(1, Ordering::Relaxed));
    let mut connection = PgConnection::connect(&postgres.url()).await.unwrap();
    let copy = format!("CREATE DATABASE {name} TEMPLATE {template}");
    connection.execute(AssertSqlSafe(copy)).await.unwrap();
    connection.close().await.unwrap();
    postgres.url_of(&name)
}

/// Answers its name.
async fn make_template() -> String {
    let postgres = testkit::shared::postgres().await.unwrap();
    let config = postgres_config(&postgres.new_database("template").await.unwrap());
    PostgresStore::open(&config, rules()).await.unwrap().close().await;
    // Its opener has left with it.
    let mut connection = PgConnection::connect(&config.url).await.unwrap();
    connection.execute("DELETE FROM members").await.unwrap();
    connection.close().await.unwrap();
    config.url.rsplit_once('/').expect("a URL ends in the database").1.to_owned()
}
