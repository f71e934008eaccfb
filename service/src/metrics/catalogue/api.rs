//! What people and their phones see.

use super::{ALL, API, AtStart, ENGINES, Kind, Label, MAIN_SERVER, Metric, SHARD, Unit, Values};

/// Waits of people: 10 ms to 60 s, closest where a match is made when things go well.
const WAITS: &[f64] = &[
    0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 4.0, 5.0,
    7.5, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
/// Requests: 0.5 ms to 5 s, with a bound at the 50 ms that accepting may take, and up to a minute for long polls. Steps of a half, as
/// for the store and the broker: what a phone sees and what the server sees of one request is then at most a step apart.
const REQUEST_TIMES: &[f64] = &[
    0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3,
    0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 25.0, 60.0,
];
/// Similarities, in tenths.
const SIMILARITIES: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

pub(super) const PEOPLE: &[Metric] = &[
    Metric {
        name: "dovetail_tickets_submitted_total",
        kind: Kind::Counter,
        unit: Unit::Number("requests"),
        says: "Presses of the match button by known callers, by what they were answered: a new ticket, the one they \
               have, or why not.",
        good: "Nearly all created; existing grows when phones repeat; every other word is a refusal.",
        labels: &[Label {
            name: "result",
            values: Values::Known(&[(
                API,
                &[
                    "created",
                    "existing",
                    "ticket-exists",
                    "key-reused",
                    "invalid-request",
                    "too-large",
                    "pool-full",
                    "store-unavailable",
                    "outcome-unknown",
                    "draining",
                    "internal",
                ],
            )]),
        }],
        at_start: AtStart::All,
        servers: API,
        query: Some("sum by (result) (rate(dovetail_tickets_submitted_total[10s]))"),
    },
    Metric {
        name: "dovetail_tickets_settled_total",
        kind: Kind::Counter,
        unit: Unit::Number("tickets"),
        says: "Tickets that came to their end here. Whichever server sweeps first counts an expired one.",
        good: "Nearly all matched; expired are people whom nobody fitted.",
        labels: &[Label {
            name: "outcome",
            values: Values::Known(&[(ENGINES, &["matched"]), (API, &["cancelled"]), (ALL, &["expired"])]),
        }],
        at_start: AtStart::All,
        servers: ALL,
        query: Some("sum by (outcome) (rate(dovetail_tickets_settled_total[10s]))"),
    },
    Metric {
        name: "dovetail_matches_total",
        kind: Kind::Counter,
        unit: Unit::Number("matches"),
        says: "Matches made: two tickets each.",
        good: "Half of the tickets created, a few seconds later.",
        labels: &[],
        at_start: AtStart::All,
        servers: ENGINES,
        query: Some("sum(rate(dovetail_matches_total[10s]))"),
    },
    Metric {
        name: "dovetail_match_wait_seconds",
        kind: Kind::Histogram(WAITS),
        unit: Unit::Seconds,
        says: "How long the people of a match had waited, from their ticket to the match; two values a match.",
        good: "The median about the policy's patience, the 99th percentile below 5 s.",
        labels: &[],
        at_start: AtStart::All,
        servers: ENGINES,
        query: Some("histogram_quantile(0.95, sum by (le) (rate(dovetail_match_wait_seconds_bucket[1m])))"),
    },
    Metric {
        name: "dovetail_match_similarity",
        kind: Kind::Histogram(SIMILARITIES),
        unit: Unit::Ratio,
        says: "How alike the two of a match are: shared interests divided by all interests of the two.",
        good: "Much above 0; it falls when few people are there or a policy has no patience.",
        labels: &[],
        at_start: AtStart::All,
        servers: ENGINES,
        query: Some(
            "sum(rate(dovetail_match_similarity_sum[1m])) / sum(rate(dovetail_match_similarity_count[1m]))",
        ),
    },
    Metric {
        name: "dovetail_tickets_waiting",
        kind: Kind::Gauge,
        unit: Unit::Number("tickets"),
        says: "Tickets that wait, by the store, as counted in the last second. Every API server says the same: take the \
               greatest, never the sum. Not there while the store does not answer.",
        good: "Rises with a burst and falls to near 0 within seconds of its end.",
        labels: &[SHARD],
        at_start: AtStart::None,
        servers: API,
        query: Some("sum(max by (shard) (dovetail_tickets_waiting))"),
    },
    Metric {
        name: "dovetail_oldest_waiting_seconds",
        kind: Kind::Gauge,
        unit: Unit::Seconds,
        says: "How long the ticket that waits longest has waited, by the store; 0 when none waits. Every API server says \
               the same: take the greatest. Not there while the store does not answer.",
        good: "A few seconds at most, but for people whom nobody fits; past the policy's expire_after, expiry is stuck.",
        labels: &[SHARD],
        at_start: AtStart::None,
        servers: API,
        query: Some("max by (shard) (dovetail_oldest_waiting_seconds)"),
    },
];

/// What is answered day by day: a counter for each of these is there from the start. Others come with their first request.
const ANSWERS: &[&[&str]] = &[
    &["POST", "/v1/tickets", "201"],
    &["POST", "/v1/tickets", "200"],
    &["POST", "/v1/tickets", "400"],
    &["POST", "/v1/tickets", "401"],
    &["POST", "/v1/tickets", "409"],
    &["POST", "/v1/tickets", "413"],
    &["POST", "/v1/tickets", "422"],
    &["POST", "/v1/tickets", "500"],
    &["POST", "/v1/tickets", "503"],
    &["GET", "/v1/tickets/{id}", "200"],
    &["GET", "/v1/tickets/{id}", "401"],
    &["GET", "/v1/tickets/{id}", "404"],
    &["GET", "/v1/tickets/{id}", "500"],
    &["GET", "/v1/tickets/{id}", "503"],
    &["GET", "/v1/tickets/{id}/events", "200"],
    &["GET", "/v1/tickets/{id}/events", "401"],
    &["GET", "/v1/tickets/{id}/events", "404"],
    &["GET", "/v1/tickets/{id}/events", "500"],
    &["GET", "/v1/tickets/{id}/events", "503"],
    &["DELETE", "/v1/tickets/{id}", "200"],
    &["DELETE", "/v1/tickets/{id}", "401"],
    &["DELETE", "/v1/tickets/{id}", "404"],
    &["DELETE", "/v1/tickets/{id}", "409"],
    &["DELETE", "/v1/tickets/{id}", "500"],
    &["DELETE", "/v1/tickets/{id}", "503"],
    &["GET", "/v1/tickets/current", "200"],
    &["GET", "/v1/tickets/current", "401"],
    &["GET", "/v1/tickets/current", "404"],
    &["GET", "/v1/tickets/current", "500"],
    &["GET", "/v1/tickets/current", "503"],
    &["GET", "/v1/matches", "200"],
    &["GET", "/v1/matches", "401"],
    &["GET", "/v1/matches", "500"],
    &["GET", "/v1/matches", "503"],
    &["GET", "/v1/matches/{id}", "200"],
    &["GET", "/v1/matches/{id}", "401"],
    &["GET", "/v1/matches/{id}", "404"],
    &["GET", "/v1/matches/{id}", "500"],
    &["GET", "/v1/matches/{id}", "503"],
];

/// The times of these are there from the start: those that a burst is made of. A histogram is 26 lines on each page.
const TIMED_ANSWERS: &[&[&str]] = &[
    &["POST", "/v1/tickets", "201"],
    &["POST", "/v1/tickets", "503"],
    &["GET", "/v1/tickets/{id}", "200"],
    &["GET", "/v1/tickets/{id}/events", "200"],
    &["DELETE", "/v1/tickets/{id}", "200"],
];

const REQUEST_LABELS: &[Label] = &[
    Label {
        name: "method",
        values: Values::Known(&[(
            API,
            &["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH", "other"],
        )]),
    },
    Label {
        name: "route",
        values: Values::Known(&[(
            API,
            &[
                "/v1/tickets",
                "/v1/tickets/current",
                "/v1/tickets/{id}",
                "/v1/tickets/{id}/events",
                "/v1/matches",
                "/v1/matches/{id}",
                "/problems/{slug}",
                "none",
            ],
        )]),
    },
    Label { name: "status", values: Values::Like("the HTTP status", r"[1-5]\d\d") },
];

pub(super) const REQUESTS: &[Metric] = &[
    Metric {
        name: "dovetail_http_requests_total",
        kind: Kind::Counter,
        unit: Unit::Number("requests"),
        says: "Requests that were answered, by route template; none is a path that leads nowhere. One that its caller gave \
               up on before the answer is not counted.",
        good: "No 5xx; 503 means a full shard, a store that is away, or a server that stops.",
        labels: REQUEST_LABELS,
        at_start: AtStart::These(ANSWERS),
        servers: API,
        query: Some("sum by (route, status) (rate(dovetail_http_requests_total[10s]))"),
    },
    Metric {
        name: "dovetail_http_request_duration_seconds",
        kind: Kind::Histogram(REQUEST_TIMES),
        unit: Unit::Seconds,
        says: "From a request's head to its answer's. A long poll's wait counts, so judge GET /v1/tickets/{id} by it no \
               more than by the wait it asked for; a stream counts until it begins.",
        good: "POST /v1/tickets with 201: the 95th percentile below 0.05 s.",
        labels: REQUEST_LABELS,
        at_start: AtStart::These(TIMED_ANSWERS),
        servers: API,
        query: Some(
            "histogram_quantile(0.95, sum by (le) (rate(dovetail_http_request_duration_seconds_bucket\
             {method=\"POST\",route=\"/v1/tickets\",status=\"201\"}[1m])))",
        ),
    },
    Metric {
        name: "dovetail_waiters",
        kind: Kind::Gauge,
        unit: Unit::Number("phones"),
        says: "Phones that hold a long poll or a stream on a ticket that waits.",
        good: "About the tickets that wait, when people keep the app open.",
        labels: &[],
        at_start: AtStart::None,
        servers: API,
        query: Some("sum(dovetail_waiters)"),
    },
    Metric {
        name: "dovetail_wakeups_total",
        kind: Kind::Counter,
        unit: Unit::Number("tickets"),
        says: "Tickets whose phones were told that they settled: by word of whoever settled them, or by the look at the \
               store each second, which makes up for lost word.",
        good: "Nearly all word; many by poll mean that Redis is away or loses.",
        labels: &[Label { name: "path", values: Values::Known(&[(API, &["word", "poll"])]) }],
        at_start: AtStart::All,
        servers: API,
        query: Some("sum by (path) (rate(dovetail_wakeups_total[10s]))"),
    },
    Metric {
        name: "dovetail_wakeups_undecodable_total",
        kind: Kind::Counter,
        unit: Unit::Number("messages"),
        says: "Messages on the channel of wake-ups that say nothing: from another version, or from somebody else.",
        good: "0.",
        labels: &[],
        at_start: AtStart::All,
        servers: MAIN_SERVER,
        query: None,
    },
];
