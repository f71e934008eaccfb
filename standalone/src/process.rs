//! The process from top to bottom: settings, store, ports, tasks; then wait; then stop in stages.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use main_server::AuthMode;
use service::clock::StoreClock;
use service::lifecycle::{Signals, Tasks};
use service::metrics::catalogue::Server;
use service::policy::{DEFAULT_POLICY, MatchPolicy};
use service::shutdown::Running;
use service::{admin, http, metrics, sweep};
use store::{SqliteStore, Store};
use tokio::sync::mpsc;

use crate::args::Args;
use crate::banner;

/// The least time between two commits of new tickets. SQLite is in this process: a commit is cheap, a phone's wait is not.
const ACCEPT_PACE: Duration = Duration::from_millis(10);

pub(crate) async fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.print_policy {
        std::io::stdout().write_all(DEFAULT_POLICY.as_bytes()).context("cannot print the policy")?;
        return Ok(ExitCode::SUCCESS);
    }
    let policy = MatchPolicy::load_or_default(args.policy.as_deref())?;
    let auth = args.auth.authenticator(AuthMode::Dev)?;
    auth.check_listen(args.listen).map_err(anyhow::Error::msg)?;
    let warning = auth.warning();
    // Before anything is done that counts, a warning logged among it.
    let metrics = metrics::start(Server::Standalone)?;
    let signals = Signals::listen().context("cannot listen for signals")?;
    let listener = http::bind("--listen", args.listen)?;
    let admin_listener = http::bind("--admin", args.admin)?;
    let (listen, admin_address) = (listener.local_addr()?, admin_listener.local_addr()?);
    http::raise_open_files();

    let location = args.location();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&location, policy.rules()).await?);
    let clock = Arc::new(StoreClock::new(&*store).await?);

    // Two groups: what serves stops first, what works behind it afterwards.
    let (serving, working) = (Tasks::new(), Tasks::new());
    let (hints, hints_received) = mpsc::channel(matching_server::HINT_QUEUE);
    let (wakeups, wakeups_received) = mpsc::channel(main_server::WAKEUP_QUEUE);
    let engines = matching_server::Deps {
        store: Arc::clone(&store),
        clock: Arc::clone(&clock),
        policy: policy.pairing,
        wakeups: Some(wakeups.clone()),
    };
    matching_server::start(&working, &engines, hints_received)?;
    let api = main_server::Deps {
        store: Arc::clone(&store),
        auth,
        hints,
        wakeups: wakeups_received,
        settled: wakeups.clone(),
        pool_bound: policy.pool_bound,
        accept_pace: ACCEPT_PACE,
    };
    let router = main_server::start(&working, api, serving.stop_token());
    let sweep_store = Arc::clone(&store);
    working.spawn_endless("sweep", async move { sweep::sweep_overdue(&*sweep_store, Some(&wakeups)).await });
    let clock_store = Arc::clone(&store);
    working.spawn_endless("clock", async move { clock.keep(&*clock_store).await });
    working.spawn_endless("metrics", admin::keep_metrics(metrics.clone()));
    let admin = admin::Admin::new(Arc::clone(&store), metrics);
    http::serve(&serving, "API", listener, router);
    http::serve(&working, "admin port", admin_listener, admin.clone().router());

    tracing::info!(%listen, admin = %admin_address, "serving");
    if !admin_address.ip().is_loopback() {
        tracing::warn!(admin = %admin_address, "the admin port can be reached from other machines; it checks nobody");
    }
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
    banner::print(listen, admin_address, &location, &service::ids::new_owner_id().to_string());

    let drain_delay = args.drain_delay;
    let running = Running { signals, serving: &serving, working: &working, drain_delay };
    Ok(running.to_the_end(&admin, &*store).await)
}
