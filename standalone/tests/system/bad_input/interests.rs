//! Interests that are too many, too long or no text at all.

use serde_json::json;

use super::{Case, assert_refused};
use crate::app::App;
use crate::user::Ticket;

fn case(name: &str, interests: &[String], fields: &[&str]) -> Case {
    let body = json!({ "region": "kr.seoul", "interests": interests }).to_string();
    Case::press_body(name, body, 422, fields)
}

fn tags(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("tag {n}")).collect()
}

#[tokio::test]
async fn bad_interests_are_named_by_their_place() {
    let among = |bad: &str| vec!["jazz".to_owned(), bad.to_owned(), "chess".to_owned()];
    let mut cases = vec![
        case("none", &[], &["interests"]),
        case("65", &tags(65), &["interests"]),
        case("1,000", &tags(1_000), &["interests"]),
        case(
            "two bad ones",
            &[String::new(), "jazz".to_owned(), "\t".to_owned()],
            &["interests[0]", "interests[2]"],
        ),
    ];
    let (long, long_wide) = ("x".repeat(65), "가".repeat(65));
    let controls = ["\0", "ja\tzz", "ja\nzz", "ja\u{7f}zz", "ja\u{9b}zz", "jazz\r"];
    for bad in ["", " ", "\u{3000}\u{a0}", &long, &long_wide].into_iter().chain(controls) {
        cases.push(case(&format!("{bad:?}"), &among(bad), &["interests[1]"]));
    }
    assert_refused(&cases).await;
}

#[tokio::test]
async fn as_many_bad_interests_as_you_like_name_a_bounded_number() {
    let bad = vec![String::new(); 5_000];
    let fields: Vec<_> = (0..16).map(|n| format!("interests[{n}]")).collect();
    let fields: Vec<_> = fields.iter().map(String::as_str).collect();
    assert_refused(&[case("5,000 empty ones", &bad, &fields)]).await;
}

#[tokio::test]
async fn interests_at_the_bounds_are_good() {
    let app = App::start().await;
    let mut with_duplicates = tags(64);
    with_duplicates.extend((0..64).map(|n| format!("  TAG   {n} ")));
    let good = [
        tags(64),
        with_duplicates,
        vec!["x".repeat(64)],
        vec!["가".repeat(64)],
        vec![format!("  {}  {} ", "x".repeat(31), "y".repeat(32))],
        ["C++", "C", "C#", "보드게임", "Café", "'; DROP TABLE tickets;--", "\"\\", "👩‍👩‍👧", "-"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (n, interests) in good.iter().enumerate() {
        let user = app.user(&format!("user-{n}"));
        let region = format!("kr.{n}");
        let body = json!({ "region": region, "interests": interests });
        let ticket: Ticket = user.press(&body).await.expect(201);
        assert!(ticket.interests.len() <= 64, "{ticket:?}");
        let again: Ticket =
            user.press(&json!({ "region": region, "interests": ticket.interests })).await.expect(200);
        assert_eq!(again, ticket, "what was answered is the same wish");
    }
}
