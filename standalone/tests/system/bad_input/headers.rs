//! Headers: who calls, what is sent, and by which key.

use super::{Case, GOOD, assert_refused};
use crate::app::App;

#[tokio::test]
async fn callers_who_do_not_say_who_they_are_are_refused() {
    let case = |name: &str| Case::press(name, 401, "unauthorized", &["Authorization"]).body(GOOD);
    // `Not-` keeps the usual header away.
    let mut cases = vec![case("no header").header("Not-Authorization", "")];
    let long = format!("Bearer dev.{}", "a".repeat(129));
    let long_wide = format!("Bearer dev.{}", "가".repeat(129));
    let bad = [
        "",
        "Bearer",
        "Bearer ",
        "dev.ana",
        "Bearer ana",
        "Bearer dev",
        "Bearer dev.",
        "Basic ZGV2LmFuYTo=",
        "Bearer DEV.ana",
        "Bearer dev.a\tb",
        "Bearer\tdev.ana",
        "Bearer dev.\u{85}x",
        &long,
        &long_wide,
    ];
    cases.extend(bad.map(|value| case(&format!("{value:?}")).header("Authorization", value)));
    cases.push(case("not UTF-8").header("Authorization", b"Bearer dev.\xff\xfe".to_vec()));
    cases
        .push(case("two").header("Authorization", "Bearer dev.ana").header("Authorization", "Bearer dev.bo"));
    cases.push(
        case("two alike").header("Authorization", "Bearer dev.ana").header("Authorization", "Bearer dev.ana"),
    );
    let everywhere = [
        "GET /v1/tickets/current",
        "GET /v1/tickets/0192f3c1-7b4e-7c3a-9d1e-5f60718293a4",
        "GET /v1/tickets/0192f3c1-7b4e-7c3a-9d1e-5f60718293a4/events",
        "DELETE /v1/tickets/0192f3c1-7b4e-7c3a-9d1e-5f60718293a4",
        "GET /v1/matches",
        "GET /v1/matches/0192f3c1-7b4e-7c3a-9d1e-5f60718293a4",
    ];
    cases.extend(everywhere.map(|line| {
        Case::new(line, line, 401, "unauthorized", &["Authorization"]).header("Not-Authorization", "")
    }));
    assert_refused(&cases).await;
}

#[tokio::test]
async fn user_ids_at_the_bounds_are_good() {
    let app = App::start().await;
    for (n, name) in [
        "a",
        &"a".repeat(128),
        &"가".repeat(128),
        "a b",
        "ana@example.org",
        "a.b/c?d=e&f",
        "O'Brien\"\\",
        "\u{a0}",
    ]
    .iter()
    .enumerate()
    {
        let user = app.user(name);
        let ticket = user.press_match(&format!("kr.{n}"), &["jazz"]).await;
        assert_eq!(user.read(&ticket.id).await, ticket, "{name:?}");
    }
}

#[tokio::test]
async fn bodies_of_another_type_are_refused() {
    let case = |name: &str| {
        let case = Case::new(name, "POST /v1/tickets", 415, "invalid-request", &["Content-Type"]);
        case.body(GOOD)
    };
    let mut cases = vec![case("none")];
    for value in [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "json",
        "; application/json",
    ] {
        cases.push(case(&format!("{value:?}")).header("Content-Type", value));
    }
    assert_refused(&cases).await;

    let app = App::start().await;
    for (n, good) in
        ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"].iter().enumerate()
    {
        let user = app.user(&format!("user-{n}"));
        let headers = [("content-type", *good)];
        let reply =
            user.try_send(hyper::Method::POST, "/v1/tickets", &headers, GOOD.as_bytes()).await.unwrap();
        assert_eq!(reply.status, 201, "{good}");
    }
}

#[tokio::test]
async fn bad_idempotency_keys_are_refused() {
    let case = |name: &str| Case::press(name, 422, "invalid-request", &["Idempotency-Key"]).body(GOOD);
    let long = "k".repeat(129);
    let mut cases: Vec<_> = ["", "   ", &long, "schlüssel", "a\tb", "열쇠"]
        .iter()
        .map(|key| case(&format!("{key:?}")).header("Idempotency-Key", *key))
        .collect();
    cases.push(case("not UTF-8").header("Idempotency-Key", b"k\xff".to_vec()));
    cases.push(case("twice").header("Idempotency-Key", "a").header("Idempotency-Key", "b"));
    cases.push(case("twice the same").header("Idempotency-Key", "a").header("Idempotency-Key", "a"));
    assert_refused(&cases).await;

    let app = App::start().await;
    for (n, good) in ["k", &"k".repeat(128), "two words", "~!@#$%^&*()\"'\\"].iter().enumerate() {
        let user = app.user(&format!("user-{n}"));
        let wish = crate::user::wish(&format!("kr.{n}"), &["jazz"]);
        let key = [("idempotency-key", *good)];
        assert_eq!(user.press_with(&key, &wish).await.status, 201, "{good}");
        assert_eq!(user.press_with(&key, &wish).await.status, 200, "{good}");
    }
}
