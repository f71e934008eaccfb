//! What every process needs to run: the policy file, telemetry, lifecycle and group commit.

pub mod policy;
