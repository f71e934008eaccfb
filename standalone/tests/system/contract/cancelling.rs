//! `DELETE /v1/tickets/{id}`: withdrawn once and for ever, unless it settled first.

use crate::app::App;
use crate::user::Ticket;

#[tokio::test]
async fn a_ticket_is_cancelled_once_and_for_ever() {
    let app = App::start().await;
    let (ana, bo, cy) = (app.user("ana"), app.user("bo"), app.user("cy"));
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let cancelled: Ticket = ana.cancel(&ticket.id).await.expect(200);
    assert_eq!(cancelled, Ticket { state: "cancelled".to_owned(), ..ticket.clone() });
    let again: Ticket = ana.cancel(&ticket.id).await.expect(200);
    assert_eq!(again, cancelled);
    // Bo would have been ana's partner; he meets the next one instead.
    let of_bo = bo.press_match("kr.seoul", &["jazz"]).await;
    cy.press_match("kr.seoul", &["jazz"]).await;
    assert_eq!(bo.until_matched(&of_bo).await.partner.user, "cy");
    assert_eq!(ana.read(&ticket.id).await, cancelled);
    assert_eq!(ana.matches().await, []);
}

#[tokio::test]
async fn a_matched_ticket_cannot_be_cancelled() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    bo.press_match("kr.seoul", &["jazz"]).await;
    let settled = ana.until_settled(&ticket).await;
    for _ in 0..2 {
        let problem = ana.cancel(&ticket.id).await.expect_problem(409, "already-settled");
        assert_eq!(serde_json::from_value::<Ticket>(problem["ticket"].clone()).unwrap(), settled);
    }
    assert_eq!(ana.read(&ticket.id).await, settled);
}

#[tokio::test]
async fn an_expired_ticket_cannot_be_cancelled() {
    let app = App::with_policy("expire_after = \"200ms\"").await;
    let ana = app.user("ana");
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let settled = ana.until_settled(&ticket).await;
    let problem = ana.cancel(&ticket.id).await.expect_problem(409, "already-settled");
    assert_eq!(problem["ticket"]["state"], "expired");
    assert_eq!(ana.read(&ticket.id).await, settled);
}
