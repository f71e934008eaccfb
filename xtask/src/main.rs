//! Development commands: `cargo xtask test`, `cargo xtask load`.
//!
//! One module a command. A command starts only processes of its own and ends them by their id, also when it fails.
#![allow(clippy::print_stdout, reason = "these commands talk to the person who runs them")]

mod cargo;
mod load;
mod test;

use std::process::ExitCode;

use clap::Parser;

/// Development commands of Dovetail.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 110)]
enum Command {
    /// Build and run every test, then print the time of each part and how many passed
    Test(test::Args),
    /// Measure a server under load, and the same load on a bare axum server
    Load(load::Args),
}

/// How a command that could be carried out ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Bad,
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Test(args) => test::run(&args),
        Command::Load(args) => load::run(&args),
    };
    match done {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        #[allow(clippy::print_stderr, reason = "the last word of a command that could not be carried out")]
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Command::command().debug_assert();
    }
}
