//! HTTP listeners: bound before anything else starts, served until told to stop.

use std::net::SocketAddr;

use anyhow::Context as _;
use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::{TcpListener, TcpSocket};

use crate::lifecycle::Tasks;

/// How many connections may wait to be accepted by the operating system. A burst of phones arrives at once.
const BACKLOG: u32 = 4_096;

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
pub fn serve(tasks: &Tasks, name: &'static str, listener: TcpListener, router: Router) {
    let stop = tasks.stop_token();
    // Answers are small: waiting to fill a packet would only delay them.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tasks.spawn(name, async move {
        let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::error!(error = &error as &dyn std::error::Error, listener = name, "serving failed");
        }
    });
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
