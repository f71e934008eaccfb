//! What the program says to whoever starts it wrongly: one clear line, and a failing exit code before anything is served.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

const DATABASE: [&str; 2] = ["--database", "postgres://dovetail:hidden@127.0.0.1:1/dovetail"];
const BROKER: [&str; 4] = ["--amqp", "amqp://127.0.0.1:1", "--redis", "redis://127.0.0.1:1"];
const SECRET: [&str; 2] = ["--jwt-secret", "0123456789abcdef0123456789abcdef"];

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_main-server"));
    // Only what is given here counts, whatever the tests' own environment says.
    command.env_clear();
    command
}

fn run(arguments: &[&[&str]]) -> Output {
    command().args(["--admin", "127.0.0.1:0"]).args(arguments.concat()).output().unwrap()
}

/// What it complains of.
fn complaint(arguments: &[&[&str]]) -> String {
    let output = run(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(!said.contains("hidden"), "a password was shown: {said}");
    said.lines().last().unwrap().to_owned()
}

#[test]
fn what_is_missing_is_named_with_every_way_to_give_it() {
    for (arguments, named) in [
        (&[&SECRET[..], &BROKER[..]][..], "DOVETAIL_DATABASE_FILE"),
        (&[&SECRET[..], &DATABASE[..], &BROKER[2..]], "DOVETAIL_AMQP"),
        (&[&DATABASE[..], &BROKER[..]], "--jwt-secret-file"),
    ] {
        let complaint = complaint(&[arguments, &[&["--listen", "127.0.0.1:0"][..]]].concat());
        assert!(complaint.starts_with("error: ") && complaint.contains(named), "{arguments:?}: {complaint}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (arguments, named) in [
        (&["--database", "mysql://127.0.0.1/x"][..], "postgres://"),
        (&["--database", "sqlite:x.db"], "standalone"),
        (&["--database-file", "no/such/file"], "no/such/file"),
        (&["--policy", "no/such/policy.toml"], "no/such/policy.toml"),
        (&["--jwt-secret-file", "no/such/secret"], "no/such/secret"),
        (&["--jwt-secret", "short"], "32"),
        // Nobody is checked there, so it stays on loopback.
        (&["--auth", "dev", "--listen", "0.0.0.0:0"], "loopback"),
    ] {
        let secret = if arguments[0].starts_with("--jwt") { &[][..] } else { &SECRET[..] };
        let database = if arguments[0].starts_with("--database") { &[][..] } else { &DATABASE[..] };
        let listen = if arguments.contains(&"--listen") { &[][..] } else { &["--listen", "127.0.0.1:0"] };
        let complaint = complaint(&[secret, database, listen, &BROKER, arguments]);
        assert!(complaint.contains(named), "{arguments:?}: {complaint}");
    }
}

#[test]
fn help_lists_every_setting_with_its_variable_and_shows_no_secret() {
    let output = Command::new(env!("CARGO_BIN_EXE_main-server"))
        .env_clear()
        .envs([("DOVETAIL_DATABASE", "postgres://u:hidden@h/d"), ("DOVETAIL_JWT_SECRET", "hidden")])
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for named in [
        "LISTEN",
        "ADMIN",
        "DATABASE",
        "DATABASE_FILE",
        "AMQP",
        "REDIS",
        "AUTH",
        "JWT_SECRET_FILE",
        "POLICY",
        "LOG",
    ] {
        assert!(help.contains(&format!("DOVETAIL_{named}")), "{named} is not in {help}");
    }
    assert!(!help.contains("hidden"), "{help}");
}

/// A service manager that changes its mind need not wait for a store that is away.
#[test]
fn it_can_be_stopped_while_it_waits_for_the_store() {
    let mut process = command()
        .args(
            [&["--admin", "127.0.0.1:0", "--listen", "127.0.0.1:0"][..], &SECRET, &DATABASE, &BROKER]
                .concat(),
        )
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.contains("waiting for Postgres")));
    let asked = Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
    assert!(asked.success());
    assert!(said.any(|line| line.contains("stopped before it served")));
    assert!(process.wait().unwrap().success());
}
