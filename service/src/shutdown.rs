//! From serving to stopped: wait for a signal or a failure, then stop in stages, each with a deadline.

use std::process::ExitCode;
use std::time::Duration;

use store::Store;

use crate::admin::Admin;
use crate::lifecycle::{Signals, Tasks};

/// How long requests under way, and then work in flight, may take to finish.
const STOP_DEADLINE: Duration = Duration::from_secs(10);

/// How a process ends; one that could not start says why on standard error.
pub fn exit_code(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        #[allow(
            clippy::print_stderr,
            reason = "the last word of a process that cannot start, whatever --log says"
        )]
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A process that serves.
#[derive(Debug)]
pub struct Running<'a> {
    /// What asks it to stop.
    pub signals: Signals,
    /// What serves callers: stops first.
    pub serving: &'a Tasks,
    /// What works behind it: stops afterwards.
    pub working: &'a Tasks,
    /// How long `/ready` fails before anything stops, so that a load balancer looks elsewhere first.
    pub drain_delay: Duration,
}

impl Running<'_> {
    /// Waits for a signal or the end of a task, then stops everything; a second signal ends it at once.
    pub async fn to_the_end(mut self, admin: &Admin, store: &dyn Store) -> ExitCode {
        tokio::select! {
            () = self.signals.next() => tracing::info!("stopping; once more to stop at once"),
            () = self.working.failure() => {}
            () = self.serving.failure() => {}
        }
        admin.start_draining();
        let stopped = tokio::select! {
            stopped = stop(self.drain_delay, self.serving, self.working, store) => stopped,
            () = self.signals.next() => false,
        };
        let clean = stopped && !self.working.has_failed() && !self.serving.has_failed();
        tracing::info!(clean, "stopped");
        if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Stops in stages; `false` when something did not finish in time.
async fn stop(drain_delay: Duration, serving: &Tasks, working: &Tasks, store: &dyn Store) -> bool {
    tokio::time::sleep(drain_delay).await;
    let served = serving.stop(STOP_DEADLINE).await;
    let worked = working.stop(STOP_DEADLINE).await;
    store.close().await;
    if !served {
        tracing::warn!("some requests did not finish in time");
    }
    if !worked {
        tracing::warn!(
            "some work did not finish in time; what was not settled is settled by another server or after the next start"
        );
    }
    served && worked
}
