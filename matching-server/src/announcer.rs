//! Match events: every match is published to the `matches` exchange at least once.
//!
//! The matches of settled batches come by a bounded queue and are published together; the store notes which were. Those
//! that were not (a crash, a broker that was away, a full queue) are found there and published later.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use proto::{MatchId, MatchMade, MatchesMade, encode, topology};
use service::amqp::{Outgoing, Publisher};
use service::lifecycle::Tasks;
use store::Store;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

/// The most settled batches that wait to be announced. Past it they are found in the store.
const QUEUE: usize = 256;
/// The most matches in one event: some 300 bytes each.
const EVENT_BATCH: usize = 500;
/// The least time between two events: a push may come this much later, and the store and broker are asked less often.
const PACE: Duration = Duration::from_millis(200);
/// How often the store is asked for matches that were not announced.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How old such a match is: younger ones are still on their way through the queue.
const OVERDUE_AFTER: Duration = Duration::from_secs(2);

/// Starts announcing; answers where matches are handed in.
pub(crate) fn start(
    tasks: &Tasks,
    store: Arc<dyn Store>,
    publisher: Publisher,
) -> mpsc::Sender<Vec<MatchMade>> {
    let (made, batches) = mpsc::channel(QUEUE);
    tasks.spawn_endless("match events", Announcer { store, publisher }.run(batches));
    made
}

struct Announcer {
    store: Arc<dyn Store>,
    publisher: Publisher,
}

impl Announcer {
    async fn run(self, mut batches: mpsc::Receiver<Vec<MatchMade>>) {
        let mut look = tokio::time::interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut taken = Vec::new();
        loop {
            let round = Instant::now();
            tokio::select! {
                count = batches.recv_many(&mut taken, QUEUE) => {
                    if count == 0 {
                        // Whoever settled has gone; what is left is announced by another server.
                        return std::future::pending().await;
                    }
                    let matches: Vec<MatchMade> = taken.drain(..).flatten().collect();
                    for matches in matches.chunks(EVENT_BATCH) {
                        self.announce(matches.to_vec()).await;
                    }
                    tokio::time::sleep_until(round + PACE).await;
                }
                _ = look.tick() => self.announce_overdue().await,
            }
        }
    }

    async fn announce_overdue(&self) {
        let limit = u32::try_from(EVENT_BATCH).unwrap_or(u32::MAX);
        match self.store.unannounced_matches(OVERDUE_AFTER, limit).await {
            Ok(matches) if matches.is_empty() => {}
            Ok(matches) => self.announce(matches).await,
            Err(error) => {
                let error = &error as &dyn Error;
                tracing::warn!(error, "cannot look for matches that were not announced; trying again");
            }
        }
    }

    async fn announce(&self, matches: Vec<MatchMade>) {
        let ids: Vec<MatchId> = matches.iter().map(|made| made.id).collect();
        // Nobody need have subscribed.
        let event = Outgoing::to_all(topology::MATCHES_EXCHANGE, encode(&MatchesMade { matches }));
        if let Err(error) = self.publisher.publish(event).await {
            tracing::debug!(
                error = &error as &dyn Error,
                matches = ids.len(),
                "cannot announce; trying again"
            );
            return;
        }
        metrics::counter!("dovetail_matches_announced_total").increment(ids.len() as u64);
        if let Err(error) = self.store.note_announced(&ids).await {
            let error = &error as &dyn Error;
            tracing::warn!(
                error,
                matches = ids.len(),
                "cannot note what was announced; it is announced again"
            );
        }
    }
}
