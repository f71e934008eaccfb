//! The process from top to bottom: settings, store, ports, tasks; then wait; then stop in stages.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use service::clock::StoreClock;
use service::lifecycle::{Signals, Tasks};
use service::policy::{DEFAULT_POLICY, MatchPolicy};
use service::{admin, http, sweep, telemetry};
use store::{Rules, SqliteStore, Store};
use tokio::sync::mpsc;

use crate::args::Args;
use crate::banner;

/// How long requests under way, and then settlements in flight, may take to finish.
const STOP_DEADLINE: Duration = Duration::from_secs(10);

pub(crate) async fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.print_policy {
        std::io::stdout().write_all(DEFAULT_POLICY.as_bytes()).context("cannot print the policy")?;
        return Ok(ExitCode::SUCCESS);
    }
    let policy = MatchPolicy::load_or_default(args.policy.as_deref())?;
    main_server::check_listen(args.auth, args.listen).map_err(anyhow::Error::msg)?;
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let listener = http::bind("--listen", args.listen)?;
    let admin_listener = http::bind("--admin", args.admin)?;
    let (listen, admin_address) = (listener.local_addr()?, admin_listener.local_addr()?);
    http::raise_open_files();

    let metrics = telemetry::start_metrics()?;
    let rules = Rules {
        shard_count: proto::DEFAULT_SHARD_COUNT,
        expire_after: policy.expire_after,
        no_rematch_for: policy.no_rematch_for,
        same_press_within: policy.same_press_within,
        wide: None,
    };
    let location = args.location();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&location, rules).await?);
    let clock = Arc::new(StoreClock::new(&*store).await?);

    // Two groups: what serves stops first, what works behind it afterwards.
    let (serving, working) = (Tasks::new(), Tasks::new());
    let (hints, hints_received) = mpsc::channel(matching_server::HINT_QUEUE);
    let (wakeups, wakeups_received) = mpsc::channel(main_server::WAKEUP_QUEUE);
    let engines = matching_server::Deps {
        store: Arc::clone(&store),
        clock: Arc::clone(&clock),
        policy: policy.pairing,
        wakeups: wakeups.clone(),
    };
    matching_server::start(&working, &engines, hints_received)?;
    let api = main_server::Deps {
        store: Arc::clone(&store),
        auth: args.auth,
        hints,
        wakeups: wakeups_received,
        pool_bound: policy.pool_bound,
    };
    let router = main_server::start(&working, api, serving.stop_token());
    let sweep_store = Arc::clone(&store);
    working.spawn_endless("sweep", async move { sweep::sweep_overdue(&*sweep_store, &wakeups).await });
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
    tracing::warn!("--auth dev: anybody who reaches this address is who they say they are");
    banner::print(listen, admin_address, &location, &service::ids::new_owner_id().to_string());

    tokio::select! {
        () = signals.next() => tracing::info!("stopping; once more to stop at once"),
        () = working.failure() => {}
        () = serving.failure() => {}
    }
    admin.start_draining();
    let stopped = tokio::select! {
        stopped = stop(args.drain_delay, &serving, &working, &*store) => stopped,
        () = signals.next() => false,
    };
    let clean = stopped && !working.has_failed() && !serving.has_failed();
    tracing::info!(clean, "stopped");
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Stops in stages; `false` when something did not finish in time.
async fn stop(drain_delay: Duration, serving: &Tasks, working: &Tasks, store: &dyn Store) -> bool {
    tokio::time::sleep(drain_delay).await;
    let served = serving.stop(STOP_DEADLINE).await;
    let worked = working.stop(STOP_DEADLINE).await;
    store.close().await;
    if !served {
        tracing::warn!("some requests did not finish in time");
    }
    if !worked {
        tracing::warn!(
            "some work did not finish in time; what was not settled is settled after the next start"
        );
    }
    served && worked
}
