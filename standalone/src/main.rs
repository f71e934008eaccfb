//! The whole job in one process: the API, an engine for every shard, and SQLite. No services, no set-up.

mod args;
mod banner;
mod process;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Args;

/// The system's allocator spends twice as much on the many small texts that come and go here.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    match start(&args) {
        Ok(code) => code,
        #[allow(
            clippy::print_stderr,
            reason = "the last word of a process that cannot start, whatever --log says"
        )]
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: &Args) -> anyhow::Result<ExitCode> {
    service::telemetry::start_logging(&args.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(process::run(args))
}
