//! The process itself. The names that begin with `process_` are those of all Prometheus client libraries.

use super::{ALL, AtStart, Kind, Label, Metric, Unit, Values};

const fn gauge(name: &'static str, unit: Unit, says: &'static str, good: &'static str) -> Metric {
    Metric {
        name,
        kind: Kind::Gauge,
        unit,
        says,
        good,
        labels: &[],
        at_start: AtStart::None,
        servers: ALL,
        query: None,
    }
}

pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "dovetail_build_info",
        kind: Kind::Gauge,
        unit: Unit::Number("servers"),
        says: "Always 1; its label says which version runs.",
        good: "One version, but for the minutes of a rolling upgrade.",
        labels: &[Label {
            name: "version",
            values: Values::Like("the version, such as 0.1.0", r"\d+\.\d+\.\d+\S*"),
        }],
        at_start: AtStart::None,
        servers: ALL,
        query: Some("count by (version) (dovetail_build_info)"),
    },
    Metric {
        name: "dovetail_log_events_total",
        kind: Kind::Counter,
        unit: Unit::Number("lines"),
        says: "Warnings and errors in the log, as far as --log lets them through.",
        good: "error 0; warn grows when something is away.",
        labels: &[Label { name: "level", values: Values::Known(&[(ALL, &["warn", "error"])]) }],
        at_start: AtStart::All,
        servers: ALL,
        query: Some("sum by (level) (increase(dovetail_log_events_total[1m]))"),
    },
    Metric {
        name: "process_cpu_seconds_total",
        kind: Kind::FractionalCounter,
        unit: Unit::Seconds,
        says: "CPU time of all threads, in user and system mode, to the nanosecond.",
        good: "Its rate below dovetail_processors_usable.",
        labels: &[],
        at_start: AtStart::None,
        servers: ALL,
        query: Some("rate(process_cpu_seconds_total[5s])"),
    },
    Metric {
        name: "dovetail_processors_usable",
        kind: Kind::Gauge,
        unit: Unit::Number("processors"),
        says: "Processors that a server can keep busy: one for each of its worker threads (--workers), as far as the system gives it \
               so many.",
        good: "Well above the rate of process_cpu_seconds_total. Threads of the broker's client and of blocking calls come \
               on top and use little.",
        labels: &[],
        at_start: AtStart::None,
        servers: ALL,
        query: Some("rate(process_cpu_seconds_total[1m]) / on (job, instance) dovetail_processors_usable"),
    },
    gauge(
        "process_resident_memory_bytes",
        Unit::Bytes,
        "Memory in RAM.",
        "Grows with the tickets that wait and stays level afterwards.",
    ),
    gauge("process_virtual_memory_bytes", Unit::Bytes, "Address space.", "Says little by itself."),
    gauge(
        "process_virtual_memory_max_bytes",
        Unit::Bytes,
        "The limit on address space; 0 when there is none.",
        "0.",
    ),
    gauge(
        "process_open_fds",
        Unit::Number("files"),
        "Open files and connections. Each phone that waits holds one.",
        "Well below process_max_fds.",
    ),
    gauge(
        "process_max_fds",
        Unit::Number("files"),
        "The most that may be open; 0 when there is no limit. A server raises its limit as far as it may.",
        "Above the phones that wait at the busiest time.",
    ),
    gauge(
        "process_start_time_seconds",
        Unit::Seconds,
        "When the process started, in seconds since 1970.",
        "Changes only when somebody restarts it.",
    ),
    gauge("process_threads", Unit::Number("threads"), "Threads.", "Stays level."),
];
