//! What those who run it see: the admin port.

use crate::app::App;
use crate::user::wish;

#[tokio::test]
async fn it_says_that_it_lives_and_is_ready() {
    let app = App::start().await;
    let live = app.admin("/live").await;
    assert_eq!((live.status.as_u16(), live.text().as_str()), (200, "ok\n"));
    let ready = app.admin("/ready").await;
    assert_eq!(ready.status, 200);
    assert_eq!(ready.json(), serde_json::json!({ "ready": true, "draining": false, "store": "ok" }));
    assert_eq!(app.admin("/v1/matches").await.status, 404, "the API is elsewhere");
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let app = App::start().await;
    let (ana, bo, cy) = (app.user("ana"), app.user("bo"), app.user("cy"));
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    ana.press(&wish("kr.seoul", &["jazz"])).await.expect::<serde_json::Value>(200);
    ana.press(&wish("kr.seoul", &["folk"])).await.expect_problem(409, "ticket-exists");
    bo.press_match("kr.seoul", &["jazz"]).await;
    ana.until_matched(&ticket).await;
    let of_cy = cy.press_match("kr.seoul", &["jazz"]).await;
    cy.cancel(&of_cy.id).await.expect::<serde_json::Value>(200);
    let expected = [
        ("dovetail_tickets_submitted_total", "result=\"created\"", 3.0),
        ("dovetail_tickets_submitted_total", "result=\"existing\"", 1.0),
        ("dovetail_tickets_submitted_total", "result=\"ticket-exists\"", 1.0),
        ("dovetail_tickets_settled_total", "outcome=\"matched\"", 2.0),
        ("dovetail_tickets_settled_total", "outcome=\"cancelled\"", 1.0),
        ("dovetail_matches_total", "", 1.0),
        ("dovetail_match_wait_seconds_count", "", 2.0),
        ("dovetail_match_similarity_sum", "", 1.0),
        ("dovetail_shards_owned", "", 12.0),
        ("dovetail_http_requests_total", "method=\"POST\",route=\"/v1/tickets\",status=\"201\"", 3.0),
    ];
    for (name, label, value) in expected {
        let seen = app.metric(name, label).await;
        assert!((seen - value).abs() < 1e-9, "{name}{{{label}}}: {seen}, not {value}");
    }
    let present = [
        "dovetail_tickets_waiting",
        "dovetail_oldest_waiting_seconds",
        "dovetail_tickets_unpooled",
        "dovetail_pooling_delay_seconds_bucket",
        "dovetail_http_request_duration_seconds_bucket",
        "dovetail_store_duration_seconds_bucket",
        "dovetail_commit_batch_size_bucket",
        "dovetail_wakeups_total",
        "dovetail_engine_inbox_depth",
        "process_cpu_seconds_total",
    ];
    let page = app.admin("/metrics").await;
    assert!(page.header("content-type").starts_with("text/plain"), "{:?}", page.headers);
    let page = page.text();
    for name in present {
        assert!(page.lines().any(|line| line.starts_with(name)), "{name} is missing");
    }
    for private in ["ana", "jazz", "seoul", &ticket.id] {
        assert!(!page.contains(private), "a metric names {private:?}");
    }
}
