//! Every metric that a server exports, as data: what it counts, what good looks like, its labels and buckets.
//!
//! `start` tells the recorder from it, `cargo xtask metrics` writes `docs/metrics.md` from it, and tests hold the sources
//! against it. Sources record by name, as the crates below this one must.

mod api;
mod matching;
mod messaging;
mod process;
mod store;

/// Metrics that belong together: a heading of the page.
#[derive(Debug)]
pub struct Group {
    /// The heading.
    pub title: &'static str,
    /// What it is about, in a sentence or two.
    pub about: &'static str,
    /// What is in it.
    pub metrics: &'static [Metric],
}

/// Everything there is, in the order of the page.
pub const GROUPS: &[Group] = &[
    Group { title: "People", about: "What people ask for and what becomes of it.", metrics: api::PEOPLE },
    Group { title: "The API", about: "Requests, and the phones that wait.", metrics: api::REQUESTS },
    Group {
        title: "Matching",
        about: "Engines, their pools, and who serves which shard.",
        metrics: matching::METRICS,
    },
    Group { title: "The store", about: "Postgres, or SQLite in standalone.", metrics: store::METRICS },
    Group {
        title: "RabbitMQ and Redis",
        about: "Hints, wake-ups and match events on their way. People are accepted and matched without them, later.",
        metrics: messaging::METRICS,
    },
    Group { title: "The process", about: "What a server uses, and what it says.", metrics: process::METRICS },
];

/// One metric.
#[derive(Debug)]
pub struct Metric {
    /// Its name, as it is recorded and scraped.
    pub name: &'static str,
    /// Counter, gauge or histogram.
    pub kind: Kind,
    /// What a value of it is.
    pub unit: Unit,
    /// What it says: the first part of its HELP.
    pub says: &'static str,
    /// What good looks like: the rest of its HELP.
    pub good: &'static str,
    /// What tells its series apart.
    pub labels: &'static [Label],
    /// Which of its series are there from the start.
    pub at_start: AtStart,
    /// Who exports it.
    pub servers: Servers,
    /// A query that is of use, in PromQL.
    pub query: Option<&'static str>,
}

/// What kind of metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Only grows, by fractions. The recorder's counters are whole, so it is kept as a gauge, and shown as a counter.
    FractionalCounter,
    /// Goes up and down.
    Gauge,
    /// Counts values by size, up to each of these bounds.
    Histogram(&'static [f64]),
}

impl Kind {
    /// What Prometheus calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter | Self::FractionalCounter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
        }
    }

    /// The macro it is recorded with.
    pub fn recorded_as(self) -> &'static str {
        match self {
            Self::FractionalCounter => Self::Gauge.as_str(),
            Self::Counter | Self::Gauge | Self::Histogram(_) => self.as_str(),
        }
    }
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// From 0 to 1.
    Ratio,
    /// A number of things: these.
    Number(&'static str),
}

impl Unit {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Bytes => "bytes",
            Self::Ratio => "0 to 1",
            Self::Number(things) => things,
        }
    }
}

/// A label.
#[derive(Debug)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub values: Values,
}

/// What a label may be. Never anything that a caller chooses: a user, an interest, a region.
#[derive(Debug)]
pub enum Values {
    /// These, each with who records it.
    Known(&'static [(Servers, &'static [&'static str])]),
    /// What cannot be listed: what it looks like, as a text and as a regular expression that matches all of it.
    Like(&'static str, &'static str),
}

/// Which series of a counter or histogram are there from the start, with 0. A series that begins with its first event hides
/// that event from `rate()` and `increase()`, which see it begin at 1.
#[derive(Debug, Clone, Copy)]
pub enum AtStart {
    /// All that its labels permit.
    All,
    /// These, as values of the labels in their order.
    These(&'static [&'static [&'static str]]),
    /// As they come. All gauges: a 0 would be a lie before anything is known.
    None,
}

/// A program that exports metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The API server.
    MainServer,
    /// The matching server.
    MatchingServer,
    /// Both in one process, without broker and Redis.
    Standalone,
}

impl Server {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::MainServer, Self::MatchingServer, Self::Standalone];

    /// The program's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::MainServer => "main-server",
            Self::MatchingServer => "matching-server",
            Self::Standalone => "standalone",
        }
    }
}

/// Some of the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Servers {
    main_server: bool,
    matching_server: bool,
    standalone: bool,
}

impl Servers {
    /// Whether a program is among them.
    pub fn contains(self, server: Server) -> bool {
        match server {
            Server::MainServer => self.main_server,
            Server::MatchingServer => self.matching_server,
            Server::Standalone => self.standalone,
        }
    }
}

/// All three.
const ALL: Servers = Servers { main_server: true, matching_server: true, standalone: true };
/// Who serves the API.
const API: Servers = Servers { matching_server: false, ..ALL };
/// Who runs engines.
const ENGINES: Servers = Servers { main_server: false, ..ALL };
/// The servers of a cluster.
const CLUSTER: Servers = Servers { standalone: false, ..ALL };
const MAIN_SERVER: Servers = Servers { main_server: true, matching_server: false, standalone: false };
const MATCHING_SERVER: Servers = Servers { main_server: false, matching_server: true, standalone: false };
const STANDALONE: Servers = Servers { main_server: false, matching_server: false, standalone: true };
const NOBODY: Servers = Servers { standalone: false, ..STANDALONE };

/// The shard, as in the names of the queues.
const SHARD: Label = Label { name: "shard", values: Values::Like("two digits, from 00", r"\d\d+") };

/// Every metric there is.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    GROUPS.iter().flat_map(|group| group.metrics)
}

/// The metric of this name.
pub fn find(name: &str) -> Option<&'static Metric> {
    all().find(|metric| metric.name == name)
}

impl Metric {
    /// What its HELP line says.
    pub fn help(&self) -> String {
        format!("{} Good: {}", self.says, self.good)
    }

    /// The series that a program has from the start: the values of the labels, in their order.
    pub fn series_at_start(&self, server: Server) -> Vec<Vec<&'static str>> {
        match self.at_start {
            _ if !self.servers.contains(server) => Vec::new(),
            AtStart::None => Vec::new(),
            AtStart::These(series) => series.iter().map(|values| values.to_vec()).collect(),
            AtStart::All => self.labels.iter().fold(vec![Vec::new()], |begun, label| {
                let values = label.values_of(server);
                let with_each = |begun: Vec<&'static str>| {
                    values.iter().map(move |value| [&begun[..], &[*value]].concat()).collect::<Vec<_>>()
                };
                begun.into_iter().flat_map(with_each).collect()
            }),
        }
    }
}

impl Label {
    /// The listed values that a program records.
    pub fn values_of(&self, server: Server) -> Vec<&'static str> {
        match self.values {
            Values::Known(known) => {
                let of_server = known.iter().filter(|(servers, _)| servers.contains(server));
                of_server.flat_map(|(_, values)| values.iter().copied()).collect()
            }
            Values::Like(..) => Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
