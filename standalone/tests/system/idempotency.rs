//! Pressing twice, however it comes about, makes one ticket.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::app::App;
use crate::raw;
use crate::user::{Ticket, User, wish};
use crate::wait::until;

async fn press_keyed(user: &User, key: &str, body: &Value) -> crate::http::Reply {
    user.press_with(&[("idempotency-key", key)], body).await
}

#[tokio::test]
async fn a_key_names_its_ticket_also_after_it_matched() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let body = wish("kr.seoul", &["jazz", "chess"]);
    let ticket: Ticket = press_keyed(&ana, "k1", &body).await.expect(201);
    let respelt = wish("kr.seoul", &["Chess", "chess", "JAZZ"]);
    for repeat in [&body, &respelt] {
        assert_eq!(press_keyed(&ana, "k1", repeat).await.expect::<Ticket>(200), ticket);
    }
    // Another key for the same wish while it waits names the same ticket.
    assert_eq!(press_keyed(&ana, "k2", &body).await.expect::<Ticket>(200), ticket);
    bo.press_match("kr.seoul", &["jazz", "chess"]).await;
    let settled = ana.until_settled(&ticket).await;
    assert_eq!(settled.state, "matched");
    for key in ["k1", "k2"] {
        assert_eq!(press_keyed(&ana, key, &body).await.expect::<Ticket>(200), settled, "{key}");
    }
    let next: Ticket = press_keyed(&ana, "k3", &body).await.expect(201);
    assert_ne!(next.id, ticket.id);
    assert_eq!(press_keyed(&ana, "k1", &body).await.expect::<Ticket>(200), settled, "beside one that waits");
}

#[tokio::test]
async fn a_key_with_another_wish_is_refused() {
    let app = App::start().await;
    let ana = app.user("ana");
    let ticket: Ticket = press_keyed(&ana, "k", &wish("kr.seoul", &["jazz"])).await.expect(201);
    for state in ["waiting", "cancelled"] {
        for other in [wish("kr.busan", &["jazz"]), wish("kr.seoul", &["jazz", "chess"])] {
            let problem = press_keyed(&ana, "k", &other).await.expect_problem(422, "key-reused");
            assert_eq!(problem["errors"][0]["field"], "Idempotency-Key");
        }
        assert_eq!(ana.read(&ticket.id).await.state, state);
        ana.cancel(&ticket.id).await.expect::<Ticket>(200);
    }
}

#[tokio::test]
async fn a_key_belongs_to_its_user() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let of_ana: Ticket = press_keyed(&ana, "k", &wish("kr.seoul", &["jazz"])).await.expect(201);
    let of_bo: Ticket = press_keyed(&bo, "k", &wish("kr.busan", &["folk"])).await.expect(201);
    assert_ne!(of_ana.id, of_bo.id);
    assert_eq!(press_keyed(&bo, "k", &wish("kr.busan", &["folk"])).await.expect::<Ticket>(200), of_bo);
}

/// Two phones press match hundreds of times at once; answers how often each status came.
async fn press_at_once(user: &User, keys: &[Option<&str>]) -> BTreeMap<u16, usize> {
    let (one, two) = (user.clone(), user.clone());
    let body = wish(&format!("kr.{}", user.name), &["jazz"]);
    let presses = (0..300).map(|n| {
        let (phone, body) = (if n % 2 == 0 { &one } else { &two }, &body);
        let headers: Vec<_> = keys[n % keys.len()].iter().map(|key| ("idempotency-key", *key)).collect();
        async move { phone.press_with(&headers, body).await }
    });
    let replies = until("all answers", join_all(presses)).await;
    let mut statuses = BTreeMap::new();
    for reply in &replies {
        *statuses.entry(reply.status.as_u16()).or_default() += 1;
        let (ticket, first): (Ticket, Ticket) = (reply.parse(), replies[0].parse());
        assert_eq!(ticket, first);
    }
    statuses
}

#[tokio::test]
async fn hundreds_of_presses_at_once_make_one_ticket() {
    let app = App::start().await;
    let once = BTreeMap::from([(200, 299), (201, 1)]);
    let kinds: [(&str, &[Option<&str>]); 4] = [
        ("no-key", &[None]),
        ("one-key", &[Some("k")]),
        ("two-keys", &[Some("k1"), Some("k2")]),
        ("mixed", &[None, Some("k"), Some("k2")]),
    ];
    for (name, keys) in kinds {
        let user = app.user(name);
        assert_eq!(press_at_once(&user, keys).await, once, "{name}");
        let ticket: Ticket = user.current().await.expect(200);
        user.cancel(&ticket.id).await.expect::<Ticket>(200);
        if !keys.contains(&None) {
            let always = BTreeMap::from([(200, 300)]);
            assert_eq!(press_at_once(&user, keys).await, always, "{name}, after it was cancelled");
        }
    }
}

/// The bytes with which a user presses match.
fn press_bytes(user: &User, key: Option<&str>, body: &Value) -> Vec<u8> {
    let (token, body) = (user.token(), body.to_string());
    let length = body.len().to_string();
    let mut headers: Vec<(&str, &[u8])> = vec![
        ("Authorization", token.as_bytes()),
        ("Content-Type", b"application/json"),
        ("Content-Length", length.as_bytes()),
    ];
    headers.extend(key.map(|key| ("Idempotency-Key", key.as_bytes())));
    raw::request("POST /v1/tickets", &headers, body.as_bytes())
}

#[tokio::test]
async fn a_phone_that_goes_away_at_once_and_presses_again_has_one_ticket() {
    let app = App::start().await;
    for n in 0..40 {
        let (ana, bo) = (app.user(&format!("ana-{n}")), app.user(&format!("bo-{n}")));
        let tag = format!("tag {n}");
        let (body, key) = (wish("kr.seoul", &[&tag]), (n % 2 == 0).then_some("k"));
        let mut stream = TcpStream::connect(app.place().api).await.unwrap();
        stream.write_all(&press_bytes(&ana, key, &body)).await.unwrap();
        drop(stream);
        let headers: Vec<_> = key.iter().map(|key| ("idempotency-key", *key)).collect();
        let again = ana.press_with(&headers, &body).await;
        assert!([200, 201].contains(&again.status.as_u16()), "{again:?}");
        let ticket: Ticket = again.parse();
        assert_eq!(ana.press(&body).await.expect::<Ticket>(200), ticket);
        bo.press_match("kr.seoul", &[&tag]).await;
        let made = ana.until_matched(&ticket).await;
        assert_eq!(ana.matches().await, [made], "one match");
    }
}

#[tokio::test]
async fn a_lost_answer_is_had_by_the_same_key_though_the_ticket_matched_meanwhile() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let body = wish("kr.seoul", &["jazz"]);
    let mut stream = TcpStream::connect(app.place().api).await.unwrap();
    stream.write_all(&press_bytes(&ana, Some("k"), &body)).await.unwrap();
    // It was taken, and nobody ever reads the answer.
    let taken = async { while ana.current().await.status != 200 {} };
    until("the ticket is made", taken).await;
    drop(stream);
    let of_bo = bo.press_match("kr.seoul", &["jazz"]).await;
    let made = bo.until_matched(&of_bo).await;
    let again: Ticket = press_keyed(&ana, "k", &body).await.expect(200);
    assert_eq!(again.r#match.unwrap().id, made.id);
    assert_eq!(ana.matches().await.len(), 1);
}
