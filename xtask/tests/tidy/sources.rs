//! The source files: all alive, none too long, each kind of work where it belongs.

use std::collections::BTreeSet;

use regex::Regex;

use crate::assert_none;
use crate::repository::{TextFile, members, root, sources_of, text_files};

const MAX_LINES: usize = 400;

/// The files that a file declares as modules: the text, its path, and whether it is a crate's root.
fn declared(text: &str, path: &str, is_root: bool) -> Vec<String> {
    let module = Regex::new(
        r#"(?m)^(?:[ \t]*#\[path = "([^"]+)"\]\s*)?[ \t]*(?:pub(?:\([^)]*\))? )?mod (?:r#)?(\w+);"#,
    )
    .expect("a regular expression");
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.trim_end_matches(".rs");
    let below = if is_root || stem == "mod" { folder.to_owned() } else { format!("{folder}/{stem}") };
    let mut files = Vec::new();
    for found in module.captures_iter(text) {
        match found.get(1) {
            Some(path) => files.push(format!("{folder}/{}", path.as_str())),
            None => {
                files.push(format!("{below}/{}.rs", &found[2]));
                files.push(format!("{below}/{}/mod.rs", &found[2]));
            }
        }
    }
    files
}

fn unreached(files: &[&TextFile], roots: Vec<String>) -> Vec<String> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<(String, bool)> = roots.into_iter().map(|root| (root, true)).collect();
    while let Some((path, is_root)) = left.pop() {
        let Some(file) = files.iter().find(|file| file.path == path) else { continue };
        if reached.insert(path.clone()) {
            left.extend(declared(&file.text, &path, is_root).into_iter().map(|path| (path, false)));
        }
    }
    files.iter().map(|file| &file.path).filter(|path| !reached.contains(*path)).cloned().collect()
}

#[test]
fn every_source_is_compiled() {
    let sources: Vec<&TextFile> = text_files().iter().filter(|file| file.has_ending("rs")).collect();
    let targets = members().into_iter().flat_map(|member| &member.targets);
    let roots = targets.filter_map(|target| target.src_path.strip_prefix(root()).ok());
    let dead = unreached(&sources, roots.map(ToString::to_string).collect());
    assert_none(&dead, "No `mod` leads here, so nobody compiles it: declare it or delete it.");
}

fn too_long(file: &TextFile) -> Option<String> {
    let lines = file.text.lines().count();
    (lines > MAX_LINES).then(|| format!("{} has {lines} lines", file.path))
}

#[test]
fn sources_are_short() {
    let sources = members().into_iter().flat_map(|member| sources_of(&member.name));
    let long: Vec<String> = sources.filter_map(too_long).collect();
    assert_none(&long, "At 400 lines a file holds more than one idea: give the other a file of its own.");
}

/// The lines of sources that match, with their places.
fn find<'f>(files: impl Iterator<Item = &'f TextFile>, pattern: &str) -> Vec<String> {
    let pattern = Regex::new(pattern).expect("a regular expression");
    let mut found = Vec::new();
    for file in files {
        for (number, line) in file.text.lines().enumerate() {
            if !line.trim_start().starts_with("//") && pattern.is_match(line) {
                found.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    found
}

const SQL: &str =
    r"\b(SELECT|INSERT INTO|DELETE FROM|CREATE TABLE|ALTER TABLE|ON CONFLICT)\b|\bUPDATE \w+ SET\b|\bsqlx::";
/// A clock, the outside world, and what is made for servers.
const IMPURE: &str = concat!(
    r"\bInstant::now\b|\bSystemTime\b|\be?print(ln)?!|\bdbg!",
    r"|\bstd::(fs|net|thread|env|process|io)\b|\bstd::\{[^}]*\b(fs|net|thread|env|process|io)\b",
    r"|\basync (fn|move|\{)|\b(tokio|serde|tracing|metrics|rand)::"
);

#[test]
fn only_the_store_holds_sql() {
    let others = members().into_iter().filter(|member| member.name != "store");
    let found = find(others.flat_map(|member| sources_of(&member.name)), SQL);
    assert_none(&found, "SQL is written in store/src alone: add a method to its trait.");
}

#[test]
fn the_engine_is_pure() {
    let found = find(sources_of("matching-engine"), IMPURE);
    assert_none(&found, "The engine takes time and chance as arguments and touches nothing outside itself.");
}

#[test]
fn what_is_searched_for_is_found() {
    let file = |text: &str| TextFile::new("a/src/lib.rs", text);
    assert!(too_long(&file(&"x\n".repeat(MAX_LINES + 1))).is_some());
    assert_eq!(too_long(&file(&"x\n".repeat(MAX_LINES))), None);
    for sql in ["\"SELECT id FROM x\"", "INSERT INTO t", "UPDATE tickets SET state", "use sqlx::Row;"] {
        assert_eq!(find([file(sql)].iter(), SQL).len(), 1, "{sql}");
    }
    for impure in [
        "Instant::now()",
        "println!(\"x\")",
        "use std::{fmt, fs};",
        "std::thread::yield_now()",
        "async fn x() {",
    ] {
        assert_eq!(find([file(impure)].iter(), IMPURE).len(), 1, "{impure}");
    }
    for fine in ["// an Instant::now() in prose", "use std::fmt;", "let fs = 1;"] {
        assert_eq!(find([file(fine)].iter(), IMPURE), Vec::<String>::new());
    }
}

#[test]
fn dead_files_are_found() {
    let file = TextFile::new;
    let files = [
        file("a/src/lib.rs", "pub(crate) mod b;\nmod c;\nmod tests {\n    mod x {}\n}"),
        file("a/src/b.rs", "mod d;"),
        file("a/src/b/d.rs", ""),
        file("a/src/c/mod.rs", "#[path = \"odd.rs\"]\nmod e;"),
        file("a/src/c/odd.rs", ""),
        file("a/src/d.rs", ""),
    ];
    let files: Vec<&TextFile> = files.iter().collect();
    assert_eq!(unreached(&files, vec!["a/src/lib.rs".to_owned()]), ["a/src/d.rs"]);
}
