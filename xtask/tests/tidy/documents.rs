//! Documents name only what is there.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

use crate::assert_none;
use crate::repository::{TextFile, members, root, text_files};

/// Endings that make a back-ticked word with a slash a path of this tree.
const ENDINGS: &[&str] =
    &["rs", "toml", "md", "sql", "yml", "yaml", "json", "ndjson", "js", "ts", "conf", "sh"];

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

/// Links of a document to what is not there.
fn broken_links(document: &TextFile) -> Vec<String> {
    let leads =
        |target: &String| resolve(&document.path, target).is_some_and(|path| root().join(path).exists());
    let of_line = |(number, line)| links(line).into_iter().map(move |target| (number, target));
    let broken = prose(&document.text).into_iter().flat_map(of_line).filter(|(_, target)| !leads(target));
    broken.map(|(number, target)| format!("{}:{number}: {target}", document.path)).collect()
}

/// Whether it is one of the files that `secrets/make` makes.
fn is_made_later(path: &str) -> bool {
    let makes =
        |name: &str| text_files().iter().any(|file| file.path == "secrets/make" && file.text.contains(name));
    path.strip_prefix("secrets/").is_some_and(makes)
}

/// Back-ticked paths of a document that are neither beside it nor below the root.
fn missing_paths(document: &TextFile, top: &BTreeSet<String>) -> Vec<String> {
    let is_there = |path: &String| {
        let beside = resolve(&document.path, path).is_some_and(|path| root().join(path).exists());
        beside || root().join(path).exists() || is_made_later(path)
    };
    let of_line = |(number, line)| paths(line, top).into_iter().map(move |path| (number, path));
    let missing = prose(&document.text).into_iter().flat_map(of_line).filter(|(_, path)| !is_there(path));
    missing.map(|(number, path)| format!("{}:{number}: {path}", document.path)).collect()
}

#[test]
fn links_lead_somewhere() {
    let broken: Vec<String> = documents().flat_map(broken_links).collect();
    assert_none(&broken, "There is no such file: mend the link, which is relative to the document.");
}

#[test]
fn named_paths_exist() {
    let top = top_level();
    let missing: Vec<String> = documents().flat_map(|document| missing_paths(document, &top)).collect();
    assert_none(
        &missing,
        "The document names a file that is not there: it was moved or deleted, so say what is true.",
    );
}

#[test]
fn the_architecture_names_every_crate() {
    let page = documents().find(|document| document.path == "ARCHITECTURE.md").expect("ARCHITECTURE.md");
    let names = members().into_iter().map(|member| format!("`{}`", member.name));
    let left: Vec<String> = names.filter(|name| !page.text.contains(name.as_str())).collect();
    assert_none(&left, "ARCHITECTURE.md says nothing of these crates: say what each is for.");
}

#[test]
fn what_is_not_there_is_missed() {
    let page = TextFile::new(
        "xtask/page.md",
        "[a](gone.md) [b](Cargo.toml)\n`xtask/src/gone.rs` `src/main.rs` `xtask/src/`\n",
    );
    assert_eq!(broken_links(&page), ["xtask/page.md:1: gone.md"]);
    assert_eq!(missing_paths(&page, &top_level()), ["xtask/page.md:2: xtask/src/gone.rs"]);
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
