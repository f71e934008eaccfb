//! The keeper of a connection: one task that opens it, watches it, and opens it anew at the next node.
//!
//! Nobody else connects. So a lost broker is tried at one pace, however many wait for it, and who publishes meanwhile is
//! told at once. The client library's own recovery is not used: it goes back to the node it came from.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use deadpool_lapin::{Config, Pool, PoolConfig, PoolError, Runtime, Timeouts};
use futures::future::BoxFuture;
use lapin::ConnectionProperties;
use tokio::sync::watch;
use tokio::time::timeout;

use super::link::Link;
use super::urls::{AmqpUrl, AmqpUrls, CONNECT_DEADLINE};
use crate::backoff::Backoff;
use crate::health::Health;
use crate::lifecycle::Tasks;

/// The waits between rounds of the nodes while none can be had. Short at first, since one of three mostly can.
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
/// The most connections to one node: the one in use, and one given up that somebody still finishes with.
const CONNECTIONS_PER_NODE: usize = 2;
/// When an attempt to connect is forgotten. Until then it is waited for again in each round, since every attempt has a
/// thread that lives as long as a node that accepts connections and says nothing: a paused one.
const FORGET_ATTEMPT_AFTER: Duration = Duration::from_secs(30);

/// What there is to use.
#[derive(Clone)]
enum State {
    /// Nothing yet, but soon, as far as is known.
    Opening,
    /// A connection.
    Up(Arc<Link>),
    /// Nothing, and every node was tried.
    Away,
}

/// Where those who use the connection get it. Cheap to clone.
#[derive(Clone)]
pub(super) struct Keeper {
    state: watch::Receiver<State>,
    health: Health,
}

impl Keeper {
    /// Starts to keep a connection. `process` and `name` are shown by RabbitMQ's management.
    pub(super) fn start(tasks: &Tasks, urls: &AmqpUrls, process: &str, name: &'static str) -> Self {
        let health = Health::new(name);
        let (sender, state) = watch::channel(State::Opening);
        let nodes = Nodes::new(urls, &format!("dovetail {process} {name}"));
        tasks.spawn_endless(name, keep(nodes, sender, health.clone()));
        Self { state, health }
    }

    /// How it is.
    pub(super) fn health(&self) -> Health {
        self.health.clone()
    }

    /// The connection. Waits while it is being opened; `None` at once when no node can be had.
    pub(super) async fn link(&self) -> Option<Arc<Link>> {
        self.find(|state| matches!(state, State::Away)).await
    }

    /// The connection, however long it takes; `None` when it is kept no more.
    pub(super) async fn link_at_last(&self) -> Option<Arc<Link>> {
        self.find(|_| false).await
    }

    async fn find(&self, is_hopeless: impl Fn(&State) -> bool) -> Option<Arc<Link>> {
        let mut state = self.state.clone();
        let is_decided = |state: &State| match state {
            State::Up(link) => link.is_good(),
            State::Opening | State::Away => is_hopeless(state),
        };
        match &*state.wait_for(is_decided).await.ok()? {
            State::Up(link) => Some(Arc::clone(link)),
            State::Opening | State::Away => None,
        }
    }
}

async fn keep(mut nodes: Nodes, state: watch::Sender<State>, health: Health) {
    let mut backoff = RETRY.clone();
    loop {
        let lost = match nodes.open_one().await {
            Ok(link) => {
                let link = Arc::new(link);
                state.send_replace(State::Up(Arc::clone(&link)));
                let why = link.watch(&health).await;
                if link.has_served() {
                    // Another node mostly takes over at once: who publishes waits for it.
                    state.send_replace(State::Opening);
                    backoff.reset();
                    health.set_away(&why);
                    continue;
                }
                why
            }
            Err(why) => why,
        };
        state.send_replace(State::Away);
        health.set_away(&lost);
        tokio::time::sleep(backoff.next_jittered()).await;
    }
}

/// The nodes, and which one is next.
struct Nodes {
    nodes: Vec<Node>,
    next: usize,
}

struct Node {
    url: AmqpUrl,
    pool: Pool,
    /// An attempt that has not ended yet.
    attempt: Option<BoxFuture<'static, Result<deadpool_lapin::Connection, PoolError>>>,
}

impl Nodes {
    fn new(urls: &AmqpUrls, connection_name: &str) -> Self {
        let nodes: Vec<Node> = urls.iter().map(|url| Node::new(url, connection_name)).collect();
        // Processes start anywhere, so that the nodes share them.
        let next = rand::random_range(0..nodes.len());
        Self { nodes, next }
    }

    /// Tries each node once, from the next one on. Fails with what each said.
    async fn open_one(&mut self) -> Result<Link, String> {
        let mut failures = Vec::new();
        for _ in 0..self.nodes.len() {
            let at = self.next;
            self.next = (at + 1) % self.nodes.len();
            let node = &mut self.nodes[at];
            match node.open().await {
                Ok(link) => return Ok(link),
                Err(why) => failures.push(format!("{}: {why}", node.url)),
            }
        }
        // The same order each time, so that the same trouble reads the same.
        failures.sort();
        Err(failures.join("; "))
    }
}

impl Node {
    fn new(url: &AmqpUrl, connection_name: &str) -> Self {
        let timeouts = Timeouts {
            wait: Some(CONNECT_DEADLINE),
            create: Some(FORGET_ATTEMPT_AFTER),
            recycle: Some(CONNECT_DEADLINE),
        };
        let pool = PoolConfig { timeouts, ..PoolConfig::new(CONNECTIONS_PER_NODE) };
        let name = connection_name.to_owned();
        let properties = move || ConnectionProperties::default().with_connection_name(name.as_str().into());
        let pool = Config { url: Some(url.secret_text()), pool: Some(pool) }
            .create_pool(properties, Runtime::Tokio1)
            .context("a pool of a checked address")
            .expect("the runtime is compiled in and named");
        Self { url: url.clone(), pool, attempt: None }
    }

    async fn open(&mut self) -> Result<Link, String> {
        let attempt = self.attempt.get_or_insert_with(|| {
            let pool = self.pool.clone();
            Box::pin(async move { pool.get().await })
        });
        let Ok(outcome) = timeout(CONNECT_DEADLINE, attempt).await else {
            return Err(format!("no answer within {} s", CONNECT_DEADLINE.as_secs()));
        };
        self.attempt = None;
        match outcome {
            Ok(connection) => Ok(Link::new(connection, self.url.to_string())),
            // The pool's own words say less than those of the client library.
            Err(error) => Err(error.source().map_or_else(|| error.to_string(), ToString::to_string)),
        }
    }
}
