//! What it says when it cannot start. The message is the last word; nobody has to read a log.

use std::time::Duration;

use crate::app::{App, args_for};
use crate::process::{Ended, Process};

/// Starts it with these arguments; it must end by itself, failing.
async fn refused(args: &[String]) -> String {
    let Ended { status, said } = Process::start(args).ended_within(Duration::from_secs(10)).await;
    assert_eq!(status.code().map(|code| code == 0), Some(false), "{status}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

async fn refused_with(flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut args = args_for(&folder.path().display().to_string());
    args.extend(flags.iter().map(|flag| (*flag).to_owned()));
    refused(&args).await
}

/// Starts it with the usual arguments, one of them with another value.
async fn refused_instead(flag: &str, value: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut args = args_for(&folder.path().display().to_string());
    let place = args.iter().position(|arg| arg == flag).unwrap();
    value.clone_into(&mut args[place + 1]);
    refused(&args).await
}

#[track_caller]
fn assert_says(said: &str, all: &[&str]) {
    for part in all {
        assert!(said.contains(part), "no {part:?} in {said:?}");
    }
}

#[tokio::test]
async fn a_data_folder_belongs_to_one_process() {
    let app = App::start().await;
    let ana = app.user("ana");
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let said = refused(&args_for(&app.data().display().to_string())).await;
    assert_says(&said, &[&app.data().join("dovetail.db").display().to_string(), "in use"]);
    assert_eq!(ana.read(&ticket.id).await, ticket, "the first one goes on");
}

#[tokio::test]
async fn a_damaged_database_is_named_and_left_as_it_is() {
    let mut app = App::start().await;
    app.user("ana").press_match("kr.seoul", &["jazz"]).await;
    app.stop().await;
    let file = app.data().join("dovetail.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let half = bytes.len() / 2;
    let damages: [Vec<u8>; 3] = [
        b"this is not a database at all, but long enough to be read as one".repeat(100),
        bytes[..half].to_vec(),
        {
            bytes[100..].fill(0xa5);
            bytes
        },
    ];
    for damaged in damages {
        std::fs::write(&file, &damaged).unwrap();
        let said = refused(&args_for(&app.data().display().to_string())).await;
        assert_says(&said, &[&file.display().to_string(), "damaged"]);
        assert!(std::fs::read(&file).unwrap() == damaged, "it was written to");
    }
}

#[tokio::test]
async fn a_data_folder_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let said = refused_instead("--data", &file.join("data").display().to_string()).await;
    assert_says(&said, &["a-file"]);
}

#[tokio::test]
async fn callers_that_nobody_checks_stay_on_this_machine() {
    for open in ["0.0.0.0:0", "[::]:0"] {
        assert_says(&refused_instead("--listen", open).await, &["--auth dev", "loopback", open]);
    }
}

#[tokio::test]
async fn a_port_in_use_is_named_with_its_flag() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for flag in ["--listen", "--admin"] {
        assert_says(&refused_instead(flag, &address).await, &[&address, flag, "in use"]);
    }
}

#[tokio::test]
async fn a_bad_policy_names_the_file_and_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my-policy.toml");
    let path = file.display().to_string();
    assert_says(&refused_with(&["--policy", &path]).await, &["my-policy.toml"]);
    let bad = [
        ("expire_after = \"0s\"", "expire_after"),
        ("expire_after = \"soon\"", "expire_after"),
        ("expire_after = 60", "expire_after"),
        ("pool_bound = 0", "pool_bound"),
        ("min_shared = 0", "min_shared"),
        ("min_sharde = 1", "min_sharde"),
        ("[threshold]\nstart = 1.5", "threshold.start"),
        ("[threshold]\nfloor = \"low\"", "floor"),
        ("[widen]\nmin_labels = 0", "widen.min_labels"),
        ("min_shared = ", "min_shared"),
    ];
    for (policy, setting) in bad {
        std::fs::write(&file, policy).unwrap();
        assert_says(&refused_with(&["--policy", &path]).await, &[setting, "my-policy.toml"]);
    }
}

#[tokio::test]
async fn bad_flags_are_named() {
    for (flag, value) in [
        ("--listen", "nonsense"),
        ("--admin", "127.0.0.1"),
        ("--auth", "none"),
        ("--drain-delay", "-1s"),
        ("--log", "=x="),
    ] {
        assert_says(&refused_with(&[&format!("{flag}={value}")]).await, &[flag]);
    }
    assert_says(&refused_with(&["--nonsense"]).await, &["--nonsense"]);
}
