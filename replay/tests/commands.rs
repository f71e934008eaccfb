//! The program as it is started: what it writes, and its exit code.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

fn replay(folder: &Path, args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_replay")).args(args.split(' ')).current_dir(folder).output().unwrap()
}

#[test]
fn a_generated_trace_is_played_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let made = replay(folder.path(), "generate --users 300 --seconds 2 --districts 2 --out t.ndjson");
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let played = replay(folder.path(), "engine --trace t.ndjson --json r.json --pairs p.ndjson");
    assert_eq!(played.status.code(), Some(0), "{played:?}");
    assert!(String::from_utf8(played.stdout).unwrap().starts_with("300 requests through the engine"));
    let report = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["submitted"], 300);
    let pairs = std::fs::read_to_string(folder.path().join("p.ndjson")).unwrap();
    assert_eq!(report["pairs"], pairs.lines().count());
    assert!(report["cross_region_pairs"].as_u64().unwrap() > 0, "scopes widen from districts");
}

#[test]
fn what_cannot_be_played_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.ndjson"), "{\"at_ms\":1}\n").unwrap();
    std::fs::write(folder.path().join("bad.toml"), "min_shared = 0\n").unwrap();
    assert!(replay(folder.path(), "generate --users 9 --seconds 1 --out t.ndjson").status.success());
    for (args, named) in [
        ("engine --trace missing.ndjson --json r.json", "missing.ndjson"),
        ("engine --trace bad.ndjson --json r.json", "bad.ndjson: line 1: user: is missing"),
        ("engine --trace t.ndjson --policy bad.toml --json r.json", "min_shared"),
        ("engine --trace t.ndjson --pairs no/p.ndjson --json r.json", "no/p.ndjson"),
        ("http --url https://x --trace t.ndjson --json r.json", "https is not spoken here"),
    ] {
        let output = replay(folder.path(), args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.contains(named)), (Some(2), true), "{args}: {said}");
        assert!(output.stdout.is_empty() && !folder.path().join("r.json").exists(), "{args}");
    }
}
