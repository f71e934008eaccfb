//! The whole job in one process: the API, an engine for every shard, and SQLite. No services, no set-up.

mod args;
mod banner;
mod process;

use std::num::NonZero;
use std::process::ExitCode;

use clap::Parser as _;
use service::shutdown::exit_code;

use crate::args::Args;

fn main() -> ExitCode {
    exit_code(start(&Args::parse()))
}

fn start(args: &Args) -> anyhow::Result<ExitCode> {
    service::telemetry::start_logging(&args.log)?;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    // SQLite works on threads of its own: a core is left to them.
    let workers = cores.saturating_sub(1).max(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    runtime.block_on(process::run(args))
}
