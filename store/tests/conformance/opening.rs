//! What outlives a store, and what is turned away at the door.

use std::fs;

use store::{OpenError, Rules, SqliteLocation, SqliteStore};

use crate::members::matching_server;
use crate::world::{Backend, World, rules, user};

#[tokio::test]
async fn tickets_and_matches_outlive_a_file() {
    tickets_and_matches_outlive_the_store(Backend::SqliteFile).await;
}

#[tokio::test]
async fn tickets_and_matches_outlive_a_server() {
    tickets_and_matches_outlive_the_store(Backend::Postgres).await;
}

async fn tickets_and_matches_outlive_the_store(backend: Backend) {
    let world = World::new(backend).await;
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    let cy = world.press_match("cy", &["c"]).await;
    world.settle_one(ana.id, bo.id).await;
    let matched = world.ticket(ana.id).await;
    let world = world.reopened().await.expect("data outlive their store");
    assert_eq!(world.ticket(ana.id).await, matched);
    assert_eq!(world.store.current_ticket(&user("cy")).await.unwrap(), Some(cy));
}

#[tokio::test]
async fn a_restart_owns_its_shards_at_once() {
    let world = World::new(Backend::SqliteFile).await;
    let before = matching_server(1);
    world.members.renew(&before).await.unwrap();
    assert_eq!(world.members.take_shards(before.owner, 12).await.unwrap().len(), 12);
    let world = world.reopened().await.expect("a file outlives its store");
    let after = matching_server(2);
    let roster = world.members.renew(&after).await.unwrap();
    assert_eq!((roster.matching_servers, roster.leases), (vec![after.owner], vec![]));
    assert_eq!(world.members.take_shards(after.owner, 12).await.unwrap().len(), 12);
}

#[tokio::test]
async fn memory_is_gone_when_closed() {
    assert!(World::new(Backend::SqliteMemory).await.reopened().await.is_none());
}

async fn open_error(location: &SqliteLocation, rules: Rules) -> OpenError {
    match SqliteStore::open(location, rules).await {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_second_process_is_turned_away() {
    let folder = tempfile::tempdir().unwrap();
    let location = SqliteLocation::File(folder.path().join("d.db"));
    let first = SqliteStore::open(&location, rules()).await.unwrap();
    let error = open_error(&location, rules()).await;
    assert!(matches!(error, OpenError::InUse { .. }), "{error:?}");
    drop(first);
    SqliteStore::open(&location, rules()).await.unwrap();
}

#[tokio::test]
async fn a_damaged_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.db");
    fs::write(&path, "this is not a database, whatever its name says".repeat(100)).unwrap();
    let error = open_error(&SqliteLocation::File(path.clone()), rules()).await;
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
}

#[tokio::test]
async fn damage_in_the_middle_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.db");
    let location = SqliteLocation::File(path.clone());
    let store = SqliteStore::open(&location, rules()).await.unwrap();
    store::Store::close(&store).await;
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[4096..end].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let error = open_error(&location, rules()).await;
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn another_shard_count_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let location = SqliteLocation::File(folder.path().join("d.db"));
    drop(SqliteStore::open(&location, rules()).await.unwrap());
    let error = open_error(&location, Rules { shard_count: 13, ..rules() }).await;
    assert!(matches!(error, OpenError::ShardCount { stored: 12, given: 13 }), "{error:?}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = open_error(&SqliteLocation::File(file.join("d.db")), rules()).await;
    assert!(matches!(error, OpenError::Folder { .. }), "{error:?}");
}
