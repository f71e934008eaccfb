//! How fast the engine is: `cargo bench -p matching-engine --bench engine [-- FILTER]`.
//!
//! Every command is timed on its own, because the slowest counts, and the whole run as well, because that is what a core
//! gets done. Only cases whose name, with a slash at its end, contains the filter are run; a million waiting only when the
//! filter names that number. Fails when a command takes longer than any may, whoever comes.

#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

mod adversaries;
mod obvious;
mod people;
mod steady;
mod timings;

use std::process::ExitCode;

/// The allocator of the servers.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Cargo passes `--bench`.
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with("--")).unwrap_or_default();
    steady::run_all(&filter);
    obvious::run_all(&filter);
    if adversaries::run_all(&filter) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
