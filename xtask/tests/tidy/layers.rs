//! Who may use whom.

use cargo_metadata::{DependencyKind, Package};

use crate::assert_none;
use crate::repository::{members, workspace};

/// Every crate and the crates of the workspace that it may use: only ones further up.
const LAYERS: &[(&str, &[&str])] = &[
    ("proto", &[]),
    ("matching-engine", &[]),
    ("store", &["proto"]),
    ("service", &["proto", "matching-engine", "store"]),
    // Never the engine: an API server that pairs people cannot be scaled apart from it.
    ("main-server", &["proto", "store", "service"]),
    ("matching-server", &["proto", "matching-engine", "store", "service"]),
    ("standalone", &["proto", "matching-engine", "store", "service", "main-server", "matching-server"]),
    ("notifier", &["proto", "store", "service"]),
    // Never the servers nor the store: a measure of a server must not be made of it.
    ("replay", &["proto", "matching-engine", "service"]),
    ("testkit", &["proto", "matching-engine", "store", "service"]),
    ("xtask", &["service", "testkit"]),
];

/// Crates that never ship.
const DEVELOPMENT: &[&str] = &["testkit", "xtask"];

/// Starts and breaks the real services, so it talks to them itself.
const TESTKIT: &str = "testkit";

/// Crates from outside that only some may use.
const RESERVED: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("deadpool-lapin", &["service"]),
    ("lapin", &["service", "main-server", "matching-server"]),
    ("redis", &["service"]),
    ("fred", &["service"]),
    ("deadpool-redis", &["service"]),
];

/// What the contract may be made of.
const PROTO_MAY_USE: &[&str] = &["serde", "serde_json", "caseless"];

fn shipped(member: &Package) -> impl Iterator<Item = &str> {
    let ships =
        member.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
    ships.map(|dependency| dependency.name.as_str())
}

/// Whether `user` must not use `used`, and why.
fn objection(user: &str, used: &str, is_member: bool) -> Option<String> {
    let allowed = LAYERS.iter().find(|(name, _)| *name == user).map_or(&[][..], |(_, allowed)| allowed);
    let reserved = RESERVED.iter().find(|(name, _)| *name == used).map(|(_, users)| *users);
    if user == "matching-engine" {
        return Some(format!("matching-engine uses {used}: the engine uses the standard library alone"));
    }
    if is_member {
        return (!allowed.contains(&used)).then(|| format!("{user} uses {used}"));
    }
    if user == "proto" && !PROTO_MAY_USE.contains(&used) && !used.starts_with("unicode-") {
        return Some(format!("proto uses {used}: the contract is made of serde and Unicode crates alone"));
    }
    let users = reserved.filter(|users| user != TESTKIT && !users.contains(&user))?;
    Some(format!("{user} uses {used}: only {} may", users.join(", ")))
}

#[test]
fn crates_use_only_what_lies_above_them() {
    let names: Vec<&str> = members().iter().map(|member| member.name.as_str()).collect();
    let problems: Vec<String> = members()
        .iter()
        .flat_map(|member| shipped(member).map(|used| (member.name.as_str(), used)))
        .filter_map(|(user, used)| objection(user, used, names.contains(&used)))
        .collect();
    assert_none(
        &problems,
        "Move the code to the crate that may use it. If the layering is wrong, change LAYERS in \
         xtask/tests/tidy/layers.rs, and write down why in docs/adr/.",
    );
}

#[test]
fn every_crate_has_a_place() {
    let missing: Vec<String> = members()
        .iter()
        .filter(|member| !LAYERS.iter().any(|(name, _)| *name == member.name.as_str()))
        .map(|member| format!("{} has no place", member.name))
        .collect();
    assert_none(&missing, "Add it to LAYERS in xtask/tests/tidy/layers.rs, below all it may use.");

    let folders: Vec<String> = members()
        .iter()
        .filter(|member| {
            member.manifest_path != workspace().workspace_root.join(member.name.as_str()).join("Cargo.toml")
        })
        .map(|member| format!("{} lies at {}", member.name, member.manifest_path))
        .collect();
    assert_none(&folders, "A crate's folder lies at the root and has the crate's name.");
}

#[test]
fn layers_only_point_upwards() {
    for (at, (name, allowed)) in LAYERS.iter().enumerate() {
        for used in *allowed {
            let above = LAYERS[..at].iter().any(|(above, _)| above == used);
            assert!(above, "LAYERS lets {name} use {used}, which is not above it");
            let ships = !DEVELOPMENT.contains(name);
            assert!(
                !ships || !DEVELOPMENT.contains(used),
                "LAYERS lets {name} use {used}, which never ships"
            );
        }
    }
}

#[test]
fn what_must_not_be_used_is_objected_to() {
    for (user, used, is_member) in [
        ("proto", "store", true),
        ("proto", "tokio", false),
        ("matching-engine", "serde", false),
        ("matching-engine", "proto", true),
        ("main-server", "matching-engine", true),
        ("main-server", "matching-server", true),
        ("matching-server", "main-server", true),
        ("replay", "store", true),
        ("standalone", "testkit", true),
        ("standalone", "xtask", true),
        ("service", "sqlx", false),
        ("store", "lapin", false),
        ("main-server", "redis", false),
        ("xtask", "lapin", false),
    ] {
        assert!(objection(user, used, is_member).is_some(), "{user} may use {used}");
    }
    for (user, used, is_member) in [
        ("proto", "unicode-normalization", false),
        ("store", "sqlx", false),
        ("testkit", "lapin", false),
        ("service", "redis", false),
        ("standalone", "main-server", true),
    ] {
        assert_eq!(objection(user, used, is_member), None);
    }
}
