//! Logs to standard error; warnings and errors also count as metrics.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::log_filter;
use crate::metrics::CountLogEvents;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Where logs go and how much of them.
#[derive(Debug, Clone, clap::Args)]
pub struct LogArgs {
    /// What to log: a level (error, warn, info, debug, trace) or a filter such as info,store=debug
    #[arg(long, env = "DOVETAIL_LOG", default_value = "info")]
    pub log: String,
    /// How log lines look
    #[arg(long, env = "DOVETAIL_LOG_FORMAT", value_enum, default_value = "text")]
    pub log_format: LogFormat,
}

/// lapin logs a returned message with its body, which holds what users wrote. The publisher counts and reports it anyway.
const BODIES_IN_LOGS: &str = "lapin::returned_messages=off";

/// Starts logging. Call once, first thing.
///
/// # Errors
/// When the filter is none, would silence the log by a slip of the hand, or logging was started before.
pub fn start_logging(args: &LogArgs) -> anyhow::Result<()> {
    let mut filter = log_filter::read(&args.log)?;
    for silence in [BODIES_IN_LOGS, store::NOTICES_IN_LOGS] {
        filter = filter.add_directive(silence.parse().context("a directive of our own")?);
    }
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = match args.log_format {
        LogFormat::Text => lines.with_target(false).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let logging = tracing_subscriber::registry().with(filter).with(CountLogEvents).with(lines);
    logging.try_init().context("cannot start logging")
}
