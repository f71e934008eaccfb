//! Starts every phone at its moment. The schedule is open: it never waits for answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::outcome::Seen;
use crate::phone::{Stage, live};
use crate::server::Server;
use crate::token::Tokens;
use crate::trace::Trace;
use crate::wire::Wire;

/// How to play a trace against servers.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Request `n` is posted at server `n` modulo their number, and waits at the next one.
    pub servers: Vec<Server>,
    /// How long after the last request the run ends, settled or not.
    pub timeout: Duration,
    /// How phones say who their user is.
    pub tokens: Tokens,
    /// Whether each request carries an `Idempotency-Key`.
    pub idempotency_keys: bool,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Phones that were started.
    pub started: usize,
    /// Phones that are done.
    pub done: usize,
}

/// From here to the first request: for the program to get ready.
const HEAD_START: Duration = Duration::from_millis(50);

/// Plays a trace against servers at its own times ([`Trace::sped_up`] makes others) until every phone is done, the time is up, or `stop` is cancelled.
///
/// # Errors
/// When a phone failed in itself: that is a bug in this program.
pub async fn drive(
    trace: &Trace,
    plan: Plan,
    stop: &CancellationToken,
    on_progress: impl Fn(Progress),
) -> anyhow::Result<Vec<Seen>> {
    let requests = trace.requests();
    let mut seen = vec![Seen::default(); requests.len()];
    let began = Instant::now() + HEAD_START;
    let due = |n: usize| began + Duration::from_millis(requests[n].at_ms);
    let end = due(requests.len() - 1) + plan.timeout;
    let stage = Arc::new(Stage {
        shares_user: shares_user(trace),
        trace: trace.clone(),
        servers: plan.servers,
        wire: Wire::new(),
        tokens: plan.tokens.clone(),
        prefix: format!("r{:08x}-", rand::random::<u32>()),
        idempotency_keys: plan.idempotency_keys,
    });

    let stop = stop.child_token();
    let mut phones = JoinSet::new();
    let mut progress = Progress { started: 0, done: 0 };
    loop {
        let stopped = stop.is_cancelled();
        while !stopped && progress.started < requests.len() && due(progress.started) <= Instant::now() {
            let (stage, stop) = (Arc::clone(&stage), stop.clone());
            let (n, scheduled) = (progress.started, due(progress.started));
            phones.spawn(async move { (n, live(&stage, n, scheduled, &stop).await) });
            progress.started += 1;
        }
        on_progress(progress);
        let all_started = stopped || progress.started == requests.len();
        if all_started && phones.is_empty() {
            return Ok(seen);
        }
        let next = if all_started { end } else { due(progress.started) };
        tokio::select! {
            biased;
            () = stop.cancelled(), if !stopped => {}
            () = sleep_until(next), if !stopped => if all_started { stop.cancel() },
            Some(done) = phones.join_next() => {
                let (n, one) = done.context("a phone failed")?;
                seen[n] = one;
                progress.done += 1;
            }
        }
    }
}

fn shares_user(trace: &Trace) -> Vec<bool> {
    let mut requests_of: HashMap<&str, usize> = HashMap::new();
    for request in trace.requests() {
        *requests_of.entry(request.user.as_str()).or_default() += 1;
    }
    trace.requests().iter().map(|request| requests_of[request.user.as_str()] > 1).collect()
}
