//! What the real programs show Prometheus of shards that move, and of a store that does not answer: what is no longer known
//! ends, and never stands as it last was. No broker is there: shards live by reconciliation.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proto::{InterestSet, UserId};
use service::ids::{new_owner_id, new_ticket_id};
use service::policy::MatchPolicy;
use store::{Accepted, Member, MemberKind, NewTicket, PostgresConfig, PostgresStore, Store as _};
use testkit::{Place, Postgres, ServerProcess, ServerSpec, free_port, until};

/// Long enough for anything that happens at all, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Nobody leaves while a test looks.
const POLICY: &str = "expire_after = \"1h\"\n";
/// How many people wait, fitting nobody: so many that every shard has some.
const PEOPLE: usize = 200;
/// What a server knows of a shard by serving it.
const OF_A_SHARD: [&str; 3] =
    ["dovetail_tickets_pooled", "dovetail_tickets_unpooled", "dovetail_engine_inbox_depth"];

/// A database in which people wait, and what servers of it are started with.
struct World {
    postgres: Postgres,
    database: String,
    policy: PathBuf,
}

impl World {
    async fn new(name: &str) -> Self {
        let postgres = Postgres::start(&Place::Temporary, None).await.unwrap();
        let database = postgres.new_database("watching").await.unwrap();
        let policy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
        std::fs::write(&policy, POLICY).unwrap();
        let member = Member { owner: new_owner_id(), kind: MemberKind::MainServer, connections: 1 };
        let config = PostgresConfig { url: database.clone(), connections: member.connections, member };
        let rules = POLICY.parse::<MatchPolicy>().unwrap().rules();
        let store = PostgresStore::open(&config, rules).await.unwrap();
        let wish = |n: usize| NewTicket {
            id: new_ticket_id(),
            user: UserId::new(&format!("user-{n}")).unwrap(),
            region: format!("kr.city-{n}").parse().unwrap(),
            interests: InterestSet::new(&[format!("interest {n}")]).unwrap(),
            key: None,
        };
        let accepted = store.accept(&(0..PEOPLE).map(wish).collect::<Vec<_>>()).await.unwrap();
        assert!(accepted.iter().all(|answer| matches!(answer, Accepted::Created { .. })));
        store.close().await;
        Self { postgres, database, policy }
    }

    async fn start_server(&self, name: &str) -> ServerProcess {
        let admin_port = free_port().unwrap();
        let flags = [
            ("--admin", format!("127.0.0.1:{admin_port}")),
            ("--database", self.database.clone()),
            ("--amqp", "amqp://127.0.0.1:1".to_owned()),
            ("--redis", "redis://127.0.0.1:1".to_owned()),
            ("--policy", self.policy.display().to_string()),
        ];
        let spec = ServerSpec {
            name: name.to_owned(),
            program: env!("CARGO_BIN_EXE_matching-server").into(),
            args: flags.into_iter().flat_map(|(flag, value)| [flag.into(), value.into()]).collect(),
            envs: Vec::new(),
            admin_port,
        };
        ServerProcess::start(&Place::Temporary, &spec, PATIENCE).await.unwrap()
    }
}

/// What a server's page says of a metric: values by label, the whole of it.
async fn shown(server: &ServerProcess, metric: &str) -> BTreeMap<String, f64> {
    let page = server.metrics().await.unwrap();
    let samples = page.lines().filter_map(|line| {
        let (labels, value) = line.strip_prefix(metric)?.split_once(' ')?;
        (labels.is_empty() || labels.starts_with('{')).then(|| (labels.to_owned(), value.parse().unwrap()))
    });
    samples.collect()
}

async fn until_shown(server: &ServerProcess, metric: &str, is_so: impl Fn(&BTreeMap<String, f64>) -> bool) {
    let looking = async || Ok(is_so(&shown(server, metric).await));
    if let Err(error) = until(metric, PATIENCE, looking).await {
        panic!("{error:#}; {} shows {:?}", server.name(), shown(server, metric).await);
    }
}

/// Waits until the servers hold so many shards, and show those and no others, with everybody in some pool.
async fn until_shared(servers: &[(&ServerProcess, usize)]) {
    for (server, shards) in servers {
        #[allow(clippy::cast_precision_loss, reason = "twelve at most")]
        let owned = *shards as f64;
        let all_owned = |page: &BTreeMap<String, f64>| page.values().eq([&owned]);
        until_shown(server, "dovetail_shards_owned", all_owned).await;
        for metric in OF_A_SHARD {
            until_shown(server, metric, |page| page.len() == *shards).await;
        }
    }
    let everybody = async || {
        let mut pooled = 0.0;
        for (server, _) in servers {
            pooled += shown(server, "dovetail_tickets_pooled").await.values().sum::<f64>();
        }
        #[allow(clippy::cast_precision_loss, reason = "some hundred")]
        Ok((pooled - PEOPLE as f64).abs() < 0.5)
    };
    until("everybody is in the pool of one server", PATIENCE, everybody).await.unwrap();
}

#[tokio::test]
async fn a_shard_that_moves_is_shown_by_its_new_server_alone() {
    let world = World::new("moves").await;
    let first = world.start_server("first").await;
    until_shared(&[(&first, 12)]).await;
    let second = world.start_server("second").await;
    until_shared(&[(&first, 6), (&second, 6)]).await;
    for metric in OF_A_SHARD {
        let (of_first, of_second) = (shown(&first, metric).await, shown(&second, metric).await);
        let both = of_first.keys().find(|shard| of_second.contains_key(*shard));
        assert_eq!(both, None, "{metric}: two servers show it");
    }
    assert_eq!(second.stop(PATIENCE).await.unwrap(), 0);
    until_shared(&[(&first, 12)]).await;
    assert_eq!(first.stop(PATIENCE).await.unwrap(), 0);
}

#[tokio::test]
async fn what_the_store_says_is_not_shown_while_it_does_not_answer() {
    let world = World::new("silent").await;
    let server = world.start_server("alone").await;
    until_shared(&[(&server, 12)]).await;
    for paused in [false, true] {
        until_shown(&server, "dovetail_shards_unowned", |page| page.values().eq([&0.0])).await;
        if paused {
            world.postgres.pause().unwrap()
        } else {
            world.postgres.kill().await.unwrap()
        }
        for metric in ["dovetail_tickets_unpooled", "dovetail_shards_unowned"] {
            until_shown(&server, metric, BTreeMap::is_empty).await;
        }
        // It goes on serving what it holds, and knows that by itself.
        for (metric, series) in [("dovetail_tickets_pooled", 12), ("dovetail_engine_inbox_depth", 12)] {
            assert_eq!(shown(&server, metric).await.len(), series, "{metric}, paused: {paused}");
        }
        if paused {
            world.postgres.resume().unwrap()
        } else {
            world.postgres.restart().await.unwrap()
        }
        until_shared(&[(&server, 12)]).await;
    }
    assert_eq!(server.stop(PATIENCE).await.unwrap(), 0);
}
