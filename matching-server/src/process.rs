//! The process from top to bottom: settings, ports, store, broker, tasks; then wait; then stop in stages.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use matching_server::{Cluster, Deps};
use service::amqp::{Consumers, Publisher};
use service::clock::StoreClock;
use service::lifecycle::{Signals, Tasks};
use service::metrics::catalogue::Server;
use service::policy::{DEFAULT_POLICY, MatchPolicy};
use service::shutdown::Running;
use service::{admin, http, ids, metrics, sweep, wakeups};
use store::{MemberKind, Store};

use crate::args::Args;

pub(crate) async fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.server.print_policy {
        std::io::stdout().write_all(DEFAULT_POLICY.as_bytes()).context("cannot print the policy")?;
        return Ok(ExitCode::SUCCESS);
    }
    let policy = MatchPolicy::load_or_default(args.server.policy.as_deref())?;
    let (amqp, redis) = (args.server.amqp.urls()?, args.server.redis.url()?);
    // Before anything is done that counts, a warning logged among it.
    let metrics = metrics::start(Server::MatchingServer)?;
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let admin_listener = http::bind("--admin", args.admin)?;
    let admin_address = admin_listener.local_addr()?;
    http::raise_open_files();

    let owner = ids::new_owner_id();
    let opening = args.server.database.open(owner, MemberKind::MatchingServer, policy.rules());
    let Some(opened) = signals.unless_one_comes(opening).await else { return Ok(ExitCode::SUCCESS) };
    let (postgres, member) = opened?;
    let store: Arc<dyn Store> = postgres.clone();
    let clock = Arc::new(StoreClock::new(&*store).await?);

    // Two groups: the admin port is up until the shards are given back.
    let (serving, working) = (Tasks::new(), Tasks::new());
    let publisher = Publisher::start(&working, &amqp, "matching-server");
    let consumers = Consumers::start(&working, &amqp, "matching-server", publisher.clone());
    let mut dependencies = vec![publisher.health(), consumers.health()];
    let mut wakeups = None;
    if let Some(redis) = &redis {
        let (told, telling) = wakeups::start_telling(&working, redis);
        dependencies.push(telling);
        wakeups = Some(told);
    } else {
        tracing::warn!("no --redis: phones learn of their match up to a second later");
    }
    let deps = Deps {
        store: Arc::clone(&store),
        clock: Arc::clone(&clock),
        policy: policy.pairing,
        wakeups: wakeups.clone(),
    };
    let cluster = Cluster {
        members: postgres,
        member,
        consumers: Some(consumers.clone()),
        publisher: Some(publisher.clone()),
    };
    matching_server::start_leased(&serving, &deps, cluster)?;
    let sweep_store = Arc::clone(&store);
    working
        .spawn_endless("sweep", async move { sweep::sweep_overdue(&*sweep_store, wakeups.as_ref()).await });
    let clock_store = Arc::clone(&store);
    working.spawn_endless("clock", async move { clock.keep(&*clock_store).await });
    working.spawn_endless("metrics", admin::keep_metrics(metrics.clone()));
    let admin = admin::Admin::new(Arc::clone(&store), metrics).with_dependencies(dependencies);
    http::serve(&working, "admin port", admin_listener, admin.clone().router());

    tracing::info!(admin = %admin_address, %owner, "serving");
    if !admin_address.ip().is_loopback() {
        tracing::warn!(admin = %admin_address, "the admin port can be reached from other machines; it checks nobody");
    }
    let drain_delay = args.server.drain_delay;
    let running = Running { signals, serving: &serving, working: &working, drain_delay };
    Ok(running.to_the_end(&admin, &*store).await)
}
