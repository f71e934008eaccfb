//! What travels between servers.

use super::{
    ALL, API, AtStart, CLUSTER, ENGINES, Kind, Label, MAIN_SERVER, MATCHING_SERVER, Metric, STANDALONE, Unit,
    Values,
};

/// Confirms: 0.5 ms to 2 s, when they are given up.
const CONFIRM_TIMES: &[f64] = &[
    0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1.0, 2.0,
];

pub(super) const METRICS: &[Metric] = &[
    Metric {
        name: "dovetail_publish_confirm_seconds",
        kind: Kind::Histogram(CONFIRM_TIMES),
        unit: Unit::Seconds,
        says: "From a publish to the broker's confirm, once a majority of its nodes has the message.",
        good: "The 95th percentile below 0.05 s.",
        labels: &[],
        at_start: AtStart::All,
        servers: CLUSTER,
        query: Some(
            "histogram_quantile(0.95, sum by (le) (rate(dovetail_publish_confirm_seconds_bucket[1m])))",
        ),
    },
    Metric {
        name: "dovetail_publish_failures_total",
        kind: Kind::Counter,
        unit: Unit::Number("messages"),
        says: "Messages that the broker did not confirm: it is away, blocks publishers, all lanes are busy, it said nothing \
               in time, a full queue refused, no queue took it, the connection broke, or confirms were not asked for.",
        good: "0; a few when a node dies. Reconciliation makes up for each.",
        labels: &[Label {
            name: "why",
            values: Values::Known(&[(
                CLUSTER,
                &["away", "blocked", "busy", "unconfirmed", "refused", "unroutable", "broken", "not-asked"],
            )]),
        }],
        at_start: AtStart::All,
        servers: CLUSTER,
        query: Some("sum by (why) (rate(dovetail_publish_failures_total[1m]))"),
    },
    Metric {
        name: "dovetail_hints_dropped_total",
        kind: Kind::Counter,
        unit: Unit::Number("hints"),
        says: "Hints that were dropped: at api, the queue to the relay or the engines was full; at full, too many tickets \
               waited for a shard's message; at broker, it was not confirmed; at dispatch, there is no such shard; at \
               inbox, the engine's was full. At full and broker their tickets are counted.",
        good: "0; each costs its people up to 3 s, no ticket is lost.",
        labels: &[Label {
            name: "at",
            values: Values::Known(&[
                (API, &["api"]),
                (MAIN_SERVER, &["full", "broker"]),
                (STANDALONE, &["dispatch", "inbox"]),
            ]),
        }],
        at_start: AtStart::All,
        servers: API,
        query: Some("sum by (at) (rate(dovetail_hints_dropped_total[1m]))"),
    },
    Metric {
        name: "dovetail_messages_undecodable_total",
        kind: Kind::Counter,
        unit: Unit::Number("messages"),
        says: "Messages that nobody could read; each was moved to tickets.dead with the reason. There from when the \
               queue is first consumed.",
        good: "0.",
        labels: &[Label {
            name: "queue",
            values: Values::Like("the queue it came from, tickets.shard.00 and on", r"tickets\.shard\.\d\d+"),
        }],
        at_start: AtStart::None,
        servers: MATCHING_SERVER,
        query: Some("sum by (queue) (increase(dovetail_messages_undecodable_total[5m]))"),
    },
    Metric {
        name: "dovetail_consumers_lost_total",
        kind: Kind::Counter,
        unit: Unit::Number("consumers"),
        says: "Consumers of a queue that had to be set up anew: the broker ended it, forgot it, or said nothing in time, the \
               queue is declared otherwise, or channel or connection failed.",
        good: "0; some when a node leaves. mismatch needs somebody to delete the queue.",
        labels: &[Label {
            name: "why",
            values: Values::Known(&[(
                MATCHING_SERVER,
                &["cancelled", "forgotten", "silent", "mismatch", "failed"],
            )]),
        }],
        at_start: AtStart::All,
        servers: MATCHING_SERVER,
        query: Some("sum by (why) (increase(dovetail_consumers_lost_total[5m]))"),
    },
    Metric {
        name: "dovetail_matches_announced_total",
        kind: Kind::Counter,
        unit: Unit::Number("matches"),
        says: "Matches that were published to the exchange matches; one may be published twice.",
        good: "As fast as matches are made.",
        labels: &[],
        at_start: AtStart::All,
        servers: MATCHING_SERVER,
        query: Some("sum(rate(dovetail_matches_announced_total[10s]))"),
    },
    Metric {
        name: "dovetail_wakeups_dropped_total",
        kind: Kind::Counter,
        unit: Unit::Number("batches"),
        says: "Batches of wake-ups that nobody will hear of: at settler and listening, a queue was full; at telling, Redis \
               was away.",
        good: "0; each costs its phones up to a second.",
        labels: &[Label {
            name: "at",
            values: Values::Known(&[
                (ENGINES, &["settler"]),
                (MAIN_SERVER, &["listening"]),
                (CLUSTER, &["telling"]),
            ]),
        }],
        at_start: AtStart::All,
        servers: ALL,
        query: Some("sum by (at) (rate(dovetail_wakeups_dropped_total[1m]))"),
    },
    Metric {
        name: "dovetail_dependency_up",
        kind: Kind::Gauge,
        unit: Unit::Number("connections"),
        says: "Whether a connection that servers can do without for a while works: 1 or 0. /ready says why not.",
        good: "1. At 0 people are accepted and matched, up to 3 s later.",
        labels: &[Label {
            name: "name",
            values: Values::Known(&[
                (CLUSTER, &["amqp-publish", "redis-tell"]),
                (MATCHING_SERVER, &["amqp-consume"]),
                (MAIN_SERVER, &["redis-listen"]),
            ]),
        }],
        at_start: AtStart::None,
        servers: CLUSTER,
        query: Some("min by (name) (dovetail_dependency_up)"),
    },
];
