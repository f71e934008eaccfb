//! How fast the engine is: `cargo bench -p matching-engine --bench engine [-- FILTER]`.
//!
//! Every command is timed on its own, because the slowest counts, and the whole run as well, because that is what a core
//! gets done. Only cases whose name contains the filter are run.

#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

mod people;
mod steady;
mod timings;

/// The allocator of the servers.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // Cargo passes `--bench`.
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with("--")).unwrap_or_default();
    steady::run_all(&filter);
}
