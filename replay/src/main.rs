//! Plays a trace of match requests and reports how well people were paired.

use std::process::ExitCode;

use clap::Parser;
use replay::cli::Cli;
use replay::run::{Verdict, run};

/// The run could not be made, as with a bad command line.
const NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(Verdict::Clean) => ExitCode::SUCCESS,
        Ok(Verdict::Faulty) => ExitCode::FAILURE,
        #[allow(clippy::print_stderr, reason = "the last word of a program that cannot do its work")]
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(NOT_RUN)
        }
    }
}
