//! Telling other processes what settled here.

use proto::{TicketId, Wakeup, encode};
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{ANSWER_DEADLINE, CHANNEL, CONNECT_DEADLINE, Lost, PING_EVERY, RETRY, RedisUrl, count_dropped};
use crate::health::Health;
use crate::lifecycle::Tasks;

/// The most wake-ups that wait to be told. One is a settled batch, so this is far more than a deadline's worth.
const QUEUE: usize = 256;
/// A message names some this many tickets at most, and what one wake-up holds beyond.
const BATCH: usize = 1_000;

/// Starts to tell. What is sent while Redis is away is dropped and counted, and so is what the sender finds no room for.
pub fn start_telling(tasks: &Tasks, url: &RedisUrl) -> (mpsc::Sender<Vec<TicketId>>, Health) {
    let (sender, wakeups) = mpsc::channel(QUEUE);
    let health = Health::new("redis-tell");
    let teller = Teller { url: url.clone(), wakeups, health: health.clone() };
    tasks.spawn_endless("redis-tell", teller.run());
    (sender, health)
}

struct Teller {
    url: RedisUrl,
    wakeups: mpsc::Receiver<Vec<TicketId>>,
    health: Health,
}

impl Teller {
    async fn run(mut self) {
        let mut backoff = RETRY.clone();
        loop {
            let lost = match self.connect().await {
                Ok(connection) => {
                    self.health.set_up();
                    backoff.reset();
                    self.tell(connection).await
                }
                Err(lost) => lost,
            };
            self.health.set_away(&lost.to_string());
            let pause = tokio::time::sleep(backoff.next_jittered());
            drop_meanwhile(&mut self.wakeups, pause).await;
        }
    }

    /// Connects, and knows that Redis answers. The connection holds each command to its deadline.
    async fn connect(&mut self) -> Result<MultiplexedConnection, Lost> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_DEADLINE))
            .set_response_timeout(Some(ANSWER_DEADLINE));
        let client = self.url.0.clone();
        let connect = async {
            let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
            ping(&mut connection).await?;
            Ok(connection)
        };
        drop_meanwhile(&mut self.wakeups, connect).await
    }

    /// Tells until it cannot any more.
    async fn tell(&mut self, mut connection: MultiplexedConnection) -> Lost {
        loop {
            let told = match timeout(PING_EVERY, self.next()).await {
                Ok((wakeup, merged)) => {
                    let told = publish(&mut connection, &wakeup).await;
                    if told.is_err() {
                        count_dropped(merged, "telling");
                    }
                    told
                }
                Err(_) => ping(&mut connection).await,
            };
            if let Err(error) = told {
                return error.into();
            }
        }
    }

    /// What there is to tell, and of how many wake-ups it is made.
    async fn next(&mut self) -> (Wakeup, u64) {
        let Some(mut tickets) = self.wakeups.recv().await else {
            // Nobody is left who could tell anything; the task ends when the process stops.
            return std::future::pending().await;
        };
        let mut merged = 1;
        while tickets.len() < BATCH {
            let Ok(more) = self.wakeups.try_recv() else { break };
            tickets.extend(more);
            merged += 1;
        }
        (Wakeup { tickets }, merged)
    }
}

async fn publish(connection: &mut MultiplexedConnection, wakeup: &Wakeup) -> redis::RedisResult<()> {
    redis::cmd("PUBLISH").arg(CHANNEL).arg(encode(wakeup)).exec_async(connection).await
}

async fn ping(connection: &mut MultiplexedConnection) -> redis::RedisResult<()> {
    redis::cmd("PING").exec_async(connection).await
}

/// Does something that takes a while, and drops the wake-ups that come meanwhile: by the end they would be too old.
async fn drop_meanwhile<O>(wakeups: &mut mpsc::Receiver<Vec<TicketId>>, work: impl Future<Output = O>) -> O {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            Some(_) = wakeups.recv() => count_dropped(1, "telling"),
        }
    }
}
