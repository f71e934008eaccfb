//! Cargo.toml and Cargo.lock: one version of everything, the same lints everywhere, no crate left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use toml::{Table, Value};

use crate::assert_none;
use crate::repository::{members, root, text_files, workspace};

const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Direct dependencies of which another crate needs a second version, and which crate that is.
const TWICE: &[(&str, &str)] = &[("rand", "proptest, in tests"), ("rand_chacha", "proptest, in tests")];

fn read(path: &str) -> Table {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.parse().unwrap_or_else(|error| panic!("{path}: {error}"))
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

#[test]
fn every_folder_with_a_manifest_is_a_member() {
    let listed: BTreeSet<&str> = members().iter().map(|member| member.name.as_str()).collect();
    let found = text_files().iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    let left: Vec<String> = found.filter(|folder| !listed.contains(folder)).map(str::to_owned).collect();
    assert_none(&left, "Add it to `members` in Cargo.toml, or delete it: nobody builds it.");
}

#[test]
fn every_library_is_used() {
    let used: BTreeSet<&str> =
        members().iter().flat_map(|member| &member.dependencies).map(|used| used.name.as_str()).collect();
    let is_program = |member: &&&cargo_metadata::Package| member.targets.iter().any(|target| target.is_bin());
    let left: Vec<String> = members()
        .iter()
        .filter(|member| !is_program(member) && !used.contains(member.name.as_str()))
        .map(|member| member.name.to_string())
        .collect();
    assert_none(&left, "Nobody uses this crate, and it has no program: use it or delete it.");
}

#[test]
fn versions_are_stated_once() {
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    for member in members() {
        for (name, value) in dependencies(&read(&format!("{}/Cargo.toml", member.name))) {
            if value.get("workspace").and_then(Value::as_bool) != Some(true) {
                problems.push(format!("{}: {name}", member.name));
            }
            used.insert(name);
        }
    }
    assert_none(
        &problems,
        "State the version in [workspace.dependencies] and write `NAME.workspace = true` here.",
    );

    let manifest = read("Cargo.toml");
    let stated = manifest["workspace"]["dependencies"].as_table().expect("a table");
    let names: BTreeSet<&str> = members().iter().map(|member| member.name.as_str()).collect();
    let unused: Vec<String> = stated
        .keys()
        .filter(|name| !used.contains(*name) && !names.contains(name.as_str()))
        .cloned()
        .collect();
    assert_none(&unused, "No crate uses these: remove them from [workspace.dependencies].");
}

#[test]
fn direct_dependencies_have_one_version() {
    let lock = read("Cargo.lock");
    let locked = locked(&lock);
    let direct: BTreeSet<&str> =
        members().iter().flat_map(|member| &member.dependencies).map(|used| used.name.as_str()).collect();
    let problems: Vec<String> = direct
        .iter()
        .filter_map(|name| Some((name, locked.get(name)?)))
        .filter(|(name, versions)| {
            let excused = TWICE.iter().any(|(twice, _)| twice == *name);
            // An excuse that is not needed any more is a problem too.
            (versions.len() > 1) != excused || versions.iter().any(|version| is_pre_release(version))
        })
        .map(|(name, versions)| format!("{name} {}", versions.join(" and ")))
        .collect();
    assert_none(
        &problems,
        "A direct dependency has one version, and no pre-release: `cargo tree -i NAME` shows who needs the other. \
         TWICE in xtask/tests/tidy/manifests.rs holds the excused ones, and only those that need it.",
    );
    assert!(is_pre_release("1.0.0-rc.1") && !is_pre_release("1.2.2+spec-1.1.0"));
}

#[test]
fn unsafe_code_is_forbidden_everywhere() {
    let manifest = read("Cargo.toml");
    let level = manifest["workspace"]["lints"]["rust"]["unsafe_code"].as_str();
    assert_eq!(level, Some("forbid"), "[workspace.lints.rust] forbids unsafe_code");
    let without: Vec<String> = members()
        .iter()
        .filter(|member| {
            let manifest = read(&format!("{}/Cargo.toml", member.name));
            let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
            lints.and_then(Value::as_bool) != Some(true)
        })
        .map(|member| member.name.to_string())
        .collect();
    assert_none(&without, "Write `[lints] workspace = true` in its Cargo.toml.");
    assert!(workspace().workspace_default_packages().iter().any(|member| member.name == "standalone"));
}
