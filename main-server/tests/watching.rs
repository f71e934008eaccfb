//! What the real program shows Prometheus of a store that does not answer: nothing, rather than what it last said.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::time::Duration;

use proto::{InterestSet, UserId};
use service::ids::{new_owner_id, new_ticket_id};
use service::policy::MatchPolicy;
use store::{Accepted, Member, MemberKind, NewTicket, PostgresConfig, PostgresStore, Store as _};
use testkit::http::metric_sum;
use testkit::{Place, Postgres, ServerProcess, ServerSpec, free_port, until};

/// Long enough for anything that happens at all, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Nobody leaves while the test looks.
const POLICY: &str = "expire_after = \"1h\"\n";
/// What the store says, and nobody else can.
const FROM_THE_STORE: [&str; 3] =
    ["dovetail_tickets_waiting", "dovetail_oldest_waiting_seconds", "dovetail_shards_unowned"];

/// Somebody waits in this database.
async fn press_match(database: &str) {
    let member = Member { owner: new_owner_id(), kind: MemberKind::MainServer, connections: 1 };
    let config = PostgresConfig { url: database.to_owned(), connections: member.connections, member };
    let store = PostgresStore::open(&config, POLICY.parse::<MatchPolicy>().unwrap().rules()).await.unwrap();
    let wish = NewTicket {
        id: new_ticket_id(),
        user: UserId::new("ana").unwrap(),
        region: "kr.seoul".parse().unwrap(),
        interests: InterestSet::new(&["jazz"]).unwrap(),
        key: None,
    };
    let accepted = store.accept(&[wish]).await.unwrap();
    assert!(matches!(accepted[..], [Accepted::Created { .. }]), "{accepted:?}");
    store.close().await;
}

async fn start_server(database: &str) -> ServerProcess {
    let policy = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("watching.toml");
    std::fs::write(&policy, POLICY).unwrap();
    let admin_port = free_port().unwrap();
    let flags = [
        ("--listen", "127.0.0.1:0".to_owned()),
        ("--auth", "dev".to_owned()),
        ("--admin", format!("127.0.0.1:{admin_port}")),
        ("--database", database.to_owned()),
        // Nobody is there: it does without.
        ("--amqp", "amqp://127.0.0.1:1".to_owned()),
        ("--redis", "redis://127.0.0.1:1".to_owned()),
        ("--policy", policy.display().to_string()),
    ];
    let spec = ServerSpec {
        name: "main-server".to_owned(),
        program: env!("CARGO_BIN_EXE_main-server").into(),
        args: flags.into_iter().flat_map(|(flag, value)| [flag.into(), value.into()]).collect(),
        envs: Vec::new(),
        admin_port,
    };
    ServerProcess::start(&Place::Temporary, &spec, PATIENCE).await.unwrap()
}

/// Waits until a metric's sum is as `is_so` wants it; `None` is a metric without a series.
async fn until_shown(server: &ServerProcess, metric: &str, is_so: impl Fn(Option<f64>) -> bool) {
    let looking = async || Ok(is_so(metric_sum(&server.metrics().await?, metric)));
    if let Err(error) = until(metric, PATIENCE, looking).await {
        panic!("{error:#}; it is {:?}", metric_sum(&server.metrics().await.unwrap(), metric));
    }
}

#[tokio::test]
async fn what_the_store_says_is_not_shown_while_it_does_not_answer() {
    let postgres = Postgres::start(&Place::Temporary, None).await.unwrap();
    let database = postgres.new_database("watching").await.unwrap();
    press_match(&database).await;
    let server = start_server(&database).await;
    for paused in [false, true] {
        until_shown(&server, "dovetail_tickets_waiting", |sum| sum == Some(1.0)).await;
        until_shown(&server, "dovetail_oldest_waiting_seconds", |sum| sum > Some(0.0)).await;
        // No matching server runs.
        until_shown(&server, "dovetail_shards_unowned", |sum| sum == Some(12.0)).await;
        if paused {
            postgres.pause().unwrap()
        } else {
            postgres.kill().await.unwrap()
        }
        for metric in FROM_THE_STORE {
            until_shown(&server, metric, |sum| sum.is_none()).await;
        }
        if paused { postgres.resume().unwrap() } else { postgres.restart().await.unwrap() }
    }
    until_shown(&server, "dovetail_tickets_waiting", |sum| sum == Some(1.0)).await;
    assert_eq!(server.stop(PATIENCE).await.unwrap(), 0);
}
