//! Processes that open one Postgres: their tables, their shard count, their share of its connections.

use std::time::Duration;

use sqlx::{Connection, Executor, PgConnection, Row};
use store::{Member, Members, OpenError, PostgresConfig, PostgresStore, Rules, Store};

use crate::databases::new_database;
use crate::world::{postgres_config, rules};

async fn open(config: &PostgresConfig) -> Result<PostgresStore, OpenError> {
    PostgresStore::open(config, rules()).await
}

async fn open_error(config: &PostgresConfig, rules: Rules) -> OpenError {
    match PostgresStore::open(config, rules).await {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

fn with_connections(url: &str, connections: u32) -> PostgresConfig {
    let mut config = postgres_config(url);
    (config.connections, config.member.connections) = (connections, connections);
    config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_processes_make_the_tables_at_once() {
    let postgres = testkit::shared::postgres().await.unwrap();
    let url = postgres.new_database("made_at_once").await.unwrap();
    let configs: Vec<_> = (0..4).map(|_| postgres_config(&url)).collect();
    let [a, b, c, d] = &configs[..] else { unreachable!("four") };
    let stores = tokio::join!(open(a), open(b), open(c), open(d));
    for store in [stores.0, stores.1, stores.2, stores.3] {
        assert_eq!(store.unwrap().waiting_by_shard().await.unwrap(), []);
    }
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let row = connection.fetch_one("SELECT count(*) FROM members").await.unwrap();
    assert_eq!(row.get::<i64, _>(0), 4);
}

#[tokio::test]
async fn another_shard_count_is_refused() {
    let config = postgres_config(&new_database().await);
    let error = open_error(&config, Rules { shard_count: 13, ..rules() }).await;
    assert!(matches!(error, OpenError::ShardCount { stored: 12, given: 13 }), "{error:?}");
}

#[tokio::test]
async fn an_unknown_newer_migration_is_left_alone() {
    let config = postgres_config(&new_database().await);
    let mut connection = PgConnection::connect(&config.url).await.unwrap();
    connection
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES (9999, 'from a newer program', true, '', 0)",
        )
        .await
        .unwrap();
    open(&config).await.unwrap();
}

#[tokio::test]
async fn connections_beyond_the_share_are_refused() {
    let url = new_database().await;
    // Of 200, 3 are kept for superusers: 80 % of the rest are 157.
    let error = open_error(&with_connections(&url, 158), rules()).await;
    assert!(
        matches!(error, OpenError::TooManyConnections { wanted: 158, others: 0, share: 157, for_all: 197 }),
        "{error:?}"
    );
    let first = with_connections(&url, 100);
    let store = open(&first).await.unwrap();
    let second = with_connections(&url, 58);
    let refused = tokio::select! {
        error = open_error(&second, rules()) => error,
        () = keep_saying_so(&store, &first.member) => unreachable!("it says so for ever"),
    };
    assert!(
        matches!(refused, OpenError::TooManyConnections { wanted: 58, others: 100, share: 157, .. }),
        "{refused:?}"
    );
    let words = refused.to_string();
    assert!(["58", "100", "157", "max_connections"].iter().all(|part| words.contains(part)), "{words}");
    store.renew(&first.member).await.unwrap();
    open(&with_connections(&url, 57)).await.unwrap();
}

async fn keep_saying_so(store: &PostgresStore, member: &Member) {
    let mut each_second = tokio::time::interval(Duration::from_secs(1));
    loop {
        each_second.tick().await;
        store.renew(member).await.unwrap();
    }
}

#[tokio::test]
async fn whoever_died_a_moment_ago_is_waited_for() {
    let url = new_database().await;
    drop(open(&with_connections(&url, 100)).await.unwrap());
    open(&with_connections(&url, 100)).await.unwrap();
}

#[tokio::test]
async fn whoever_leaves_makes_room_at_once() {
    let url = new_database().await;
    let first = with_connections(&url, 157);
    let store = open(&first).await.unwrap();
    store.leave(first.member.owner).await.unwrap();
    let before = store.now().await.unwrap();
    store.close().await;
    let second = open(&with_connections(&url, 157)).await.unwrap();
    assert!(second.now().await.unwrap().since(before) < Member::LIFE);
}

#[tokio::test]
async fn nobody_listens() {
    let port = testkit::free_port().unwrap();
    let config = postgres_config(&format!("postgres://ana:hunter2@127.0.0.1:{port}/dovetail"));
    let error = open_error(&config, rules()).await;
    assert!(matches!(error, OpenError::Unavailable(_)), "{error:?}");
    assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn a_missing_database_is_no_outage() {
    let postgres = testkit::shared::postgres().await.unwrap();
    let error = open_error(&postgres_config(&postgres.url_of("nowhere")), rules()).await;
    assert!(matches!(error, OpenError::Database(_)), "{error:?}");
}

#[tokio::test]
async fn members_are_named_after_what_they_are() {
    let config = postgres_config(&new_database().await);
    let store = open(&config).await.unwrap();
    store.now().await.unwrap();
    let mut connection = PgConnection::connect(&config.url).await.unwrap();
    let named = "SELECT count(*) FROM pg_stat_activity \
                 WHERE application_name = 'main-server' AND datname = current_database()";
    assert_eq!(connection.fetch_one(named).await.unwrap().get::<i64, _>(0), 1);
}
