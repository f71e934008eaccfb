//! What the program says to whoever starts it wrongly: one clear line, and a failing exit code before any port is bound.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_matching-server"));
    // Only what is given here counts, whatever the tests' own environment says.
    command.env_clear();
    command
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let rest = ["--amqp", "amqp://127.0.0.1:1", "--redis", "redis://127.0.0.1:1", "--admin", "127.0.0.1:0"];
    for (arguments, named) in [
        (&[][..], "DOVETAIL_DATABASE_FILE"),
        (&["--database", "sqlite:x.db"], "standalone"),
        (
            &["--database", "postgres://127.0.0.1:1/d", "--policy", "no/such/policy.toml"],
            "no/such/policy.toml",
        ),
    ] {
        let output = command().args(rest).args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        let complaint = said.lines().last().unwrap();
        assert!(complaint.starts_with("error: ") && complaint.contains(named), "{arguments:?}: {complaint}");
    }
}

#[test]
fn help_lists_every_setting_with_its_variable() {
    let output = command().arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for named in
        ["ADMIN", "DATABASE", "DATABASE_FILE", "DATABASE_CONNECTIONS", "AMQP", "REDIS", "POLICY", "LOG"]
    {
        assert!(help.contains(&format!("DOVETAIL_{named}")), "{named} is not in {help}");
    }
}

/// A service manager that changes its mind need not wait for a store that is away.
#[test]
fn it_can_be_stopped_while_it_waits_for_the_store() {
    let mut process = command()
        .args(["--database", "postgres://127.0.0.1:1/d", "--admin", "127.0.0.1:0"])
        .args(["--amqp", "amqp://127.0.0.1:1", "--redis", "redis://127.0.0.1:1"])
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
