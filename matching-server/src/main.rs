//! The matching server: holds a share of the shards and pairs the people who wait there.

mod args;
mod process;

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use service::shutdown::exit_code;

use crate::args::Args;

fn main() -> ExitCode {
    exit_code(start(&Args::parse()))
}

fn start(args: &Args) -> anyhow::Result<ExitCode> {
    service::telemetry::start_logging(&args.server.log)?;
    let runtime = args.server.runtime.start().context("cannot start threads")?;
    runtime.block_on(process::run(args))
}
