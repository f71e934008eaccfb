//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::generate::{DEFAULT_REGIONS, RegionShare};
use crate::server::BaseUrl;
use crate::sweep::Choice;

/// Plays a trace of match requests and reports how many people were paired, how well, and how fast.
///
/// A trace is one JSON object a line: {"at_ms":0,"user":"ana","region":"kr.seoul","interests":["pop","jazz"]}
#[derive(Debug, Parser)]
#[command(name = "replay", version, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play a trace through the pairing engine in simulated time: how would this policy do on this traffic?
    Engine(EngineArgs),
    /// Play a trace against running servers, each user waiting as a phone would.
    ///
    /// The schedule never waits for answers. Each user posts a ticket and then long-polls it until its state is
    /// final. Lost answers and unknown outcomes are tried again with growing pauses; any other 429 or 503 counts as
    /// rejected and is not tried again. Ctrl-C ends the run early and prints the report so far.
    ///
    /// Exit code: 0 when nothing happened that never may, 1 otherwise (the report names it), 2 when the run could not
    /// be made.
    Http(HttpArgs),
    /// Play the same traces with several policies and show how they differ, in simulated time.
    ///
    /// Everything that `replay engine` does, for each trace at each speed with each policy, on every processor.
    Compare(CompareArgs),
    /// Play a trace with every combination of some settings and find those that give the most similarity for the
    /// shortest wait, in simulated time.
    ///
    /// Prints the frontier of each speed: the combinations to which no other gives as much similarity for as short a
    /// mean wait.
    Sweep(SweepArgs),
    /// Write a synthetic trace with realistically skewed interests.
    Generate(GenerateArgs),
}

/// Where results go.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Write the report as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the pairs to this file, one JSON a line
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// Leave out the best possible total similarity, which takes 0.2 s for 10,000 requests in 17 regions, 5 s for
    /// 30,000 in 6, and grows with the square of a region's requests
    #[arg(long)]
    pub no_bound: bool,
}

/// `replay engine`
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// The trace to play
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    /// The policy to play it with; without one, the defaults of the servers
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// How many times faster than in the trace requests come: its times are divided by this. Waits stay as they are
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_speed)]
    pub speed: f64,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `replay http`
#[derive(Debug, Args)]
pub struct HttpArgs {
    /// Servers, comma-separated; a user submits at one and waits at the next
    #[arg(long, value_name = "URL", value_delimiter = ',', required = true)]
    pub url: Vec<BaseUrl>,
    /// The trace to play
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    /// How many times faster than in the trace requests are sent: its times are divided by this. Waits stay as they are
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_speed)]
    pub speed: f64,
    /// How long after the last request to wait for tickets to settle (expire_after and a margin)
    #[arg(long, value_name = "DURATION", default_value = "70s", value_parser = humantime::parse_duration)]
    pub timeout: Duration,
    /// File with the secret that tokens are signed with, for servers with --auth jwt; without it dev tokens are sent
    #[arg(long, value_name = "FILE")]
    pub jwt_secret_file: Option<PathBuf>,
    /// Send an Idempotency-Key with each request, the same when it is repeated. For runs in which answers are lost:
    /// without it a repeat finds the ticket only while it waits, and makes another once it was matched, which the
    /// report then shows as told to one side
    #[arg(long)]
    pub idempotency_keys: bool,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `replay compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The policies; differences are to the first
    #[arg(value_name = "POLICY", required = true, num_args = 2..)]
    pub policies: Vec<PathBuf>,
    /// A trace to play; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    pub trace: Vec<PathBuf>,
    /// Speeds to play each trace at, comma-separated, as for `replay engine`
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1", value_parser = parse_speed)]
    pub speed: Vec<f64>,
    /// Write all reports as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// `replay sweep`
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The trace to play
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    /// Speeds to play it at, comma-separated, as for `replay engine`
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1", value_parser = parse_speed)]
    pub speed: Vec<f64>,
    /// The policy that the settings are changed in; without one, the defaults of the servers
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// A setting of the policy file, dotted, and the values to try: widen.after=3s,5s. May be given several times;
    /// at most 1000 combinations are played
    #[arg(long, value_name = "KEY=VALUE[,VALUE…]", required = true)]
    pub set: Vec<Choice>,
    /// Write every combination and speed to this file, one a row
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Plot mean waits against similarity ratios to this file, with the frontier of each speed
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `replay generate`
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// How many requests, each of another user
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub users: u32,
    /// Over how many seconds they arrive, uniformly
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// Regions and their weights, comma-separated
    #[arg(long, value_name = "REGION=WEIGHT", value_delimiter = ',', default_value = DEFAULT_REGIONS)]
    pub regions: Vec<RegionShare>,
    /// Divide each region into N equally likely districts, one label deeper: kr.seoul.d1, kr.seoul.d2
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub districts: u16,
    /// The same seed gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The trace to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err("is not a number above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn bad_values_are_refused_with_a_reason() {
        for (args, named) in [
            (vec!["http", "--url", "https://x", "--trace", "t"], "https"),
            (vec!["http", "--url", "http://x:1", "--trace", "t", "--speed", "0"], "above 0"),
            (vec!["http", "--trace", "t"], "--url"),
            (vec!["generate", "--users", "0", "--seconds", "1", "--out", "t"], "--users"),
            (vec!["generate", "--users", "1", "--seconds", "1", "--regions", "KR", "--out", "t"], "KR"),
        ] {
            let error = Cli::try_parse_from([vec!["replay"], args].concat()).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
