//! What belongs to somebody else is not there.

use hyper::Method;

use crate::app::App;

#[tokio::test]
async fn another_users_ticket_and_match_are_not_found() {
    let app = App::start().await;
    let (ana, bo, eve) = (app.user("ana"), app.user("bo"), app.user("eve"));
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    let id = &ticket.id;
    for path in
        [format!("/v1/tickets/{id}"), format!("/v1/tickets/{id}?wait=50"), format!("/v1/tickets/{id}/events")]
    {
        eve.get(&path).await.expect_problem(404, "not-found");
    }
    eve.cancel(id).await.expect_problem(404, "not-found");
    assert_eq!(ana.read(id).await.state, "waiting", "eve cancelled nothing");
    bo.press_match("kr.seoul", &["jazz"]).await;
    let made = ana.until_matched(&ticket).await;
    eve.get(&format!("/v1/matches/{}", made.id)).await.expect_problem(404, "not-found");
    assert_eq!(eve.matches().await, []);
    eve.cancel(id).await.expect_problem(404, "not-found");
    // A ticket's id is not a match's, nor the other way round.
    ana.get(&format!("/v1/matches/{id}")).await.expect_problem(404, "not-found");
    ana.get(&format!("/v1/tickets/{}", made.id)).await.expect_problem(404, "not-found");
}

#[tokio::test]
async fn the_user_is_the_tokens_and_never_the_bodys() {
    let app = App::start().await;
    let ana = app.user("ana");
    let body = serde_json::json!({ "region": "kr", "interests": ["jazz"], "user": "bo" });
    let problem = ana.press(&body).await.expect_problem(422, "invalid-request");
    assert_eq!(problem["errors"][0]["field"], "user");
    app.user("bo").current().await.expect_problem(404, "not-found");
    // Whatever a header says.
    let wish = crate::user::wish("kr", &["jazz"]).to_string();
    let headers = [("content-type", "application/json"), ("x-user", "bo")];
    let reply = ana.try_send(Method::POST, "/v1/tickets", &headers, wish.as_bytes()).await.unwrap();
    assert_eq!(reply.status, 201);
    app.user("bo").current().await.expect_problem(404, "not-found");
}
