//! Engines and their pools.

use super::{ALL, AtStart, ENGINES, Kind, Label, Metric, SHARD, Unit, Values};

/// From the commit of a ticket to its pool: closest around the 50 ms and 200 ms that are aimed at; reconciliation, which makes
/// up for lost hints, takes 2 s and more.
const POOLING_DELAYS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2,
    0.25, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0,
];

pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "dovetail_tickets_pooled",
        kind: Kind::Gauge,
        unit: Unit::Number("tickets"),
        says: "Tickets in the pool of a shard's engine, those being settled included. Only at the server that serves the \
               shard: it is gone from the page of one that has let go of it.",
        good: "About the tickets that wait in the shard; less for long means that hints are lost and reconciliation lags.",
        labels: &[SHARD],
        at_start: AtStart::None,
        servers: ENGINES,
        query: Some("sum by (shard) (dovetail_tickets_pooled)"),
    },
    Metric {
        name: "dovetail_tickets_unpooled",
        kind: Kind::Gauge,
        unit: Unit::Number("tickets"),
        says: "Tickets that the last comparison with the store, every 2 s, found waiting and in no pool; they are brought \
               at once. Only at the server that serves the shard, and not there while the store does not answer.",
        good: "0, or a few in a burst: those whose hints are still on their way.",
        labels: &[SHARD],
        at_start: AtStart::None,
        servers: ENGINES,
        query: Some("sum(dovetail_tickets_unpooled)"),
    },
    Metric {
        name: "dovetail_pooling_delay_seconds",
        kind: Kind::Histogram(POOLING_DELAYS),
        unit: Unit::Seconds,
        says: "From a ticket's commit to its engine's pool.",
        good: "The 99th percentile below 0.2 s; 2 s and more are tickets that reconciliation found.",
        labels: &[],
        at_start: AtStart::All,
        servers: ENGINES,
        query: Some(
            "histogram_quantile(0.99, sum by (le) (rate(dovetail_pooling_delay_seconds_bucket[1m])))",
        ),
    },
    Metric {
        name: "dovetail_engine_inbox_depth",
        kind: Kind::Gauge,
        unit: Unit::Number("messages"),
        says: "Messages that wait for a shard's engine, 1,024 at most. Only at the server that serves the shard.",
        good: "Near 0; what stays high is an engine that cannot keep up.",
        labels: &[SHARD],
        at_start: AtStart::None,
        servers: ENGINES,
        query: Some("max by (shard) (dovetail_engine_inbox_depth)"),
    },
    Metric {
        name: "dovetail_pool_full_total",
        kind: Kind::Counter,
        unit: Unit::Number("tickets"),
        says: "Tickets that found their pool full. Reconciliation brings them again.",
        good: "0: callers are refused before it comes to that.",
        labels: &[],
        at_start: AtStart::All,
        servers: ENGINES,
        query: None,
    },
    Metric {
        name: "dovetail_proposals_total",
        kind: Kind::Counter,
        unit: Unit::Number("proposals"),
        says: "Pairs that engines proposed, by what the store said: matched; gone, when a ticket had settled before; recent \
               and blocked, when the two may not meet; unknown, when this server stopped before an answer.",
        good: "Nearly all matched; many gone mean two owners of a shard, or many who cancel.",
        labels: &[Label {
            name: "outcome",
            values: Values::Known(&[(ENGINES, &["matched", "gone", "recent", "blocked", "unknown"])]),
        }],
        at_start: AtStart::All,
        servers: ENGINES,
        query: Some("sum by (outcome) (rate(dovetail_proposals_total[10s]))"),
    },
    Metric {
        name: "dovetail_shards_owned",
        kind: Kind::Gauge,
        unit: Unit::Number("shards"),
        says: "Shards that this server serves.",
        good: "All shards together, shared out evenly.",
        labels: &[],
        at_start: AtStart::None,
        servers: ENGINES,
        query: Some("sum(dovetail_shards_owned)"),
    },
    Metric {
        name: "dovetail_shards_unowned",
        kind: Kind::Gauge,
        unit: Unit::Number("shards"),
        says: "Shards that nobody holds a lease on, by the store. Every server says the same: take the greatest. Not there \
               while the store does not answer.",
        good: "0; for a few seconds more after a matching server died. People of such a shard wait.",
        labels: &[],
        at_start: AtStart::None,
        servers: ALL,
        query: Some("max(dovetail_shards_unowned)"),
    },
];
