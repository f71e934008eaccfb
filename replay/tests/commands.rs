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
    std::fs::write(folder.path().join("quick.toml"), "expire_after = \"500ms\"\n").unwrap();
    std::fs::write(folder.path().join("slow.toml"), "expire_after = \"60s\"\n").unwrap();
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
fn a_sweep_plays_every_combination_and_marks_the_frontier() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("base.toml"), "pool_bound = 500\n").unwrap();
    assert!(replay(folder.path(), "generate --users 300 --seconds 3 --out t.ndjson").status.success());
    let swept = replay(
        folder.path(),
        "sweep --trace t.ndjson --policy base.toml --set expire_after=1s,2s,20s --set min_shared=1,3 \
         --speed 1,10 --csv s.csv --svg s.svg",
    );
    assert_eq!(swept.status.code(), Some(0), "{swept:?}");

    let mut rows = csv::Reader::from_path(folder.path().join("s.csv")).unwrap();
    let titles: Vec<_> = rows.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(titles[..4], ["expire_after", "min_shared", "speed", "similarity_ratio"]);
    let rows: Vec<Vec<String>> =
        rows.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
    assert_eq!((rows.len(), titles.len()), (12, 12));
    let cell = |row: &[String], title: &str| row[titles.iter().position(|t| t == title).unwrap()].clone();
    let number = |row: &[String], title: &str| cell(row, title).parse::<f64>().unwrap();
    for row in &rows {
        let policy = format!(
            "pool_bound = 500\nmin_shared = {}\nexpire_after = \"{}\"\n",
            cell(row, "min_shared"),
            cell(row, "expire_after")
        );
        std::fs::write(folder.path().join("one.toml"), policy).unwrap();
        let alone = format!(
            "engine --trace t.ndjson --policy one.toml --speed {} --json one.json",
            cell(row, "speed")
        );
        assert!(replay(folder.path(), &alone).status.success());
        let alone = read_json(folder.path(), "one.json");
        assert_eq!(number(row, "similarity_ratio"), alone["similarity_ratio"].as_f64().unwrap(), "{row:?}");
        assert_eq!(number(row, "wait_mean_ms"), alone["wait_ms"]["mean"].as_f64().unwrap(), "{row:?}");
        let rarest = &alone["by_rarity"][0];
        assert_eq!(number(row, "rarest_tenth_matched_share"), rarest["matched_share"].as_f64().unwrap());

        let (ratio, wait) = (number(row, "similarity_ratio"), number(row, "wait_mean_ms"));
        let beats = |other: &&Vec<String>| {
            let (more, less) = (number(other, "similarity_ratio"), number(other, "wait_mean_ms"));
            cell(other, "speed") == cell(row, "speed")
                && more >= ratio
                && less <= wait
                && (more, less) != (ratio, wait)
        };
        assert_eq!(cell(row, "on_frontier") == "false", rows.iter().any(|other| beats(&other)), "{row:?}");
    }
    assert!(rows.iter().any(|row| cell(row, "on_frontier") == "false"), "some are beaten");
    let svg = std::fs::read_to_string(folder.path().join("s.svg")).unwrap();
    assert_eq!(svg.matches("<circle").count(), 12);
    let page = String::from_utf8(swept.stdout).unwrap();
    assert!(
        page.contains("t.ndjson at speed 10:") && page.contains("expire_after = 20s, min_shared = 1"),
        "{page}"
    );
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
        (
            "sweep --trace t.ndjson --set widen.aftr=1s --csv r.json",
            "`aftr`, expected one of `enabled`, `after`",
        ),
        ("sweep --trace t.ndjson --csv r.json", "--set"),
        (
            "sweep --trace t.ndjson --set min_shared=1 --speed 1,2,3,4,5,6,7,8 --csv r.json",
            "at most 7 speeds",
        ),
        ("http --url https://x --trace t.ndjson --json r.json", "https is not spoken here"),
    ] {
        let output = replay(folder.path(), args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.contains(named)), (Some(2), true), "{args}: {said}");
        assert!(output.stdout.is_empty() && !folder.path().join("r.json").exists(), "{args}");
    }
}
