//! Stopped or killed, it goes on where it was.

use std::time::{Duration, Instant};

use crate::app::App;
use crate::user::{Match, Ticket, wish};
use crate::wait::until_past;

enum End {
    InOrder,
    Kill,
}

async fn goes_on_after(end: End) {
    let mut app = App::start().await;
    let (ana, bo, cy, di) = (app.user("ana"), app.user("bo"), app.user("cy"), app.user("di"));
    let keyed = [("idempotency-key", "k")];
    let met: Ticket = ana.press_with(&keyed, &wish("kr.seoul", &["jazz"])).await.expect(201);
    bo.press_match("kr.seoul", &["jazz"]).await;
    let made = ana.until_matched(&met).await;
    let waiting = cy.press_match("kr.busan", &["folk"]).await;
    let withdrawn = di.press_match("kr.busan", &["folk", "chess", "go"]).await;
    let withdrawn: Ticket = di.cancel(&withdrawn.id).await.expect(200);
    match end {
        End::InOrder => app.stop().await,
        End::Kill => app.kill(),
    }
    app.start_again().await;

    assert_eq!(cy.read(&waiting.id).await, waiting, "goes on waiting");
    assert_eq!(cy.press(&wish("kr.busan", &["folk"])).await.expect::<Ticket>(200), waiting);
    assert_eq!(di.read(&withdrawn.id).await, withdrawn);
    assert_eq!(ana.matches().await, std::slice::from_ref(&made));
    assert_eq!(bo.get(&format!("/v1/matches/{}", made.id)).await.expect::<Match>(200).partner.user, "ana");
    let again: Ticket = ana.press_with(&keyed, &wish("kr.seoul", &["jazz"])).await.expect(200);
    assert_eq!(again.r#match, Some(made), "the key is still known");

    let newcomer = app.user("newcomer");
    let ticket = newcomer.press_match("kr.busan", &["folk"]).await;
    let (of_cy, of_newcomer) = tokio::join!(cy.until_matched(&waiting), newcomer.until_matched(&ticket));
    assert_eq!((of_cy.id, of_cy.partner.user.as_str()), (of_newcomer.id, "newcomer"));
}

#[tokio::test]
async fn it_goes_on_after_it_was_stopped() {
    goes_on_after(End::InOrder).await;
}

#[tokio::test]
async fn it_goes_on_after_it_was_killed() {
    goes_on_after(End::Kill).await;
}

#[tokio::test]
async fn two_who_met_do_not_meet_again_after_a_restart() {
    let mut app = App::with_policy("expire_after = \"3s\"\nsame_press_within = \"0s\"").await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let first = ana.press_match("kr.seoul", &["jazz"]).await;
    bo.press_match("kr.seoul", &["jazz"]).await;
    let made = ana.until_matched(&first).await;
    let again = ana.press_match("kr.seoul", &["jazz"]).await;
    app.kill();
    app.start_again().await;
    let of_bo = bo.press_match("kr.seoul", &["jazz"]).await;
    let (of_ana, of_bo) = tokio::join!(ana.until_settled(&again), bo.until_settled(&of_bo));
    assert_eq!((of_ana.state.as_str(), of_bo.state.as_str()), ("expired", "expired"));
    assert_eq!(ana.matches().await, [made]);
}

#[tokio::test]
async fn what_became_overdue_while_it_was_down_expires_at_once() {
    let mut app = App::with_policy("expire_after = \"200ms\"").await;
    let users: Vec<_> = (0..5).map(|n| app.user(&format!("user-{n}"))).collect();
    let mut tickets = Vec::new();
    let mut pressed = Instant::now();
    for (n, user) in users.iter().enumerate() {
        tickets.push(user.press_match(&format!("kr.r{n}"), &["jazz"]).await);
        pressed = Instant::now();
    }
    app.kill();
    until_past(pressed + Duration::from_millis(250)).await;
    app.start_again().await;
    let start = Instant::now();
    for (user, ticket) in users.iter().zip(&tickets) {
        assert_eq!(user.until_settled(ticket).await.state, "expired");
    }
    assert!(start.elapsed().as_secs_f64() < 2.0, "{:?}", start.elapsed());
}
