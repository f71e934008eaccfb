//! Two servers that accept the same people at once give each of them one ticket.

use proto::TicketId;
use sqlx::Executor;
use store::{Accepted, Store};

use crate::servers::Servers;

const ROUNDS: i64 = 60;

fn ticket_of(answer: &Accepted) -> TicketId {
    match answer {
        Accepted::Created { ticket, .. } | Accepted::Waiting(ticket) | Accepted::Keyed(ticket) => ticket.id,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_accepting_the_same_two_users_in_opposite_order() {
    let servers = Servers::start().await;
    for round in 0..ROUNDS {
        let (ana, bo) = (format!("ana {round}"), format!("bo {round}"));
        let forth = [servers.wish(&ana), servers.wish(&bo)];
        let back = [servers.wish(&bo), servers.wish(&ana)];
        let (forth, back) = tokio::join!(servers.one.accept(&forth), servers.two.accept(&back));
        let (forth, back) = (forth.unwrap(), back.unwrap());
        assert_eq!(ticket_of(&forth[0]), ticket_of(&back[1]), "ana has one ticket");
        assert_eq!(ticket_of(&forth[1]), ticket_of(&back[0]), "bo has one ticket");
        let created = [&forth[0], &forth[1], &back[0], &back[1]]
            .iter()
            .filter(|answer| matches!(answer, Accepted::Created { .. }))
            .count();
        assert_eq!(created, 2);
    }
    assert_eq!(servers.count("SELECT count(*) FROM tickets").await, 2 * ROUNDS);
    assert_eq!(deadlocks(&servers).await, 0, "they never wait for each other in a circle");
}

async fn deadlocks(servers: &Servers) -> i64 {
    servers.count("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_in_the_way_that_settles_meanwhile_makes_room() {
    let servers = Servers::start().await;
    let [ana] = servers.press_match(["ana"]).await;
    let mut obstacle = servers.connect().await;
    obstacle.execute("BEGIN; UPDATE tickets SET state = 'cancelled', settled_at = 1").await.unwrap();
    let wishes = [servers.wish("ana"), servers.wish("bo")];
    let mut accepting = std::pin::pin!(servers.one.accept(&wishes));
    tokio::select! {
        outcome = &mut accepting => panic!("answered while it was not known whether ana waits: {outcome:?}"),
        () = servers.until_locked_out("INSERT INTO tickets") => {}
    }
    obstacle.execute("COMMIT").await.unwrap();
    let answers = accepting.await.unwrap();
    assert!(answers.iter().all(|answer| matches!(answer, Accepted::Created { .. })), "{answers:?}");
    assert_ne!(ticket_of(&answers[0]), ana);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_locked_for_long_fails_the_batch_for_now_and_not_for_good() {
    let servers = Servers::start().await;
    servers.press_match(["ana"]).await;
    let mut obstacle = servers.connect().await;
    obstacle.execute("BEGIN; UPDATE tickets SET state = 'cancelled', settled_at = 1").await.unwrap();
    let wishes = [servers.wish("ana"), servers.wish("bo")];
    let error = servers.one.accept(&wishes).await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    obstacle.execute("ROLLBACK").await.unwrap();
    let answers = servers.one.accept(&wishes).await.unwrap();
    assert!(matches!(answers[0], Accepted::Waiting(_)), "{:?}", answers[0]);
    assert!(matches!(answers[1], Accepted::Created { .. }), "{:?}", answers[1]);
}
