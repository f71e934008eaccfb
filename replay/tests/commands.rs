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

fn read_json(folder: &Path, name: &str) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn policies_are_compared_as_each_of_them_plays_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("quick.toml"), "[threshold]\nfall = \"100ms\"\n").unwrap();
    std::fs::write(folder.path().join("slow.toml"), "[threshold]\nfall = \"5s\"\n").unwrap();
    for seed in [1, 2] {
        let made = format!("generate --users 300 --seconds 3 --seed {seed} --out t{seed}.ndjson");
        assert!(replay(folder.path(), &made).status.success());
    }
    let compared = replay(
        folder.path(),
        "compare quick.toml slow.toml --trace t1.ndjson --trace t2.ndjson --speed 1,0.5 --json c.json",
    );
    assert_eq!(compared.status.code(), Some(0), "{compared:?}");

    let plays = read_json(folder.path(), "c.json");
    let plays = plays.as_array().unwrap();
    assert_eq!(plays.len(), 8);
    for play in plays {
        let named = |member: &str| play[member].as_str().unwrap();
        let (trace, policy, speed) = (named("trace"), named("policy"), &play["speed"]);
        let alone = format!("engine --trace {trace} --policy {policy} --speed {speed} --json one.json");
        assert!(replay(folder.path(), &alone).status.success());
        let (mut alone, mut report) = (read_json(folder.path(), "one.json"), play["report"].clone());
        // Real time is the one thing that differs.
        for report in [&mut alone, &mut report] {
            assert!(report.as_object_mut().unwrap().remove("elapsed_seconds").is_some());
        }
        assert_eq!(report, alone, "{trace} at {speed} with {policy}");
    }

    let page = String::from_utf8(compared.stdout).unwrap();
    let places = ["t1.ndjson at speed 1:", "t1.ndjson at speed 0.5:", "t2.ndjson at speed 1:"]
        .map(|title| page.find(title).unwrap());
    assert!(places.is_sorted(), "{page}");
    let lines: Vec<&str> = page.lines().collect();
    assert!(lines[2].contains("quick.toml") && lines[3].contains("slow.toml"), "{page}");
    let differences: Vec<_> = lines[4].split_whitespace().collect();
    assert!(differences[0].starts_with("+0.") && differences[1].starts_with('+'), "{page}");
}

#[test]
fn what_cannot_be_played_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.ndjson"), "{\"at_ms\":1}\n").unwrap();
    std::fs::write(folder.path().join("bad.toml"), "min_shared = 0\n").unwrap();
    std::fs::write(folder.path().join("ok.toml"), "").unwrap();
    assert!(replay(folder.path(), "generate --users 9 --seconds 1 --out t.ndjson").status.success());
    for (args, named) in [
        ("engine --trace missing.ndjson --json r.json", "missing.ndjson"),
        ("engine --trace bad.ndjson --json r.json", "bad.ndjson: line 1: user: is missing"),
        ("engine --trace t.ndjson --policy bad.toml --json r.json", "min_shared"),
        ("engine --trace t.ndjson --pairs no/p.ndjson --json r.json", "no/p.ndjson"),
        ("compare ok.toml bad.toml --trace t.ndjson --json r.json", "bad.toml"),
        ("compare ok.toml --trace t.ndjson --json r.json", "2 values required"),
        ("compare ok.toml ok.toml --trace t.ndjson --trace bad.ndjson --json r.json", "bad.ndjson"),
        ("http --url https://x --trace t.ndjson --json r.json", "https is not spoken here"),
    ] {
        let output = replay(folder.path(), args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.contains(named)), (Some(2), true), "{args}: {said}");
        assert!(output.stdout.is_empty() && !folder.path().join("r.json").exists(), "{args}");
    }
}
