//! Starting and stopping: tasks that are watched, and a stop in stages with a deadline.
//!
//! A process has two groups of [`Tasks`]: one that serves callers and one that works behind them. It stops the first,
//! waits, then stops the second. A task that ends before its group was told to stop takes the process down: a server
//! that has lost a limb must not go on answering.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A group of background tasks that stop together.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    tracker: TaskTracker,
    stop: CancellationToken,
    /// Shared with subgroups.
    alarm: Arc<Alarm>,
}

#[derive(Debug, Default)]
struct Alarm {
    /// Set when a task ended although nobody had asked it to.
    failed: AtomicBool,
    failure: Notify,
}

impl Tasks {
    /// An empty group.
    pub fn new() -> Self {
        Self::default()
    }

    /// A group whose failures are also this one's, but which stops on its own: whoever makes it stops it.
    pub fn subgroup(&self) -> Self {
        let alarm = Arc::clone(&self.inner.alarm);
        Self { inner: Arc::new(Inner { alarm, ..Inner::default() }) }
    }

    /// Cancelled when the group is told to stop. Tasks end soon after it.
    pub fn stop_token(&self) -> CancellationToken {
        self.inner.stop.clone()
    }

    /// Runs a task that ends only after the group was told to stop.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let inner = Arc::clone(&self.inner);
        // Watched by the task around it, which also sees a panic.
        #[allow(clippy::disallowed_methods)]
        let handle = tokio::spawn(task);
        self.inner.tracker.spawn(async move {
            let outcome = handle.await;
            if outcome.is_ok() && inner.stop.is_cancelled() {
                return;
            }
            tracing::error!(task = name, panicked = outcome.is_err(), "a background task ended by itself");
            inner.alarm.failed.store(true, Ordering::SeqCst);
            inner.alarm.failure.notify_one();
        });
    }

    /// Runs a task that goes round for ever and may be dropped anywhere when the group stops.
    pub fn spawn_endless(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop_token();
        self.spawn(name, async move {
            stop.run_until_cancelled_owned(task).await;
        });
    }

    /// Returns when a task has ended by itself.
    pub async fn failure(&self) {
        if !self.inner.alarm.failed.load(Ordering::SeqCst) {
            self.inner.alarm.failure.notified().await;
        }
    }

    /// Whether a task has ended by itself.
    pub fn has_failed(&self) -> bool {
        self.inner.alarm.failed.load(Ordering::SeqCst)
    }

    /// Tells the group to stop and waits until every task has ended; `false` when that took longer than `deadline`.
    pub async fn stop(&self, deadline: Duration) -> bool {
        self.inner.stop.cancel();
        self.inner.tracker.close();
        tokio::time::timeout(deadline, self.inner.tracker.wait()).await.is_ok()
    }
}

/// The signals that ask a process to stop: SIGTERM and SIGINT.
#[derive(Debug)]
pub struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// What `work` comes to, or `None` when a signal comes first: then the work is dropped. For what a process waits for
    /// before it serves, when there is nothing yet to stop with care.
    pub async fn unless_one_comes<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            outcome = work => Some(outcome),
            () = self.next() => {
                tracing::info!("stopped before it served");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tasks_end_when_told() {
        let tasks = Tasks::new();
        let stop = tasks.stop_token();
        tasks.spawn("waits", async move { stop.cancelled().await });
        tasks.spawn_endless("endless", std::future::pending());
        assert!(tasks.stop(Duration::from_secs(5)).await);
        assert!(!tasks.has_failed());
    }

    #[tokio::test]
    async fn a_task_that_ends_early_is_a_failure() {
        let tasks = Tasks::new();
        tasks.spawn("ends", async {});
        tasks.failure().await;
        assert!(tasks.has_failed());
    }

    #[tokio::test]
    async fn a_panic_is_a_failure() {
        let tasks = Tasks::new();
        tasks.spawn("panics", async { panic!("on purpose, in a test") });
        tasks.failure().await;
        tasks.failure().await;
    }

    #[tokio::test]
    async fn a_subgroup_stops_alone_and_fails_together() {
        let tasks = Tasks::new();
        let part = tasks.subgroup();
        part.spawn_endless("endless", std::future::pending());
        assert!(part.stop(Duration::from_secs(5)).await);
        assert!(!tasks.stop_token().is_cancelled());
        assert!(!tasks.has_failed());
        tasks.subgroup().spawn("ends", async {});
        tasks.failure().await;
    }

    #[tokio::test(start_paused = true)]
    async fn stopping_has_a_deadline() {
        let tasks = Tasks::new();
        tasks.spawn("deaf", std::future::pending());
        assert!(!tasks.stop(Duration::from_secs(5)).await);
    }
}
