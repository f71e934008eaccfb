//! Group commit: requests that arrive while a write is in flight form the next write.
//!
//! No fixed batch size: one at a time when idle, large batches under load. One write is in flight at a time, and two
//! writes begin no closer together than the group's pace: a fast disk would otherwise be asked for a thousand commits
//! a second with one or two items each, and the machine would spend itself on them (`docs/adr/0004-paced-commits.md`).
//! The queue and the batch are bounded; at the bound the caller is told at once.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::lifecycle::Tasks;

/// How much a group holds.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The most items that wait for the write in flight.
    pub queue: usize,
    /// The most items in one write.
    pub batch: usize,
    /// The least time between the beginnings of two writes. After a longer silence a write begins at once.
    pub pace: Duration,
}

/// Why an item was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotDone {
    /// The queue is at its bound; the item was not taken.
    #[error("too much is waiting to be written")]
    Full,
    /// The group has stopped; the item may or may not have been written.
    #[error("writing has stopped")]
    Stopped,
}

type Entry<I, O> = (I, oneshot::Sender<O>);

/// Where items are handed in. Cheap to clone.
pub struct GroupCommit<I, O> {
    entries: mpsc::Sender<Entry<I, O>>,
}

impl<I, O> Clone for GroupCommit<I, O> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone() }
    }
}

impl<I: Send + 'static, O: Send + 'static> GroupCommit<I, O> {
    /// Starts a group in `tasks`. `write` answers each item of its batch, in order.
    ///
    /// When the tasks are told to stop, the group takes nothing more, writes what it holds and ends.
    pub fn start<W, F>(tasks: &Tasks, kind: &'static str, bounds: Bounds, write: W) -> Self
    where
        W: Fn(Arc<[I]>) -> F + Send + 'static,
        F: Future<Output = Vec<O>> + Send + 'static,
        I: Sync,
    {
        let (entries, queue) = mpsc::channel(bounds.queue);
        tasks.spawn(kind, run(queue, kind, bounds, write, tasks.stop_token()));
        Self { entries }
    }

    /// Hands an item in and waits for its answer.
    ///
    /// # Errors
    /// [`NotDone::Full`] at once when the queue is at its bound, [`NotDone::Stopped`] when the group has ended.
    pub async fn submit(&self, item: I) -> Result<O, NotDone> {
        let (answer, answered) = oneshot::channel();
        self.entries.try_send((item, answer)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NotDone::Full,
            mpsc::error::TrySendError::Closed(_) => NotDone::Stopped,
        })?;
        answered.await.map_err(|_| NotDone::Stopped)
    }
}

