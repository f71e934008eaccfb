//! A test program that is killed leaves no process and no folder behind.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use testkit::{Place, Process, Stack, until};

use crate::PATIENCE;

/// What a line says that names a process to look for.
const RUNS: &str = "runs: ";

/// Run by the test below, in a process of its own.
#[tokio::test]
#[ignore = "starts services and waits to be killed"]
async fn waits_to_be_killed() {
    let stack = Stack::start(&Place::Temporary, None).await.unwrap();
    let processes = stack.rabbit.processes().unwrap().into_iter();
    let others = [stack.postgres.process().unwrap(), stack.redis.process().unwrap()];
    // Dead, its memory lies about; paused, it hears of nothing.
    stack.postgres.kill().await.unwrap();
    stack.redis.pause().unwrap();
    for process in processes.chain(others) {
        println!("{RUNS}{}", process.pid());
    }
    println!("{RUNS}0");
    std::future::pending::<()>().await;
}

/// The temporary folders of a process.
fn folders(pid: u32) -> Vec<PathBuf> {
    let all = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/testkit");
    let entries = std::fs::read_dir(all).unwrap().map(|entry| entry.unwrap().path());
    let start = format!("{pid}-");
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&start)).collect()
}

#[tokio::test]
async fn nothing_is_left_of_a_killed_test_program() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "orphans::waits_to_be_killed", "--ignored", "--nocapture"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let pids = lines.filter_map(|line| line.strip_prefix(RUNS)?.parse().ok());
    let processes: Vec<Process> =
        pids.take_while(|pid| *pid != 0).map(|pid: u32| Process::open(pid).unwrap()).collect();
    // All but Postgres.
    assert_eq!((processes.len(), processes.iter().filter(|process| process.is_alive()).count()), (6, 5));
    assert!(!folders(child.id()).is_empty());

    child.kill().unwrap();
    child.wait().unwrap();
    for process in processes {
        process.ended_within(PATIENCE).await.unwrap();
    }
    until("its folders are removed", PATIENCE, async || Ok(folders(child.id()).is_empty())).await.unwrap();
}
