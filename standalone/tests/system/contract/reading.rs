//! `GET /v1/tickets/{id}` with and without `wait`, and `GET /v1/tickets/current`.

use std::time::{Duration, Instant};

use crate::app::App;
use crate::user::Ticket;
use crate::wait::until;

#[tokio::test]
async fn a_long_poll_answers_when_a_partner_comes() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let ticket = ana.press_match("kr.seoul", &["jazz", "Chess"]).await;
    let start = Instant::now();
    let (of_ana, of_bo) = tokio::join!(ana.read_waiting(&ticket.id, 50), async {
        // The phone holds its line before the other one comes.
        until_held(&app, 1).await;
        let ticket = bo.press_match("kr.seoul", &["chess", "jazz"]).await;
        bo.until_matched(&ticket).await
    });
    assert!(start.elapsed() < Duration::from_secs(10), "it was woken, {:?}", start.elapsed());
    assert_eq!(of_ana.state, "matched");
    let of_ana = of_ana.r#match.unwrap();
    assert_eq!(of_ana.id, of_bo.id, "both learn the same match");
    assert_eq!((of_ana.partner.user.as_str(), of_bo.partner.user.as_str()), ("bo", "ana"));
    assert_eq!(of_ana.shared_interests, ["Chess", "jazz"], "spelt as on the earlier ticket");
    assert_eq!(of_bo.shared_interests, of_ana.shared_interests);
    assert!((of_ana.similarity - 1.0).abs() < f64::EPSILON);
    assert_eq!((of_ana.region.as_str(), of_ana.made_at), ("kr.seoul", of_bo.made_at));
}

#[tokio::test]
async fn a_long_poll_ends_with_the_ticket_as_it_waits() {
    let app = App::start().await;
    let ana = app.user("ana");
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let start = Instant::now();
    assert_eq!(ana.read_waiting(&ticket.id, 1).await, ticket);
    let took = start.elapsed();
    assert!((Duration::from_secs(1)..Duration::from_secs(3)).contains(&took), "{took:?}");
    assert_eq!(ana.read_waiting(&ticket.id, 0).await, ticket, "no wait");
}

#[tokio::test]
async fn a_long_poll_answers_when_the_other_phone_cancels() {
    let app = App::start().await;
    let ana = app.user("ana");
    let other_phone = ana.clone();
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let start = Instant::now();
    let (seen, cancelled) = tokio::join!(ana.read_waiting(&ticket.id, 50), async {
        until_held(&app, 1).await;
        other_phone.cancel(&ticket.id).await.expect::<Ticket>(200)
    });
    assert_eq!((seen.state.as_str(), &seen), ("cancelled", &cancelled));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[tokio::test]
async fn two_phones_of_one_user_both_learn_of_the_match() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let mut events = ana.events(&ticket.id).await;
    let (one, two, ()) = tokio::join!(ana.until_matched(&ticket), ana.until_matched(&ticket), async {
        until_held(&app, 1).await;
        bo.press_match("kr.seoul", &["jazz"]).await;
    });
    assert_eq!(one, two);
    assert_eq!(events.next().await.unwrap().state, "waiting");
    assert_eq!(events.next().await.unwrap().r#match, Some(one));
}

#[tokio::test]
async fn the_current_ticket_is_what_the_app_resumes_with() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    ana.current().await.expect_problem(404, "not-found");
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    assert_eq!(ana.current().await.expect::<Ticket>(200), ticket);
    bo.press_match("kr.seoul", &["jazz"]).await;
    let settled = ana.until_settled(&ticket).await;
    assert_eq!(ana.current().await.expect::<Ticket>(200), settled, "the last one settled");
    let next = ana.press_match("kr.busan", &["folk"]).await;
    assert_eq!(ana.current().await.expect::<Ticket>(200), next, "the waiting one comes first");
    ana.cancel(&next.id).await.expect::<Ticket>(200);
    assert_eq!(ana.current().await.expect::<Ticket>(200).state, "cancelled");
    app.user("cy").current().await.expect_problem(404, "not-found");
}

/// Until phones wait for this many tickets.
async fn until_held(app: &App, tickets: u32) {
    let held = async { while app.metric("dovetail_waiters", "").await < f64::from(tickets) {} };
    until("phones hold their lines", held).await;
}
