//! A ticket that nobody fits expires on time, and never matches afterwards.

use std::time::{Duration, Instant};

use crate::app::App;

#[tokio::test]
async fn one_alone_expires_by_the_deadline_and_two_seconds() {
    let app = App::with_policy("expire_after = \"1s\"").await;
    let ana = app.user("ana");
    let pressed = Instant::now();
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    assert_eq!(ticket.expires_at.since(ticket.created_at), Duration::from_secs(1));
    let settled = ana.until_settled(&ticket).await;
    let took = pressed.elapsed();
    assert_eq!((settled.state.as_str(), &settled.r#match), ("expired", &None));
    assert!((Duration::from_secs(1)..Duration::from_secs(3)).contains(&took), "{took:?}");
    // The one who comes now is alone too.
    let bo = app.user("bo");
    let late = bo.press_match("kr.seoul", &["jazz"]).await;
    assert_eq!(bo.until_settled(&late).await.state, "expired");
    assert_eq!(ana.read(&ticket.id).await, settled);
}
