//! Warnings and errors, counted as they are logged.

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Counts the warnings and errors that the filter below it lets through.
pub(crate) struct CountLogEvents;

impl<S: Subscriber> Layer<S> for CountLogEvents {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warn",
            _ => return,
        };
        metrics::counter!("dovetail_log_events_total", "level" => level).increment(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::start::build;
    use tracing_subscriber::EnvFilter;
    use tracing_subscriber::layer::SubscriberExt as _;

    #[test]
    fn warnings_and_errors_count_if_they_are_logged() {
        let recorder = build().unwrap();
        let logs = |filter: &str| {
            let subscriber = tracing_subscriber::registry().with(EnvFilter::new(filter)).with(CountLogEvents);
            metrics::with_local_recorder(&recorder, || {
                tracing::subscriber::with_default(subscriber, || {
                    tracing::warn!("a warning");
                    tracing::error!("an error");
                    tracing::info!("news");
                });
            });
        };
        logs("info");
        logs("error");
        let page = recorder.handle().render();
        assert!(page.contains("dovetail_log_events_total{level=\"warn\"} 1\n"), "{page}");
        assert!(page.contains("dovetail_log_events_total{level=\"error\"} 2\n"), "{page}");
        assert!(!page.contains("info"), "{page}");
    }
}
