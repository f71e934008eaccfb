//! HTTP listeners: bound before anything else starts, served until told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::serve::ListenerExt;
use tokio::net::{TcpListener, TcpSocket};
use tokio_util::sync::CancellationToken;

use crate::lifecycle::Tasks;

/// How many connections may wait to be accepted by the operating system. A burst of phones arrives at once.
const BACKLOG: u32 = 4_096;
/// How long, after the stop, connections without a whole request are kept: long enough for answers to be sent off.
const SILENT_GRACE: Duration = Duration::from_secs(2);

/// How often, after that, it is looked whether a handler still works.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Binds an address.
///
/// # Errors
/// When the address is in use or not of this machine; the message says which flag names it.
pub fn bind(flag: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let listen = || {
        let socket = socket?;
        // A restarted server gets its port back at once.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().with_context(|| format!("cannot listen on {address} ({flag})"))
}

/// Serves until `tasks` are told to stop; then takes no more connections and finishes the requests under way.
/// A caller who has sent no whole request by then does not hold it up.
pub fn serve(tasks: &Tasks, name: &'static str, listener: TcpListener, router: Router) {
    let stop = tasks.stop_token();
    let under_way = Arc::new(AtomicUsize::new(0));
    let silent = only_silent_callers_left(Arc::clone(&under_way), stop.clone());
    let router = router.layer(from_fn(move |request: Request, next: Next| {
        let counted = UnderWay::new(&under_way);
        async move {
            let _counted = counted;
            next.run(request).await
        }
    }));
    // Answers are small: waiting to fill a packet would only delay them.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tasks.spawn(name, async move {
        let serve = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
        tokio::select! {
            served = serve => {
                if let Err(error) = served {
                    tracing::error!(error = &error as &dyn std::error::Error, listener = name, "serving failed");
                }
            }
            () = silent => tracing::info!(listener = name, "some callers never sent a whole request"),
        }
    });
}

/// A request that a handler works on, counted until this is dropped.
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns a while after the stop, once no handler works any more.
async fn only_silent_callers_left(under_way: Arc<AtomicUsize>, stop: CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(SILENT_GRACE).await;
    while under_way.load(Ordering::Relaxed) > 0 {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Lets this process hold as many connections as the operating system permits: each waiting phone holds one.
pub fn raise_open_files() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => tracing::debug!(limit, "open files"),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "cannot raise the limit on open files; each waiting phone needs one");
        }
    }
}
