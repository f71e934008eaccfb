//! Documents name only what is there.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

use crate::assert_none;
use crate::repository::{TextFile, members, root, text_files};

/// Endings that make a back-ticked word with a slash a path of this tree.
const ENDINGS: &[&str] = &["rs", "toml", "md", "sql", "yml", "yaml", "json", "ndjson", "js", "conf", "sh"];

/// A document without its code blocks, line by line with the lines' numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push((at + 1, line));
        }
    }
    lines
}

/// Link targets that are files: no addresses of the web, no places within the page.
fn links(line: &str) -> Vec<String> {
    let link = Regex::new(r"\]\(<?([^)>\s]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)").expect("a regular expression");
    let targets = link.captures_iter(line).filter_map(|found| found.get(1).or(found.get(2)));
    let files = targets.map(|target| target.as_str().split('#').next().unwrap_or_default().to_owned());
    files.filter(|file| !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:")).collect()
}

/// Back-ticked words that look like paths of this tree.
fn paths(line: &str, top: &BTreeSet<String>) -> Vec<String> {
    let ticked = Regex::new(r"`([\w.-]+(?:/[\w.-]+)+/?|[\w.-]+/)`").expect("a regular expression");
    let looks_like_ours = |path: &String| {
        let first = path.split('/').next().unwrap_or_default();
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        first != "target" && (top.contains(first) || (ENDINGS.contains(&ending) && !first.is_empty()))
    };
    ticked.captures_iter(line).map(|found| found[1].to_owned()).filter(looks_like_ours).collect()
}

/// A path as seen from a document, without `.` and `..`. `None` when it leads out of the tree.
fn resolve(document: &str, target: &str) -> Option<PathBuf> {
    let mut path = match target.strip_prefix('/') {
        Some(_) => PathBuf::new(),
        None => Path::new(document).parent().unwrap_or(Path::new("")).to_owned(),
    };
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(path)
}

fn documents() -> impl Iterator<Item = &'static TextFile> {
    text_files().iter().filter(|file| file.has_ending("md"))
}

fn top_level() -> BTreeSet<String> {
    let first = |path: &String| path.split('/').next().unwrap_or_default().to_owned();
    text_files().iter().map(|file| first(&file.path)).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for document in documents() {
        for (number, line) in prose(&document.text) {
            for target in links(line) {
                if !resolve(&document.path, &target).is_some_and(|path| root().join(path).exists()) {
                    broken.push(format!("{}:{number}: {target}", document.path));
                }
            }
        }
    }
    assert_none(&broken, "There is no such file: mend the link, which is relative to the document.");
}

#[test]
fn named_paths_exist() {
    let top = top_level();
    let mut missing = Vec::new();
    for document in documents() {
        for (number, line) in prose(&document.text) {
            for path in paths(line, &top) {
                let beside = resolve(&document.path, &path).is_some_and(|path| root().join(path).exists());
                if !beside && !root().join(&path).exists() {
                    missing.push(format!("{}:{number}: {path}", document.path));
                }
            }
        }
    }
    assert_none(
        &missing,
        "The document names a file that is not there: it was moved or deleted, so say what is true.",
    );
}

#[test]
fn the_architecture_names_every_crate() {
    let Some(page) = documents().find(|document| document.path == "ARCHITECTURE.md") else { return };
    let left: Vec<String> = members()
        .iter()
        .filter(|member| !page.text.contains(&format!("{}/", member.name)))
        .map(|member| format!("{}/", member.name))
        .collect();
    assert_none(&left, "ARCHITECTURE.md says nothing of these crates.");
}

#[test]
fn links_and_paths_are_found() {
    assert_eq!(
        links("see [a](b.md#c), [d](https://x.org/y), [e](#f) and ![g](h/i.png \"t\")"),
        ["b.md", "h/i.png"]
    );
    assert_eq!(links("[a]: ../b.md"), ["../b.md"]);
    let top = BTreeSet::from(["store".to_owned()]);
    let line =
        "`store/src/gone.rs`, `xyz/lib.rs`, `store/`, `GET /v1/tickets`, `a/b`, `target/x.rs`, store/no";
    assert_eq!(paths(line, &top), ["store/src/gone.rs", "xyz/lib.rs", "store/"]);
    assert_eq!(prose("a\n```\nb\n```\nc"), [(1, "a"), (5, "c")]);
    assert_eq!(resolve("docs/adr/1.md", "../a.md"), Some("docs/a.md".into()));
    assert_eq!(resolve("README.md", "../a.md"), None);
}
