//! The store's clock, as this process reckons it between two looks.
//!
//! The time of record is the store's. A process notes it now and then and adds what its own monotonic clock has
//! counted since, so that no wall clock of this machine is ever believed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proto::Timestamp;
use store::Store;

/// How often [`StoreClock::keep`] looks at the store's clock.
const RESYNC_EVERY: Duration = Duration::from_secs(10);

/// Tells the store's time without asking it.
#[derive(Debug)]
pub struct StoreClock {
    start: Instant,
    /// The store's time at `start`, in milliseconds.
    base_millis: AtomicU64,
}

impl StoreClock {
    /// Looks at the store's clock once.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn new(store: &dyn Store) -> store::Result<Self> {
        let clock = Self { start: Instant::now(), base_millis: AtomicU64::new(0) };
        clock.sync(store).await?;
        Ok(clock)
    }

    /// The store's time, right to about half a round trip.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.base_millis.load(Ordering::Relaxed)).plus(self.start.elapsed())
    }

    /// The moment on this process's clock when the store's clock shows `moment`; now, when that is past.
    pub fn instant_of(&self, moment: Timestamp) -> Instant {
        Instant::now() + moment.since(self.now())
    }

    async fn sync(&self, store: &dyn Store) -> store::Result<()> {
        let asked = self.start.elapsed();
        let now = store.now().await?;
        let half_way = asked + (self.start.elapsed() - asked) / 2;
        self.base_millis.store(now.minus(half_way).as_millis(), Ordering::Relaxed);
        Ok(())
    }

    /// Looks again every ten seconds, for ever. A store that does not answer leaves the reckoning as it is.
    pub async fn keep(&self, store: &dyn Store) {
        let mut tick = tokio::time::interval(RESYNC_EVERY);
        loop {
            tick.tick().await;
            if let Err(error) = self.sync(store).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot read the store's clock");
            }
        }
    }
}
