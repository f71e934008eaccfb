//! At the bound nobody new is let in, and nobody who is in is put out.

use crate::app::App;
use crate::user::{Ticket, wish};

#[tokio::test]
async fn a_full_shard_refuses_newcomers_and_still_knows_those_who_wait() {
    let app = App::with_policy("pool_bound = 1").await;
    let (ana, bo, cy) = (app.user("ana"), app.user("bo"), app.user("cy"));
    let wanted = wish("kr.seoul", &["jazz"]);
    let keyed = [("idempotency-key", "k")];
    let ticket: Ticket = ana.press_with(&keyed, &wanted).await.expect(201);
    for newcomer in [&bo, &cy] {
        let reply = newcomer.press(&wanted).await;
        reply.expect_problem(503, "pool-full");
        assert!(reply.header("retry-after").parse::<u32>().unwrap() >= 1, "{reply:?}");
        newcomer.current().await.expect_problem(404, "not-found");
    }
    assert_eq!(ana.press(&wanted).await.expect::<Ticket>(200), ticket, "a repeat is no newcomer");
    assert_eq!(ana.press_with(&keyed, &wanted).await.expect::<Ticket>(200), ticket);
    let problem = ana.press(&wish("kr.seoul", &["folk"])).await.expect_problem(409, "ticket-exists");
    assert_eq!(problem["ticket"]["id"], ticket.id);
    let problem = ana.press_with(&keyed, &wish("kr.seoul", &["folk"])).await;
    problem.expect_problem(422, "key-reused");
    assert!(app.metric("dovetail_tickets_submitted_total", "pool-full").await > 1.5);
}

#[tokio::test]
async fn a_key_of_a_settled_ticket_is_known_also_when_the_shard_is_full() {
    let app = App::with_policy("pool_bound = 1").await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let (wanted, keyed) = (wish("kr.seoul", &["jazz"]), [("idempotency-key", "k")]);
    let ticket: Ticket = ana.press_with(&keyed, &wanted).await.expect(201);
    let cancelled: Ticket = ana.cancel(&ticket.id).await.expect(200);
    fill(&bo).await;
    ana.press(&wanted).await.expect_problem(503, "pool-full");
    assert_eq!(ana.press_with(&keyed, &wanted).await.expect::<Ticket>(200), cancelled);
}

#[tokio::test]
async fn there_is_room_again_when_the_one_who_waited_has_gone() {
    let app = App::with_policy("pool_bound = 1").await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    bo.press(&wish("kr.seoul", &["jazz"])).await.expect_problem(503, "pool-full");
    ana.cancel(&ticket.id).await.expect::<Ticket>(200);
    fill(&bo).await;
}

/// Presses until there is room: what waits is counted once a second.
async fn fill(user: &crate::user::User) {
    let body = wish("kr.seoul", &["folk"]);
    let room = async {
        loop {
            let reply = user.press(&body).await;
            if reply.status == 201 {
                return;
            }
            reply.expect_problem(503, "pool-full");
        }
    };
    crate::wait::until("there is room", room).await;
}
