//! What this process uses, as the operating system counts it.

use std::num::NonZero;

use metrics_process::collector::{Metrics, collect};
use rustix::time::{ClockId, clock_gettime};

/// Records everything as of now.
pub(super) fn record() {
    metrics::gauge!("process_cpu_seconds_total").set(cpu_seconds());
    metrics::gauge!("dovetail_processors_usable").set(usable_processors().unwrap_or(super::UNKNOWN));
    let Metrics {
        // In hundredths of a second: too coarse for who scrapes each second.
        cpu_seconds_total: _,
        open_fds,
        max_fds,
        virtual_memory_bytes,
        virtual_memory_max_bytes,
        resident_memory_bytes,
        start_time_seconds,
        threads,
    } = collect();
    for (gauge, value) in [
        (metrics::gauge!("process_open_fds"), open_fds),
        (metrics::gauge!("process_max_fds"), max_fds),
        (metrics::gauge!("process_virtual_memory_bytes"), virtual_memory_bytes),
        (metrics::gauge!("process_virtual_memory_max_bytes"), virtual_memory_max_bytes),
        (metrics::gauge!("process_resident_memory_bytes"), resident_memory_bytes),
        (metrics::gauge!("process_start_time_seconds"), start_time_seconds),
        (metrics::gauge!("process_threads"), threads),
    ] {
        #[allow(
            clippy::cast_precision_loss,
            reason = "bytes and seconds, far below 2^52; an unlimited limit is as large either way"
        )]
        gauge.set(value.map_or(super::UNKNOWN, |value| value as f64));
    }
}

/// The time that all threads of this process have had a processor.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    #[allow(clippy::cast_precision_loss, reason = "seconds far below 2^52, nanoseconds below 10^9")]
    let (seconds, nanoseconds) = (time.tv_sec as f64, time.tv_nsec as f64);
    seconds + nanoseconds / 1e9
}

/// How many processors the runtime's worker threads can keep busy: one each, as far as the system gives this process so many.
/// `None` outside a runtime.
fn usable_processors() -> Option<f64> {
    let workers = tokio::runtime::Handle::try_current().ok()?.metrics().num_workers();
    let processors = std::thread::available_parallelism().map_or(workers, NonZero::get);
    #[allow(clippy::cast_precision_loss, reason = "a count of processors")]
    let usable = workers.min(processors) as f64;
    Some(usable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_beyond_the_processors_are_of_no_use() {
        assert_eq!(usable_processors(), None);
        let with = |workers: usize| {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build().unwrap();
            runtime.block_on(async { usable_processors() })
        };
        let processors = std::thread::available_parallelism().unwrap().get();
        assert_eq!(with(1), Some(1.0));
        assert_eq!(with(processors + 3), Some(processors as f64));
    }

    #[test]
    fn cpu_time_grows_by_fractions_of_a_tick() {
        let before = cpu_seconds();
        // Works until a step shows; far less than the 10 ms of the kernel's ticks.
        let mut after = before;
        while after <= before {
            after = cpu_seconds();
        }
        assert!(after - before < 0.01, "{before} to {after}");
    }
}
