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
    ///
    /// A part is a crate: its unit tests, integration tests and doc tests; the tidy tests are of part xtask. All parts
    /// run, also after a failure. What does not build, and a test program that dies, count as one failed. The last line
    /// is `N passed, N failed`.
    ///
    /// Exit code: 0 when nothing failed, 1 otherwise, 2 when the command could not be carried out.
    Test(test::Args),
    /// Measure a server under load, and the same load on a bare axum server
    ///
    /// Each run starts a release build of standalone with an empty data folder, plays the trace against it as phones
    /// would, and then against a bare axum server, once holding polls for as long as half the people waited, once
    /// answering at once: what that one costs is what HTTP costs. Prints the median and each run of times, matches, CPU and memory. Tickets that nobody fits are waited for until they
    /// expire, a minute after the trace's end. Logs, reports and pairs stay in target/load. Needs Linux.
    ///
    /// Exit code: 0 when nothing happened that never may, 1 otherwise (it is named), 2 when it could not be measured.
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
