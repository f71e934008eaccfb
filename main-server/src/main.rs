//! The API server: accepts tickets, tells the matching servers of them, and wakes the phones that wait.

mod args;
mod process;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use crate::args::Args;

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
    let runtime = args.runtime.start().context("cannot start threads")?;
    runtime.block_on(process::run(args))
}
