//! Cargo.toml and Cargo.lock: one version of everything, the same lints everywhere, no crate left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_metadata::Package;
use toml::{Table, Value};

use crate::assert_none;
use crate::repository::{TextFile, members, root, text_files};

const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Direct dependencies of which another crate needs a second version, and which crate that is.
const TWICE: &[(&str, &str)] = &[
    ("rand", "proptest, in tests"),
    ("rand_chacha", "proptest, in tests"),
    ("sha2", "sqlx-core; its Postgres part has ours"),
];

fn read(path: &str) -> Table {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn manifest_of(member: &Package) -> Table {
    read(&format!("{}/Cargo.toml", member.name))
}

/// Every dependency of a manifest, of whatever kind and platform.
fn dependencies(manifest: &Table) -> Vec<(String, Value)> {
    let tables = |of: &Table| -> Vec<(String, Value)> {
        let found = TABLES.iter().filter_map(|name| of.get(*name)?.as_table());
        found.flat_map(|table| table.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
    };
    let mut all = tables(manifest);
    if let Some(platforms) = manifest.get("target").and_then(Value::as_table) {
        all.extend(platforms.values().filter_map(Value::as_table).flat_map(tables));
    }
    all
}

/// The versions of each package in Cargo.lock.
fn locked(lock: &Table) -> BTreeMap<&str, Vec<&str>> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in lock["package"].as_array().expect("packages").iter().filter_map(Value::as_table) {
        let text = |key: &str| package[key].as_str().expect("a text");
        versions.entry(text("name")).or_default().push(text("version"));
    }
    versions
}

fn is_pre_release(version: &str) -> bool {
    version.split('+').next().is_some_and(|version| version.contains('-'))
}

/// Folders that hold a manifest and are not among the members. Cargo itself refuses a member without one.
fn forgotten(files: &[TextFile], listed: &BTreeSet<&str>) -> Vec<String> {
    let found = files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    found.filter(|folder| !listed.contains(folder)).map(str::to_owned).collect()
}

#[test]
fn every_folder_with_a_manifest_is_a_member() {
    let listed = members().iter().map(|member| member.name.as_str()).collect();
    let left = forgotten(text_files(), &listed);
    assert_none(&left, "Add it to `members` in Cargo.toml, or delete it: nobody builds it.");
}

#[test]
fn every_library_is_used() {
    let used: BTreeSet<&str> =
        members().iter().flat_map(|member| &member.dependencies).map(|used| used.name.as_str()).collect();
    let has_program = |member: &Package| member.targets.iter().any(|target| target.is_bin());
    let left: Vec<String> = members()
        .iter()
        .filter(|member| !has_program(member) && !used.contains(member.name.as_str()))
        .map(|member| member.name.to_string())
        .collect();
    assert_none(&left, "Nobody uses this crate, and it has no program: use it or delete it.");
}

/// Dependencies that state a version of their own.
fn stated_elsewhere(manifest: &Table) -> Vec<String> {
    let is_shared = |value: &Value| value.get("workspace").and_then(Value::as_bool) == Some(true);
    let own = dependencies(manifest).into_iter().filter(|(_, value)| !is_shared(value));
    own.map(|(name, _)| name).collect()
}

#[test]
fn versions_are_stated_once() {
    let mut problems = Vec::new();
    let mut used: BTreeSet<String> = members().iter().map(|member| member.name.to_string()).collect();
    for member in members() {
        let manifest = manifest_of(member);
        problems.extend(stated_elsewhere(&manifest).iter().map(|name| format!("{}: {name}", member.name)));
        used.extend(dependencies(&manifest).into_iter().map(|(name, _)| name));
    }
    assert_none(
        &problems,
        "State the version in [workspace.dependencies] and write `NAME.workspace = true` here.",
    );

    let manifest = read("Cargo.toml");
    let stated = manifest["workspace"]["dependencies"].as_table().expect("a table");
    let unused: Vec<String> = stated.keys().filter(|name| !used.contains(*name)).cloned().collect();
    assert_none(&unused, "No crate uses these: remove them from [workspace.dependencies].");
}

/// Whether a direct dependency has more versions than one, or one that is no release. An excuse that is not needed any
/// more is a problem too.
fn version_problem(name: &str, versions: &[&str], excused: bool) -> Option<String> {
    let is_bad = (versions.len() > 1) != excused || versions.iter().any(|version| is_pre_release(version));
    is_bad.then(|| format!("{name} {}", versions.join(" and ")))
}

#[test]
fn direct_dependencies_have_one_version() {
    let lock = read("Cargo.lock");
    let locked = locked(&lock);
    let direct: BTreeSet<&str> =
        members().iter().flat_map(|member| &member.dependencies).map(|used| used.name.as_str()).collect();
    let problems: Vec<String> = direct
        .iter()
        .filter_map(|name| {
            let excused = TWICE.iter().any(|(twice, _)| twice == name);
            version_problem(name, locked.get(name)?, excused)
        })
        .collect();
    assert_none(
        &problems,
        "A direct dependency has one version, and no pre-release: `cargo tree -i NAME` shows who needs the other. \
         TWICE in xtask/tests/tidy/manifests.rs holds the excused ones, and only those that need it.",
    );
}

fn takes_shared_lints(manifest: &Table) -> bool {
    let shared = manifest.get("lints").and_then(|lints| lints.get("workspace"));
    shared.and_then(Value::as_bool) == Some(true)
}

#[test]
fn unsafe_code_is_forbidden_everywhere() {
    let manifest = read("Cargo.toml");
    let level = manifest["workspace"]["lints"]["rust"]["unsafe_code"].as_str();
    assert_eq!(level, Some("forbid"), "[workspace.lints.rust] forbids unsafe_code");
    let without = members().into_iter().filter(|member| !takes_shared_lints(&manifest_of(member)));
    let without: Vec<String> = without.map(|member| member.name.to_string()).collect();
    assert_none(&without, "Write `[lints] workspace = true` in its Cargo.toml.");
}

#[test]
fn bad_manifests_are_found() {
    let files = [
        TextFile::new("Cargo.toml", ""),
        TextFile::new("a/Cargo.toml", ""),
        TextFile::new("b/Cargo.toml", ""),
    ];
    assert_eq!(forgotten(&files, &BTreeSet::from(["a"])), ["b"]);

    let table = |text: &str| -> Table { text.parse().expect("a manifest") };
    let own = table(
        "[dependencies]\na = \"1\"\nb.workspace = true\n[target.x.dev-dependencies]\nc = { version = \"2\" }\n",
    );
    assert_eq!(stated_elsewhere(&own), ["a", "c"]);

    assert!(version_problem("a", &["1.0.0", "2.0.0"], false).is_some());
    assert!(version_problem("a", &["1.0.0-rc.1"], false).is_some());
    assert!(version_problem("a", &["1.0.0"], true).is_some(), "an excuse that is not needed");
    assert_eq!(version_problem("a", &["1.2.2+spec-1.1.0"], false), None);

    assert!(takes_shared_lints(&table("[lints]\nworkspace = true\n")));
    assert!(!takes_shared_lints(&table("[lints.rust]\nunsafe_code = \"allow\"\n")));
}
