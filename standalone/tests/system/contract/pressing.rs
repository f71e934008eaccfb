//! `POST /v1/tickets`: a new ticket, the same one again, or none.

use serde_json::Value;

use crate::app::App;
use crate::user::{Ticket, wish};

#[tokio::test]
async fn a_press_makes_a_ticket_and_says_where_it_is() {
    let app = App::start().await;
    let ana = app.user("ana");
    let reply = ana.press(&wish("kr.seoul.gangnam", &["Board  Games", "jazz"])).await;
    let ticket: Ticket = reply.expect(201);
    assert_eq!(reply.header("location"), format!("/v1/tickets/{}", ticket.id));
    let body = reply.json();
    assert_eq!((&body["state"], &body["region"]), (&"waiting".into(), &"kr.seoul.gangnam".into()));
    assert_eq!(body["interests"], serde_json::json!(["Board Games", "jazz"]));
    assert_eq!(body["match"], Value::Null, "the member is there");
    assert!(body["created_at"].as_str().unwrap().ends_with('Z'), "{body}");
    assert_eq!(ticket.expires_at.since(ticket.created_at).as_secs(), 60, "the default policy's wait");
    assert_eq!(ana.read(&ticket.id).await, ticket);
    let same: Ticket = ana.get(reply.header("location")).await.expect(200);
    assert_eq!(same, ticket);
}

#[tokio::test]
async fn the_same_wish_again_is_the_same_ticket_however_it_is_spelt() {
    let app = App::start().await;
    let ana = app.user("ana");
    let ticket = ana.press_match("kr.seoul", &["Board Games", "jazz", "Café"]).await;
    let spellings: [&[&str]; 4] = [
        &["Board Games", "jazz", "Café"],
        &["jazz", "Cafe\u{301}", "Board Games"],
        &["  board   GAMES ", "ＪＡＺＺ", "CAFÉ"],
        &["jazz", "Jazz", "café", "JAZZ", "board games", "Board Games"],
    ];
    for interests in spellings {
        let again: Ticket = ana.press(&wish("kr.seoul", interests)).await.expect(200);
        assert_eq!(again, ticket, "{interests:?}");
    }
}

#[tokio::test]
async fn another_wish_is_refused_with_the_ticket_that_waits() {
    let app = App::start().await;
    let ana = app.user("ana");
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    for other in
        [wish("kr.busan", &["jazz"]), wish("kr.seoul", &["jazz", "chess"]), wish("kr.seoul", &["folk"])]
    {
        let problem = ana.press(&other).await.expect_problem(409, "ticket-exists");
        let standing: Ticket = serde_json::from_value(problem["ticket"].clone()).unwrap();
        assert_eq!(standing, ticket);
    }
    assert_eq!(ana.read(&ticket.id).await.state, "waiting");
}

#[tokio::test]
async fn a_double_tap_after_the_match_is_answered_with_the_match() {
    let app = App::start().await;
    let (ana, bo, cy) = (app.user("ana"), app.user("bo"), app.user("cy"));
    let first = ana.press_match("kr.seoul", &["jazz"]).await;
    bo.press_match("kr.seoul", &["jazz"]).await;
    let settled = ana.until_settled(&first).await;
    cy.press_match("kr.seoul", &["jazz"]).await;
    let again: Ticket = ana.press(&wish("kr.seoul", &["jazz"])).await.expect(200);
    assert_eq!(again, settled, "not a second match, though somebody waits");
}

#[tokio::test]
async fn after_a_ticket_settled_the_next_press_makes_a_new_one() {
    let app = App::with_policy("same_press_within = \"0s\"").await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let first = ana.press_match("kr.seoul", &["jazz"]).await;
    bo.press_match("kr.seoul", &["jazz"]).await;
    ana.until_matched(&first).await;
    let second = ana.press_match("kr.seoul", &["jazz"]).await;
    assert_ne!(second.id, first.id);
    ana.cancel(&second.id).await.expect::<Ticket>(200);
    let third = ana.press_match("kr.busan", &["folk"]).await;
    assert_ne!(third.id, second.id);
}
