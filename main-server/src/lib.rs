//! The HTTP API: accepts tickets, answers what became of them, and never pairs anybody.
//!
//! A request that creates a ticket goes through [`accept`] (group commit), which tells the engines by a hint after
//! the commit. A phone that waits is held in [`waiters`], woken by word from whoever settled its ticket and, should
//! that word be lost, by a look at the store each second.

mod accept;
mod admission;
mod auth;
mod body;
mod create;
mod events;
mod fresh;
mod matches;
mod observe;
mod problem;
mod query;
mod relay;
mod tickets;
mod waiters;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use proto::{Hint, TicketId};
use service::lifecycle::Tasks;
use store::Store;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;

pub use auth::{AuthArgs, AuthMode, Authenticator};
pub use relay::relay_hints;

/// The most batches of wake-ups that wait to be read.
pub const WAKEUP_QUEUE: usize = 4_096;

/// What the API works with.
pub struct Deps {
    /// The truth.
    pub store: Arc<dyn Store>,
    /// Tells who calls.
    pub auth: Authenticator,
    /// Told of tickets after they are committed. Bounded; a lost hint costs seconds.
    pub hints: mpsc::Sender<Hint>,
    /// Word of tickets that settled, from whoever settled them.
    pub wakeups: mpsc::Receiver<Vec<TicketId>>,
    /// Told of tickets that settle here, so that whoever holds their phones learns of it. Bounded; lost word costs a second.
    pub settled: mpsc::Sender<Vec<TicketId>>,
    /// The most tickets that wait in one shard.
    pub pool_bound: usize,
    /// The least time between two commits of new tickets ([`service::group_commit`]). After a silence one is made at once.
    pub accept_pace: Duration,
}

/// What every handler shares.
struct Api {
    store: Arc<dyn Store>,
    auth: Authenticator,
    acceptor: accept::Acceptor,
    admission: Arc<admission::Admission>,
    waiters: Arc<waiters::Waiters>,
    settled: mpsc::Sender<Vec<TicketId>>,
    hints: accept::HintSender,
    /// Cancelled when this server stops serving: phones that wait are answered at once.
    closing: CancellationToken,
}

/// Starts the API's background work in `tasks` and answers its routes.
///
/// `closing` is cancelled when the server stops serving, before `tasks` are told to stop.
pub fn start(tasks: &Tasks, deps: Deps, closing: CancellationToken) -> Router {
    let Deps { store, auth, hints, wakeups, settled, pool_bound, accept_pace } = deps;
    let admission = Arc::new(admission::Admission::new(store.rules().shard_count, pool_bound));
    let hints = accept::HintSender::new(hints);
    let waiters = waiters::start(tasks, Arc::clone(&store), wakeups);
    let acceptor = accept::start(
        tasks,
        Arc::clone(&store),
        hints.clone(),
        Arc::clone(&admission),
        Arc::clone(&waiters),
        accept_pace,
    );
    tasks.spawn_endless("admission", admission::keep(Arc::clone(&admission), Arc::clone(&store)));
    router(Arc::new(Api { store, auth, acceptor, admission, waiters, settled, hints, closing }))
}

impl Api {
    /// Passes on that a ticket has settled.
    fn tell_settled(&self, id: TicketId) {
        // Lost word costs a second.
        let _ = self.settled.try_send(vec![id]);
    }
}

fn router(api: Arc<Api>) -> Router {
    Router::new()
        .route("/v1/tickets", post(create::create_ticket))
        .route("/v1/tickets/current", get(tickets::current_ticket))
        .route("/v1/tickets/{id}", get(tickets::read_ticket).delete(tickets::cancel_ticket))
        .route("/v1/tickets/{id}/events", get(events::ticket_events))
        .route("/v1/matches", get(matches::list_matches))
        .route("/v1/matches/{id}", get(matches::read_match))
        .route("/problems/{slug}", get(problem::describe_problem))
        .fallback(problem::no_such_route)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(CatchPanicLayer::custom(problem::after_panic))
        .layer(axum::middleware::from_fn(observe::record_request))
        .with_state(api)
}
