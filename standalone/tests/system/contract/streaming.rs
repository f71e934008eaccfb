//! `GET /v1/tickets/{id}/events`: the state as it is, then as it settles, then the end.

use crate::app::App;
use crate::user::Ticket;

#[tokio::test]
async fn a_stream_tells_the_state_then_the_match_then_ends() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let mut events = ana.events(&ticket.id).await;
    assert_eq!(events.status, 200);
    let header = |name: &str| events.headers.get(name).map_or("", |value| value.to_str().unwrap());
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-cache");
    assert_eq!(header("x-accel-buffering"), "no");
    assert_eq!(header("content-encoding"), "");
    assert_eq!(events.next().await, Some(ticket.clone()));
    bo.press_match("kr.seoul", &["jazz"]).await;
    let settled = events.next().await.unwrap();
    assert_eq!(settled.state, "matched");
    assert_eq!(settled, ana.read(&ticket.id).await);
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn the_stream_of_a_settled_ticket_is_one_event() {
    let app = App::start().await;
    let ana = app.user("ana");
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let cancelled: Ticket = ana.cancel(&ticket.id).await.expect(200);
    let mut events = ana.events(&ticket.id).await;
    assert_eq!(events.next().await, Some(cancelled));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_stream_ends_when_the_ticket_is_cancelled_or_expires() {
    let app = App::with_policy("expire_after = \"1s\"").await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let of_ana = ana.press_match("kr.seoul", &["jazz"]).await;
    let of_bo = bo.press_match("kr.busan", &["jazz"]).await;
    let (mut seen_by_ana, mut seen_by_bo) = (ana.events(&of_ana.id).await, bo.events(&of_bo.id).await);
    assert_eq!(seen_by_ana.next().await.unwrap().state, "waiting");
    assert_eq!(seen_by_bo.next().await.unwrap().state, "waiting");
    ana.cancel(&of_ana.id).await.expect::<Ticket>(200);
    assert_eq!(seen_by_ana.next().await.unwrap().state, "cancelled");
    assert_eq!(seen_by_ana.next().await, None);
    assert_eq!(seen_by_bo.next().await.unwrap().state, "expired");
    assert_eq!(seen_by_bo.next().await, None);
}
