//! The page that Prometheus scrapes: what the recorder renders, mended where it cannot say what is meant.

use metrics_exporter_prometheus::PrometheusHandle;
use store::{Connections, Store};

use super::catalogue::{self, Kind};
use super::process;

/// The page as of now.
pub(crate) fn render(recorded: &PrometheusHandle, store: &dyn Store) -> String {
    process::record();
    let Connections { idle, used, max } = store.connections();
    for (state, count) in [("idle", idle), ("used", used)] {
        metrics::gauge!("dovetail_store_connections", "state" => state).set(f64::from(count));
    }
    metrics::gauge!("dovetail_store_connections_max").set(f64::from(max));
    // Moves recorded samples into their buckets, which otherwise grow between two scrapes.
    recorded.run_upkeep();
    mend(&recorded.render())
}

/// Leaves out the gauges that are [`super::UNKNOWN`], and calls a counter what the recorder keeps as a gauge.
fn mend(page: &str) -> String {
    let mut mended = String::with_capacity(page.len());
    for line in page.lines() {
        if line.ends_with(" NaN") && !line.starts_with('#') {
            continue;
        }
        match line.strip_prefix("# TYPE ").and_then(|line| line.strip_suffix(" gauge")) {
            Some(name)
                if catalogue::find(name).is_some_and(|known| known.kind == Kind::FractionalCounter) =>
            {
                mended.push_str(&format!("# TYPE {name} counter"));
            }
            _ => mended.push_str(line),
        }
        mended.push('\n');
    }
    mended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::UNKNOWN;
    use crate::metrics::start::build;

    #[test]
    fn what_is_not_known_is_not_shown() {
        let recorder = build().unwrap();
        metrics::with_local_recorder(&recorder, || {
            for (shard, value) in [("00", 3.0), ("01", UNKNOWN)] {
                metrics::gauge!("dovetail_tickets_waiting", "shard" => shard).set(value);
            }
            metrics::gauge!("process_cpu_seconds_total").set(1.25);
        });
        let page = mend(&recorder.handle().render());
        assert!(page.contains("dovetail_tickets_waiting{shard=\"00\"} 3\n"), "{page}");
        assert!(!page.contains("01"), "{page}");
        assert!(page.contains("# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.25\n"));
        assert!(page.contains("# TYPE dovetail_tickets_waiting gauge\n"));
    }
}