async fn run<I, O, W, F>(
    mut queue: mpsc::Receiver<Entry<I, O>>,
    kind: &'static str,
    bounds: Bounds,
    write: W,
    stop: CancellationToken,
) where
    W: Fn(Arc<[I]>) -> F,
    F: Future<Output = Vec<O>>,
{
    let sizes = metrics::histogram!("dovetail_commit_batch_size", "kind" => kind);
    let mut entries = Vec::new();
    let mut next_write = Instant::now();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled(), if !queue.is_closed() => queue.close(),
            taken = queue.recv_many(&mut entries, bounds.batch) => {
                if taken == 0 {
                    // Closed by the stop, or everybody who could hand something in has gone before it.
                    stop.cancelled().await;
                    return;
                }
                if next_write > Instant::now() {
                    // What arrives meanwhile joins this write; a stop ends the wait.
                    stop.run_until_cancelled(tokio::time::sleep_until(next_write)).await;
                    while entries.len() < bounds.batch {
                        let Ok(entry) = queue.try_recv() else { break };
                        entries.push(entry);
                    }
                }
                next_write = Instant::now() + bounds.pace;
                let (items, answers): (Vec<I>, Vec<_>) = entries.drain(..).unzip();
                #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
                sizes.record(items.len() as f64);
                let outcomes = write(items.into()).await;
                debug_assert_eq!(outcomes.len(), answers.len(), "{kind} answers every item");
                for (outcome, answer) in outcomes.into_iter().zip(answers) {
                    // The caller may have gone; what was written stays written.
                    let _ = answer.send(outcome);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::poll;
    use std::pin::pin;
    use tokio::sync::Semaphore;

    const BOUNDS: Bounds = Bounds { queue: 4, batch: 3, pace: Duration::ZERO };

    /// A group whose writes say that they began, then wait to be let through, and answer with their batch's size.
    struct Gated {
        tasks: Tasks,
        group: GroupCommit<u32, usize>,
        begun: Arc<Semaphore>,
        gate: Arc<Semaphore>,
    }

    impl Gated {
        fn start() -> Self {
            Self::with_bounds(BOUNDS)
        }

        fn with_bounds(bounds: Bounds) -> Self {
            let tasks = Tasks::new();
            let (begun, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
            let (say, wait) = (Arc::clone(&begun), Arc::clone(&gate));
            let group = GroupCommit::start(&tasks, "test", bounds, move |items: Arc<[u32]>| {
                let (say, wait) = (Arc::clone(&say), Arc::clone(&wait));
                async move {
                    say.add_permits(1);
                    wait.acquire().await.unwrap().forget();
                    vec![items.len(); items.len()]
                }
            });
            Self { tasks, group, begun, gate }
        }

        async fn until_a_write_begins(&self) {
            self.begun.acquire().await.unwrap().forget();
        }
    }

    #[tokio::test]
    async fn what_arrives_during_a_write_forms_the_next() {
        let gated = Gated::start();
        let mut first = pin!(gated.group.submit(0));
        assert!(poll!(&mut first).is_pending());
        gated.until_a_write_begins().await;
        let mut late: Vec<_> = (1..=4).map(|n| Box::pin(gated.group.submit(n))).collect();
        for submit in &mut late {
            assert!(poll!(submit).is_pending());
        }
        gated.gate.add_permits(3);
        assert_eq!(first.await, Ok(1));
        let sizes = futures::future::join_all(late).await;
        assert_eq!(sizes, [Ok(3), Ok(3), Ok(3), Ok(1)], "batches are bounded");
    }

    #[tokio::test(start_paused = true)]
    async fn writes_keep_their_pace_and_gather_meanwhile() {
        let pace = Duration::from_millis(10);
        let gated = Gated::with_bounds(Bounds { pace, ..BOUNDS });
        gated.gate.add_permits(9);
        let start = Instant::now();
        assert_eq!(gated.group.submit(0).await, Ok(1));
        assert_eq!(start.elapsed(), Duration::ZERO, "after a silence a write begins at once");
        let both = tokio::join!(gated.group.submit(1), async {
            tokio::time::sleep(pace / 2).await;
            gated.group.submit(2).await
        });
        assert_eq!(both, (Ok(2), Ok(2)), "the later one joined");
        assert_eq!(start.elapsed().as_millis(), 10);
    }

    #[tokio::test]
    async fn a_full_queue_says_so_at_once() {
        let gated = Gated::start();
        let mut first = pin!(gated.group.submit(0));
        assert!(poll!(&mut first).is_pending());
        gated.until_a_write_begins().await;
        let mut queued: Vec<_> = (1..=4).map(|n| Box::pin(gated.group.submit(n))).collect();
        for submit in &mut queued {
            assert!(poll!(submit).is_pending());
        }
        assert_eq!(gated.group.submit(9).await, Err(NotDone::Full));
        gated.gate.add_permits(9);
        assert!(futures::future::join_all(queued).await.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn a_group_outlives_those_who_hand_in() {
        let Gated { tasks, group, .. } = Gated::start();
        drop(group);
        assert!(tasks.stop(Duration::from_secs(5)).await);
        assert!(!tasks.has_failed());
    }

    #[tokio::test]
    async fn stopping_writes_what_is_held() {
        let gated = Gated::start();
        let mut held = pin!(gated.group.submit(1));
        assert!(poll!(&mut held).is_pending());
        gated.until_a_write_begins().await;
        let mut queued = pin!(gated.group.submit(2));
        assert!(poll!(&mut queued).is_pending());
        gated.gate.add_permits(2);
        assert!(gated.tasks.stop(Duration::from_secs(5)).await);
        assert_eq!((held.await, queued.await), (Ok(1), Ok(1)));
        assert_eq!(gated.group.submit(3).await, Err(NotDone::Stopped));
    }
}
