//! `GET /v1/matches` and `GET /v1/matches/{id}`.

use serde_json::Value;

use crate::app::App;
use crate::user::{Match, User};

async fn meet(ana: &User, other: &User) -> Match {
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    other.press_match("kr.seoul", &["jazz"]).await;
    ana.until_matched(&ticket).await
}

#[tokio::test]
async fn matches_are_listed_newest_first_page_by_page() {
    let app = App::with_policy("same_press_within = \"0s\"").await;
    let ana = app.user("ana");
    let empty: Value = ana.get("/v1/matches").await.expect(200);
    assert_eq!(empty, serde_json::json!({ "items": [], "next_cursor": null }));
    let mut made = Vec::new();
    for name in ["bo", "cy", "di", "ed", "flo"] {
        made.insert(0, meet(&ana, &app.user(name)).await);
    }
    let (mut listed, mut sizes, mut path) = (Vec::new(), Vec::new(), "/v1/matches?limit=2".to_owned());
    loop {
        let page: Value = ana.get(&path).await.expect(200);
        let items: Vec<Match> = serde_json::from_value(page["items"].clone()).unwrap();
        sizes.push(items.len());
        listed.extend(items);
        let Some(cursor) = page["next_cursor"].as_str() else {
            assert_eq!(page["next_cursor"], Value::Null);
            break;
        };
        path = format!("/v1/matches?limit=2&cursor={cursor}");
    }
    assert_eq!((sizes.as_slice(), &listed), ([2, 2, 1].as_slice(), &made));
    let all: Value = ana.get("/v1/matches?limit=5").await.expect(200);
    assert_eq!(all["next_cursor"], Value::Null, "a full last page is the last");
    assert_eq!(ana.matches().await, made);
}

#[tokio::test]
async fn a_match_is_the_same_for_both_and_wherever_it_is_read() {
    let app = App::start().await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let made = meet(&ana, &bo).await;
    let path = format!("/v1/matches/{}", made.id);
    assert_eq!(ana.get(&path).await.expect::<Match>(200), made);
    assert_eq!(ana.matches().await, std::slice::from_ref(&made));
    let of_bo: Match = bo.get(&path).await.expect(200);
    assert_eq!(of_bo.partner.user, "ana");
    assert_eq!(Match { partner: made.partner.clone(), ..of_bo.clone() }, made);
    assert_eq!(bo.matches().await, [of_bo]);
}
