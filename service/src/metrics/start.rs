//! The recorder of a process, told of everything in the catalogue.

use anyhow::Context as _;
use metrics::{Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

use super::catalogue::{self, Kind, Metric, Server, Unit};
use super::process;

/// Installs the recorder of this process's metrics. Call once, before anything is measured or logged that counts.
///
/// # Errors
/// When a recorder was installed before.
pub fn start(server: Server) -> anyhow::Result<PrometheusHandle> {
    let recorder = build()?;
    prepare(&recorder, server);
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).context("cannot start metrics")?;
    metrics::gauge!("dovetail_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    process::record();
    Ok(handle)
}

/// A recorder with the buckets of every histogram.
pub(super) fn build() -> Result<PrometheusRecorder, BuildError> {
    let mut builder = PrometheusBuilder::new();
    for metric in catalogue::all() {
        if let Kind::Histogram(bounds) = metric.kind {
            builder = builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), bounds)?;
        }
    }
    Ok(builder.build_recorder())
}

/// Describes everything that a program exports and begins what is there from the start.
pub(super) fn prepare(recorder: &dyn Recorder, server: Server) {
    for metric in catalogue::all().filter(|metric| metric.servers.contains(server)) {
        describe(recorder, metric);
        for values in metric.series_at_start(server) {
            let labels = metric.labels.iter().zip(values).map(|(label, value)| Label::new(label.name, value));
            begin(recorder, metric, &Key::from_parts(metric.name, labels.collect::<Vec<_>>()));
        }
    }
}

fn describe(recorder: &dyn Recorder, metric: &Metric) {
    let (name, help) = (metric.name.into(), metric.help().into());
    let unit = match metric.unit {
        Unit::Seconds => Some(metrics::Unit::Seconds),
        Unit::Bytes => Some(metrics::Unit::Bytes),
        Unit::Number(_) => Some(metrics::Unit::Count),
        Unit::Ratio => None,
    };
    match metric.kind {
        Kind::Counter => recorder.describe_counter(name, unit, help),
        Kind::Gauge | Kind::FractionalCounter => recorder.describe_gauge(name, unit, help),
        Kind::Histogram(_) => recorder.describe_histogram(name, unit, help),
    }
}

fn begin(recorder: &dyn Recorder, metric: &Metric, key: &Key) {
    let metadata = Metadata::new(module_path!(), Level::INFO, Some(module_path!()));
    match metric.kind {
        Kind::Counter => drop(recorder.register_counter(key, &metadata)),
        Kind::Histogram(_) => drop(recorder.register_histogram(key, &metadata)),
        Kind::Gauge | Kind::FractionalCounter => drop(recorder.register_gauge(key, &metadata)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_at_the_start_is_there_with_zero() {
        let recorder = build().unwrap();
        prepare(&recorder, Server::MatchingServer);
        let page = recorder.handle().render();
        for line in [
            "dovetail_tickets_settled_total{outcome=\"matched\"} 0",
            "dovetail_tickets_settled_total{outcome=\"expired\"} 0",
            "dovetail_match_wait_seconds_bucket{le=\"0.75\"} 0",
            "dovetail_match_wait_seconds_count 0",
            "dovetail_store_duration_seconds_bucket{op=\"settle\",le=\"+Inf\"} 0",
            "dovetail_log_events_total{level=\"error\"} 0",
            "# TYPE dovetail_store_duration_seconds histogram",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
        }
        for elsewhere in ["outcome=\"cancelled\"", "http_requests", "op=\"accept\"", "at=\"inbox\""] {
            assert!(!page.contains(elsewhere), "{elsewhere} is in\n{page}");
        }
    }
}
