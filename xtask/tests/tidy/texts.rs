//! Every text file: clean ends of lines, nothing unfinished, nothing that is true on one machine only.

use regex::Regex;

use crate::assert_none;
use crate::repository::{TextFile, text_files};

/// Endings of files that programs write, as they like.
const MADE_BY_PROGRAMS: &[&str] = &["ndjson", "lock"];

/// What is wrong with the ends of a file's lines, and with its tabs.
fn unclean(file: &TextFile) -> Vec<String> {
    let mut problems = Vec::new();
    if MADE_BY_PROGRAMS.iter().any(|ending| file.has_ending(ending)) {
        return problems;
    }
    if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
        problems.push(format!("{} does not end in exactly one newline", file.path));
    }
    for (number, line) in file.text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            problems.push(format!("{}:{} ends in a blank", file.path, number + 1));
        }
        if file.has_ending("rs") && line.contains('\t') {
            problems.push(format!("{}:{} holds a tab", file.path, number + 1));
        }
    }
    problems
}

#[test]
fn lines_end_cleanly() {
    let problems: Vec<String> = text_files().iter().flat_map(unclean).collect();
    assert_none(&problems, "`cargo fmt --all` mends Rust files; mend others by hand.");
}

#[test]
fn unclean_lines_are_found() {
    let complaints = |path: &str, text: &str| unclean(&TextFile::new(path, text)).len();
    for (path, text) in [
        ("a.md", "no newline"),
        ("a.md", "two\n\n"),
        ("a.md", "blank \n"),
        ("a.sh", "carriage return\r\n"),
        ("a.rs", "\tx\n"),
    ] {
        assert_eq!(complaints(path, text), 1, "{path} {text:?}");
    }
    for (path, text) in
        [("a.md", "x\n"), ("a.md", ""), ("Makefile", "\tx\n"), ("a.ndjson", "{} "), ("a.lock", "x")]
    {
        assert_eq!(complaints(path, text), 0, "{path} {text:?}");
    }
}

/// Places in files where a pattern is found.
fn find(pattern: &str) -> Vec<String> {
    let pattern = Regex::new(pattern).expect("a regular expression");
    let lines =
        text_files().iter().flat_map(|file| file.text.lines().enumerate().map(move |line| (file, line)));
    lines
        .filter(|(_, (_, line))| pattern.is_match(line))
        .map(|(file, (number, line))| format!("{}:{}: {}", file.path, number + 1, line.trim()))
        .collect()
}

// Written in pieces, so that this file does not find itself.
const UNFINISHED: &str =
    concat!(r"\b(TO", r"DO|FIX", r"ME|XX", r"X)\b|\b(to", r"do|unimple", r"mented)!|@[A-Z]{3,}@");
const ONE_MACHINE: &str = concat!(r"(^|[^\w./~}-])/(wo", r"rk|ro", r"ot|ho", r"me/\w+|Us", r"ers/\w+)/");

#[test]
fn nothing_is_left_unfinished() {
    let found = find(UNFINISHED);
    assert_none(&found, "Finish it, or leave it out; what is planned belongs in an issue.");
    let pattern = Regex::new(UNFINISHED).expect("a regular expression");
    assert!(pattern.is_match(concat!("// TO", "DO later")) && pattern.is_match(concat!("to", "do!()")));
    assert!(pattern.is_match(concat!("p99 is @NUM", "BER@")), "a figure that was to be filled in");
    assert!(!pattern.is_match("todo = \"warn\""));
}

#[test]
fn no_path_of_one_machine_is_named() {
    let found = find(ONE_MACHINE);
    assert_none(&found, "Write a path relative to the repository, or take it as an argument.");
    let pattern = Regex::new(ONE_MACHINE).expect("a regular expression");
    assert!(pattern.is_match(concat!("see /wo", "rk/x")) && pattern.is_match(concat!("`/ho", "me/ana/x`")));
    assert!(!pattern.is_match("http://x/work/y") && !pattern.is_match("net/root/x"));
}
