//! Cancelling and matching at once: one of the two wins, and both callers hear which.

use proto::TicketState;
use store::{Cancelled, Settlement, Store};

use crate::servers::Servers;
use crate::world::{matched, user};

const ROUNDS: usize = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_racing_settle() {
    let servers = Servers::start().await;
    let (mut cancelled, mut too_late) = (0, 0);
    for round in 0..ROUNDS {
        let (ana_name, bo_name) = (format!("ana {round}"), format!("bo {round}"));
        let [ana, bo] = servers.press_match([&ana_name, &bo_name]).await;
        let batch = [servers.propose(ana, bo)];
        let ana_user = user(&ana_name);
        let (settled, answer) = tokio::join!(servers.one.settle(&batch), servers.two.cancel(&ana_user, ana));
        let (settled, answer) = (settled.unwrap().remove(0), answer.unwrap());
        match answer {
            Cancelled::Now(ticket) => {
                cancelled += 1;
                assert_eq!(settled, Settlement::Gone { a: true, b: false });
                assert_eq!(ticket, servers.ticket(ana).await);
                assert_eq!(servers.ticket(bo).await.state, TicketState::Waiting);
            }
            Cancelled::TooLate(ticket) => {
                too_late += 1;
                assert!(matched(&settled), "{settled:?}");
                assert_eq!(ticket.r#match.map(|made| made.id), Some(batch[0].match_id));
            }
            other @ (Cancelled::Before(_) | Cancelled::Unknown) => panic!("{other:?}"),
        }
    }
    println!("{cancelled} cancelled, {too_late} too late");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sweeps_expire_each_ticket_once() {
    let servers = Servers::start().await;
    let names: [String; 50] = std::array::from_fn(|n| format!("u{n}"));
    let tickets = servers.press_match(names.each_ref().map(String::as_str)).await;
    servers
        .count("WITH overdue AS (UPDATE tickets SET expires_at = 1 RETURNING 1) SELECT count(*) FROM overdue")
        .await;
    let (one, two) = tokio::join!(servers.one.expire_overdue(40), servers.two.expire_overdue(40));
    let mut expired = [one.unwrap(), two.unwrap()].concat();
    expired.extend(servers.one.expire_overdue(40).await.unwrap());
    expired.sort_unstable();
    assert_eq!(expired, tickets);
}
