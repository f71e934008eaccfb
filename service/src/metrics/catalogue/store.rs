//! The store as its callers see it.

use super::{
    ALL, API, AtStart, CLUSTER, ENGINES, Kind, Label, MATCHING_SERVER, Metric, NOBODY, Unit, Values,
};

/// Calls: 0.1 ms to 10 s, when they are given up.
const CALL_TIMES: &[f64] = &[
    0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1,
    0.2, 0.5, 1.0, 2.0, 5.0, 10.0,
];
/// Powers of two, up to what a batch may hold.
const BATCH_SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1_000.0];

const OP: Label = Label {
    name: "op",
    values: Values::Known(&[
        (ALL, &["now", "expire", "forget_keys"]),
        (
            API,
            &[
                "accept",
                "tickets",
                "settled_tickets",
                "current_ticket",
                "keyed_ticket",
                "cancel",
                "matches",
                "match_by_id",
                "waiting_by_shard",
            ],
        ),
        (ENGINES, &["settle", "waiting_ids", "pool_tickets"]),
        (MATCHING_SERVER, &["unannounced_matches", "note_announced", "take_shards", "release_shards"]),
        (CLUSTER, &["renew", "leave"]),
        // No route calls these.
        (NOBODY, &["block", "unblock"]),
    ]),
};

pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "dovetail_store_duration_seconds",
        kind: Kind::Histogram(CALL_TIMES),
        unit: Unit::Seconds,
        says: "How long a call of the store took, the wait for a connection included, failed ones too.",
        good: "accept and settle: a few milliseconds beyond one write to disk; reads less.",
        labels: &[OP],
        at_start: AtStart::All,
        servers: ALL,
        query: Some(
            "histogram_quantile(0.95, sum by (op, le) (rate(dovetail_store_duration_seconds_bucket[1m])))",
        ),
    },
    Metric {
        name: "dovetail_store_errors_total",
        kind: Kind::Counter,
        unit: Unit::Number("calls"),
        says: "Calls of the store that failed. Accepting and settling try again.",
        good: "0; while it grows the store is away, or refuses.",
        labels: &[OP],
        at_start: AtStart::All,
        servers: ALL,
        query: Some("sum by (op) (rate(dovetail_store_errors_total[1m]))"),
    },
    Metric {
        name: "dovetail_store_connections",
        kind: Kind::Gauge,
        unit: Unit::Number("connections"),
        says: "Open connections of this server to the store at the moment of the scrape: in use, and idle.",
        good: "Some idle. All used for long: calls wait for a connection.",
        labels: &[Label { name: "state", values: Values::Known(&[(ALL, &["idle", "used"])]) }],
        at_start: AtStart::None,
        servers: ALL,
        query: Some(
            "dovetail_store_connections{state=\"used\"} / ignoring (state) dovetail_store_connections_max",
        ),
    },
    Metric {
        name: "dovetail_store_connections_max",
        kind: Kind::Gauge,
        unit: Unit::Number("connections"),
        says: "The most connections that this server may open to the store.",
        good: "All servers together below 80 % of what Postgres permits.",
        labels: &[],
        at_start: AtStart::None,
        servers: ALL,
        query: Some("sum(dovetail_store_connections_max)"),
    },
    Metric {
        name: "dovetail_commit_batch_size",
        kind: Kind::Histogram(BATCH_SIZES),
        unit: Unit::Number("items"),
        says: "How many items shared one call of the store: new tickets, reads of tickets, proposals.",
        good: "1 when idle, and tens under load; 1,000 is full, and then callers queue.",
        labels: &[Label {
            name: "kind",
            values: Values::Known(&[(API, &["accept", "read"]), (ENGINES, &["settle"])]),
        }],
        at_start: AtStart::All,
        servers: ALL,
        query: Some(
            "sum by (kind) (rate(dovetail_commit_batch_size_sum[1m])) \
             / sum by (kind) (rate(dovetail_commit_batch_size_count[1m]))",
        ),
    },
];
