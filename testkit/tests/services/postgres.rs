//! Postgres keeps what it committed.

use std::os::unix::fs::DirBuilderExt as _;
use std::process::{Command, Stdio};

use testkit::{Place, Postgres, find_programs, packages, shared, until};

use crate::PATIENCE;

fn psql(url: &str) -> tokio::process::Command {
    let mut command = Command::new(packages::postgres().unwrap().join("psql"));
    command.args(["--no-psqlrc", "--tuples-only", "--no-align", "--quiet", "-v", "ON_ERROR_STOP=1", url]);
    let mut command = tokio::process::Command::from(command);
    command.kill_on_drop(true);
    command
}

/// What the statements answer; an error when they fail.
async fn run(url: &str, statements: &str) -> Result<String, String> {
    let output = psql(url).args(["-c", statements]).output().await.unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    }
}

#[tokio::test]
async fn a_row_outlives_a_kill_and_a_stop() {
    let postgres = Postgres::start(&Place::Temporary, None).await.unwrap();
    let url = postgres.new_database("rows").await.unwrap();
    run(&url, "CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)").await.unwrap();

    let before = postgres.process().unwrap();
    postgres.kill().await.unwrap();
    assert!(!before.is_alive());
    run(&url, "SELECT 1").await.unwrap_err();
    postgres.restart().await.unwrap();
    assert_eq!(run(&url, "SELECT id FROM kept").await.unwrap(), "7");

    postgres.stop().await.unwrap();
    run(&url, "SELECT 1").await.unwrap_err();
    postgres.restart().await.unwrap();
    assert_eq!(run(&url, "SELECT id FROM kept").await.unwrap(), "7");
    assert_ne!(postgres.process().unwrap().pid(), before.pid());
}

#[tokio::test]
async fn a_paused_server_answers_later_and_can_be_killed() {
    let postgres = Postgres::start(&Place::Temporary, None).await.unwrap();
    postgres.pause().unwrap();
    let mut asking = psql(&postgres.url()).args(["-c", "SELECT 1"]).stdout(Stdio::null()).spawn().unwrap();
    // Its request is taken by the kernel, and nobody reads it.
    let state =
        || std::fs::read_to_string(format!("/proc/{}/stat", postgres.process().unwrap().pid())).unwrap();
    until("the server is paused", PATIENCE, async || Ok(state().contains(") T "))).await.unwrap();
    assert!(asking.try_wait().unwrap().is_none());
    postgres.resume().unwrap();
    assert!(asking.wait().await.unwrap().success());

    postgres.pause().unwrap();
    postgres.kill().await.unwrap();
    postgres.restart().await.unwrap();
    run(&postgres.url(), "SELECT 1").await.unwrap();
}

#[tokio::test]
async fn what_was_promised_to_be_on_disk_is() {
    let postgres = shared::postgres().await.unwrap();
    for setting in ["fsync", "synchronous_commit", "full_page_writes"] {
        assert_eq!(run(&postgres.url(), &format!("SHOW {setting}")).await.unwrap(), "on", "{setting}");
    }
    assert_eq!(run(&postgres.url(), "SHOW listen_addresses").await.unwrap(), "127.0.0.1");
}

#[tokio::test]
async fn each_database_is_new() {
    let postgres = shared::postgres().await.unwrap();
    let (first, second) =
        (postgres.new_database("twice").await.unwrap(), postgres.new_database("twice").await.unwrap());
    run(&first, "CREATE TABLE here (id int)").await.unwrap();
    run(&second, "SELECT * FROM here").await.unwrap_err();
}

#[tokio::test]
async fn a_lasting_folder_is_used_again() {
    let temporary = std::env::temp_dir().join(format!("testkit-lasting-{}", std::process::id()));
    // As when root's home holds the repository: the account that Postgres runs as may not pass.
    std::fs::DirBuilder::new().mode(0o700).create(&temporary).unwrap();
    let temporary_stack = temporary.join("stack");
    let place = Place::Lasting(temporary_stack.clone());
    let first = Postgres::start(&place, None).await.unwrap();
    run(&first.url(), "CREATE TABLE kept (id int)").await.unwrap();
    let process = first.process().unwrap();
    let port = first.port();
    drop(first);
    assert!(process.is_alive(), "it goes on without its value");

    let again = Postgres::start(&place, Some(port)).await.unwrap();
    assert_eq!(again.process().unwrap().pid(), process.pid(), "the one that runs is found");
    assert_eq!(find_programs(&temporary_stack).unwrap()["postgres"].pid(), process.pid());
    again.stop().await.unwrap();
    assert!(!process.is_alive() && find_programs(&temporary_stack).unwrap().is_empty());

    let third = Postgres::start(&place, Some(port)).await.unwrap();
    run(&third.url(), "SELECT * FROM kept").await.unwrap();
    third.stop().await.unwrap();
    std::fs::remove_dir_all(temporary).unwrap();
}
