//! The process from top to bottom: settings, ports, store, broker, tasks; then wait; then stop in stages.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use main_server::{AuthMode, Deps, WAKEUP_QUEUE, relay_hints};
use proto::TicketId;
use service::amqp::Publisher;
use service::lifecycle::{Signals, Tasks};
use service::metrics::catalogue::Server;
use service::policy::{DEFAULT_POLICY, MatchPolicy};
use service::shutdown::Running;
use service::{admin, http, ids, membership, metrics, sweep, wakeups};
use store::{MemberKind, Members, Store};
use tokio::sync::mpsc;

use crate::args::Args;

/// The most hints that wait to be gathered by shard.
const HINT_QUEUE: usize = 4_096;

/// The least time between two commits of new tickets. Every server makes its own, and each wakes several processes.
const ACCEPT_PACE: Duration = Duration::from_millis(20);

pub(crate) async fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.server.print_policy {
        std::io::stdout().write_all(DEFAULT_POLICY.as_bytes()).context("cannot print the policy")?;
        return Ok(ExitCode::SUCCESS);
    }
    let policy = MatchPolicy::load_or_default(args.server.policy.as_deref())?;
    let auth = args.auth.authenticator(AuthMode::Jwt)?;
    auth.check_listen(args.listen).map_err(anyhow::Error::msg)?;
    let (amqp, redis) = (args.server.amqp.urls()?, args.server.redis.url()?);
    // Before anything is done that counts, a warning logged among it.
    let metrics = metrics::start(Server::MainServer)?;
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let listener = http::bind("--listen", args.listen)?;
    let admin_listener = http::bind("--admin", args.admin)?;
    let (listen, admin_address) = (listener.local_addr()?, admin_listener.local_addr()?);
    http::raise_open_files();

    let owner = ids::new_owner_id();
    let opening = args.server.database.open(owner, MemberKind::MainServer, policy.rules());
    let Some(opened) = signals.unless_one_comes(opening).await else { return Ok(ExitCode::SUCCESS) };
    let (postgres, member) = opened?;
    let (store, members): (Arc<dyn Store>, Arc<dyn Members>) = (postgres.clone(), postgres);

    // Two groups: what serves stops first, what works behind it afterwards.
    let (serving, working) = (Tasks::new(), Tasks::new());
    let publisher = Publisher::start(&working, &amqp, "main-server");
    let (hints, hints_received) = mpsc::channel(HINT_QUEUE);
    working.spawn_endless("hint relay", relay_hints(hints_received, publisher.clone()));

    let (word, word_received) = mpsc::channel(WAKEUP_QUEUE);
    let (settled, settled_received) = mpsc::channel(WAKEUP_QUEUE);
    let mut dependencies = vec![publisher.health()];
    let mut elsewhere = None;
    if let Some(redis) = &redis {
        let (told, telling) = wakeups::start_telling(&working, redis);
        let listening = wakeups::start_listening(&working, redis, word.clone());
        dependencies.extend([telling, listening]);
        elsewhere = Some(told);
    } else {
        tracing::warn!("no --redis: phones learn of their match up to a second later");
    }
    working.spawn_endless("own wake-ups", pass_on(settled_received, word, elsewhere));

    let warning = auth.warning();
    let api = Deps {
        store: Arc::clone(&store),
        auth,
        hints,
        wakeups: word_received,
        settled: settled.clone(),
        pool_bound: policy.pool_bound,
        accept_pace: ACCEPT_PACE,
    };
    let router = main_server::start(&working, api, serving.stop_token());
    let sweep_store = Arc::clone(&store);
    working.spawn_endless("sweep", async move { sweep::sweep_overdue(&*sweep_store, Some(&settled)).await });
    let stop = working.stop_token();
    let shard_count = store.rules().shard_count;
    working.spawn("membership", membership::keep(members, member, shard_count, stop));
    working.spawn_endless("metrics", admin::keep_metrics(metrics.clone()));
    let admin = admin::Admin::new(Arc::clone(&store), metrics).with_dependencies(dependencies);
    http::serve(&serving, "API", listener, router);
    http::serve(&working, "admin port", admin_listener, admin.clone().router());

    tracing::info!(%listen, admin = %admin_address, %owner, "serving");
    if !admin_address.ip().is_loopback() {
        tracing::warn!(admin = %admin_address, "the admin port can be reached from other machines; it checks nobody");
    }
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
    let drain_delay = args.server.drain_delay;
    let running = Running { signals, serving: &serving, working: &working, drain_delay };
    Ok(running.to_the_end(&admin, &*store).await)
}

/// Tells of tickets that settled here: our own phones, and through Redis those of other servers.
async fn pass_on(
    mut settled: mpsc::Receiver<Vec<TicketId>>,
    here: mpsc::Sender<Vec<TicketId>>,
    elsewhere: Option<mpsc::Sender<Vec<TicketId>>>,
) {
    while let Some(ids) = settled.recv().await {
        // Lost word costs a second.
        if let Some(elsewhere) = &elsewhere {
            let _ = elsewhere.try_send(ids.clone());
        }
        let _ = here.try_send(ids);
    }
    std::future::pending::<()>().await;
}
