//! SIGTERM: every phone that waits is answered, then the process ends well.

use std::time::Duration;

use futures::future::join_all;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::app::App;
use crate::wait::{until, within};

/// By when it must have ended.
const STOPPED_WITHIN: Duration = Duration::from_secs(5);

#[tokio::test]
async fn phones_that_wait_are_answered_and_it_ends_well() {
    let mut app = App::start().await;
    let phones: Vec<_> = (0..20).map(|n| app.user(&format!("user-{n}"))).collect();
    // Each in their own region: nobody meets anybody.
    let press = phones
        .iter()
        .enumerate()
        .map(async |(n, phone)| phone.press_match(&format!("kr.r{n}"), &["jazz"]).await);
    let tickets = join_all(press).await;
    let open = phones.iter().zip(&tickets).map(async |(phone, ticket)| phone.events(&ticket.id).await);
    let mut streams = join_all(open).await;
    for (stream, ticket) in streams.iter_mut().zip(&tickets) {
        assert_eq!(stream.next().await.as_ref(), Some(ticket));
    }
    let polls =
        join_all(phones.iter().zip(&tickets).map(|(phone, ticket)| phone.read_waiting(&ticket.id, 50)));
    let (answers, ()) = within(STOPPED_WITHIN, "every phone is answered", async {
        tokio::join!(polls, async {
            until_polled(&app, 20).await;
            app.terminate();
        })
    })
    .await;
    assert_eq!(answers, tickets, "still waiting");
    for stream in &mut streams {
        assert_eq!(stream.next().await, None, "the stream ends in order");
    }
    let ended = app.ended_within(STOPPED_WITHIN).await;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.said);
}

#[tokio::test]
async fn a_server_that_drains_says_so_and_still_serves() {
    let mut app = App::start_with(&["--drain-delay", "2s"], "").await;
    let (ana, bo) = (app.user("ana"), app.user("bo"));
    let ticket = ana.press_match("kr.seoul", &["jazz"]).await;
    app.terminate();
    let not_ready = async {
        loop {
            let ready = app.admin("/ready").await;
            if ready.status == 503 {
                return ready;
            }
        }
    };
    let ready = until("it is not ready", not_ready).await;
    assert_eq!(ready.json(), serde_json::json!({ "ready": false, "draining": true, "store": "ok" }));
    assert_eq!(app.admin("/live").await.status, 200);
    bo.press_match("kr.seoul", &["jazz"]).await;
    ana.until_matched(&ticket).await;
    let ended = app.ended_within(STOPPED_WITHIN).await;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.said);
}

#[tokio::test]
async fn a_second_signal_stops_it_at_once() {
    let mut app = App::start_with(&["--drain-delay", "10m"], "").await;
    app.terminate();
    until("it is not ready", async { while app.admin("/ready").await.status != 503 {} }).await;
    app.terminate();
    let ended = app.ended_within(STOPPED_WITHIN).await;
    assert_eq!(ended.status.code(), Some(1), "{}", ended.said);
}

#[tokio::test]
async fn callers_who_keep_silent_do_not_hold_it_up() {
    let mut app = App::start().await;
    let half_sent: [&[u8]; 4] = [
        b"",
        b"G",
        b"GET /v1/matches HTTP/1.1\r\nHost: dovetail\r\n",
        b"POST /v1/tickets HTTP/1.1\r\nHost: dovetail\r\nAuthorization: Bearer dev.ana\r\n\
          Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    ];
    let mut silent = Vec::new();
    for bytes in half_sent {
        let mut stream = TcpStream::connect(app.place().api).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        silent.push(stream);
    }
    // Taken after those above: the server has seen them all.
    let ana = app.user("ana");
    ana.current().await.expect_problem(404, "not-found");
    app.terminate();
    let ended = app.ended_within(STOPPED_WITHIN).await;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.said);
}

async fn until_polled(app: &App, phones: u32) {
    // Each holds a stream and a poll.
    let polled = async { while app.metric("dovetail_waiters", "").await < f64::from(2 * phones) {} };
    until("phones hold their lines", polled).await;
}
