//! A Postgres that is killed, restarted or paused: calls say so, and go on by themselves when it is back.

use std::time::{Duration, Instant};

use proto::{InterestSet, MatchId, TicketId};
use store::{Accepted, NewTicket, PostgresStore, Proposal, Store, StoreError};
use testkit::{Place, Postgres};

use crate::world::{matched, postgres_config, rules, until, user};

/// How long after its return everything must work again. The promise is one second; this machine may be busy.
const RECOVERY: Duration = Duration::from_secs(5);

fn wish(n: u128) -> NewTicket {
    NewTicket {
        id: TicketId::from_u128(n),
        user: user(&format!("user {n}")),
        region: "kr.seoul".parse().unwrap(),
        interests: InterestSet::new(&["jazz"]).unwrap(),
        key: None,
    }
}

async fn start() -> (Postgres, PostgresStore) {
    let postgres = Postgres::start(&Place::Temporary, None).await.unwrap();
    let url = postgres.new_database("outage").await.unwrap();
    let store = PostgresStore::open(&postgres_config(&url), rules()).await.unwrap();
    (postgres, store)
}

/// Uses all connections of the pool at once.
async fn use_all_connections(store: &PostgresStore) -> Result<(), StoreError> {
    tokio::try_join!(store.now(), store.now(), store.now(), store.now()).map(|_| ())
}

/// Asks until all works; a call may fail because its connection is from before the outage, and says so at once.
async fn until_recovered(store: &PostgresStore) {
    let back = Instant::now();
    while let Err(error) = use_all_connections(store).await {
        assert!(error.is_transient(), "{error:?}");
        assert!(back.elapsed() < RECOVERY, "{error:?}");
    }
    assert!(back.elapsed() < RECOVERY, "{:?}", back.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_between_calls_recovers() {
    let (postgres, store) = start().await;
    use_all_connections(&store).await.unwrap();
    let batch = [wish(1), wish(2)];
    store.accept(&batch).await.unwrap();
    let proposals =
        [Proposal { match_id: MatchId::from_u128(9), a: TicketId::from_u128(1), b: TicketId::from_u128(2) }];
    let settled = store.settle(&proposals).await.unwrap();

    postgres.kill().await.unwrap();
    let killed = Instant::now();
    let error = store.accept(&[wish(3)]).await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    postgres.restart().await.unwrap();
    // Connections that nobody has used for so long are looked at before they are used.
    until(async || (killed.elapsed() > Duration::from_secs(1)).then_some(())).await;
    use_all_connections(&store).await.expect("no call meets a connection from before");
    assert_eq!(store.settle(&proposals).await.unwrap(), settled, "what was answered is still so");
    let again = store.accept(&batch).await.unwrap();
    assert!(again.iter().all(|answer| matches!(answer, Accepted::Created { .. })), "{again:?}");
    assert!(matches!(store.accept(&[wish(3)]).await.unwrap()[0], Accepted::Created { .. }));

    postgres.stop().await.unwrap();
    postgres.restart().await.unwrap();
    until_recovered(&store).await;
    assert_eq!(store.waiting_by_shard().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_answered_is_lost_when_it_is_killed_at_work() {
    let (postgres, store) = start().await;
    let mut answered = Vec::new();
    let working = async {
        for n in 0.. {
            // Two at a time, so that some are in flight at any moment.
            let batch = [wish(2 * n + 1), wish(2 * n + 2)];
            match store.accept(&batch).await {
                Ok(_) => answered.push(2 * n + 1),
                Err(error) => return (n, error),
            }
        }
        unreachable!("it works until the server is killed")
    };
    let ((stopped_at, error), killed) =
        tokio::join!(working, async {
            testkit::until("some are answered", RECOVERY, async || {
                Ok(store.waiting_by_shard().await?.len() == 1)
            })
            .await?;
            postgres.kill().await
        });
    killed.unwrap();
    assert!(error.is_transient(), "{error:?}");
    postgres.restart().await.unwrap();
    until_recovered(&store).await;
    let ids: Vec<TicketId> = answered.iter().map(|n| TicketId::from_u128(*n)).collect();
    assert_eq!(store.tickets(&ids).await.unwrap().len(), ids.len());
    // The one in flight: a repeat finds it or makes it.
    let batch = [wish(2 * stopped_at + 1), wish(2 * stopped_at + 2)];
    let again = store.accept(&batch).await.unwrap();
    assert!(again.iter().all(|answer| matches!(answer, Accepted::Created { .. })), "{again:?}");
    let pair = Proposal { match_id: MatchId::from_u128(1 << 90), a: batch[0].id, b: batch[1].id };
    assert!(matched(&store.settle(&[pair]).await.unwrap()[0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_server_is_given_up_on_and_found_again() {
    let (postgres, store) = start().await;
    use_all_connections(&store).await.unwrap();
    postgres.pause().unwrap();
    let batch = [wish(1)];
    let error = store.accept(&batch).await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    postgres.resume().unwrap();
    until_recovered(&store).await;
    assert!(matches!(store.accept(&batch).await.unwrap()[0], Accepted::Created { .. }));
    store.close().await;
}
