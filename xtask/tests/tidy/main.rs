//! Tidy: the rules of the tree, each a test. A rule that no test holds is not a rule.
//!
//! A rule is a function from texts to problems; its test runs it over the tree, and a second one shows that it can fail.

mod containers;
mod dashboards;
mod documents;
mod layers;
mod manifests;
mod metrics;
mod repository;
mod sources;
mod texts;

/// Fails with every problem and what to do about them.
#[track_caller]
fn assert_none(problems: &[String], advice: &str) {
    assert!(problems.is_empty(), "\n  {}\n{advice}\n", problems.join("\n  "));
}
