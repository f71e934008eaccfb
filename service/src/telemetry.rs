//! Logs to standard error, metrics for Prometheus.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

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
/// When the filter does not parse or logging was started before.
pub fn start_logging(args: &LogArgs) -> anyhow::Result<()> {
    let filter =
        EnvFilter::try_new(&args.log).with_context(|| format!("--log {:?} is not a log filter", args.log))?;
    let silence = BODIES_IN_LOGS.parse().context("a directive of our own")?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter.add_directive(silence))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match args.log_format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}

/// Waits: 10 ms to 60 s.
const WAIT_BUCKETS: &[f64] =
    &[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0];
/// Accepts and other requests: 0.5 ms to 5 s, and up to a minute for long polls.
const REQUEST_BUCKETS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0];
/// Calls of the store and confirms of RabbitMQ: 0.1 ms to 5 s.
const STORE_BUCKETS: &[f64] =
    &[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
/// Similarities: 0 to 1.
const SIMILARITY_BUCKETS: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Batch sizes: powers of two.
const BATCH_BUCKETS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0];

/// Installs the recorder of this process's metrics. Call once, before anything is measured.
///
/// # Errors
/// When a recorder was installed before.
pub fn start_metrics() -> anyhow::Result<PrometheusHandle> {
    let buckets = [
        ("dovetail_match_wait_seconds", WAIT_BUCKETS),
        ("dovetail_pooling_delay_seconds", REQUEST_BUCKETS),
        ("dovetail_http_request_duration_seconds", REQUEST_BUCKETS),
        ("dovetail_store_duration_seconds", STORE_BUCKETS),
        ("dovetail_publish_confirm_seconds", STORE_BUCKETS),
        ("dovetail_match_similarity", SIMILARITY_BUCKETS),
        ("dovetail_commit_batch_size", BATCH_BUCKETS),
    ];
    let mut builder = PrometheusBuilder::new();
    for (name, bounds) in buckets {
        builder = builder.set_buckets_for_metric(Matcher::Full(name.to_owned()), bounds)?;
    }
    let handle = builder.install_recorder().context("cannot start metrics")?;
    metrics_process::Collector::default().describe();
    Ok(handle)
}
