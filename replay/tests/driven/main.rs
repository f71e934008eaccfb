//! The load generator against a small real server, which can be told to err.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod fifo;

use std::time::Duration;

use fifo::{Errs, Fifo};
use replay::drive::{Plan, drive};
use replay::pairs::put_together;
use replay::report::{Mode, Report, Run};
use replay::server::find;
use replay::token::Tokens;
use replay::trace::Trace;
use tokio_util::sync::CancellationToken;

/// One request a name, a millisecond apart; interests are the name's letters.
fn trace(names: &[&str]) -> Trace {
    let line = |(n, name): (usize, &&str)| {
        let interests: Vec<_> = name.chars().map(String::from).collect();
        let user = name.split('/').next().unwrap();
        serde_json::json!({"at_ms": n, "user": user, "region": "kr.seoul", "interests": interests})
            .to_string()
    };
    let lines: Vec<_> = names.iter().enumerate().map(line).collect();
    Trace::read(lines.join("\n").as_bytes()).unwrap()
}

/// Longer than any run here takes; a run that needs it fails its test.
const LONG: Duration = Duration::from_secs(60);

struct Play {
    timeout: Duration,
    idempotency_keys: bool,
    /// Ends the run early, once this many calls reached the server.
    stop_after_calls: Option<usize>,
}

const PLAY: Play = Play { timeout: LONG, idempotency_keys: false, stop_after_calls: None };

async fn play(server: &Fifo, names: &[&str], how: Play) -> Report {
    let trace = trace(names);
    let mut servers = Vec::new();
    for address in &server.addresses {
        servers.push(find(&format!("http://{address}").parse().unwrap()).await.unwrap());
    }
    let Play { timeout, idempotency_keys, stop_after_calls } = how;
    let plan = Plan { servers, timeout, tokens: Tokens::Dev, idempotency_keys };
    let stop = CancellationToken::new();
    let mut calls = server.calls.clone();
    let stopping = async {
        if let Some(enough) = stop_after_calls {
            calls.wait_for(|calls| *calls >= enough).await.unwrap();
            stop.cancel();
        }
    };
    let (seen, ()) = tokio::join!(drive(&trace, plan, &stop, |_| {}), stopping);
    let seen = seen.unwrap();
    let run = Run { mode: Mode::Http, elapsed_seconds: 0.0, interrupted: stop.is_cancelled(), bound: None };
    Report::new(&trace, &seen, &put_together(&trace, &seen), run)
}

#[tokio::test]
async fn everybody_submits_at_one_server_and_waits_at_the_next() {
    let server = Fifo::start(2, Errs::default()).await;
    let report = play(&server, &["ana", "nat", "cem", "dan", "eve", "flo"], PLAY).await;
    assert_eq!((report.submitted, report.accepted, report.matched, report.pairs), (6, 6, 6, 3));
    assert_eq!((report.faults(), report.retries, report.unsettled), (0, 0, 0));
    assert_eq!(report.matched_with_strangers, 0, "the prefix was taken off again");
    assert!(report.accept_ms.max.unwrap() > 0.0 && report.wait_ms.max >= report.accept_ms.max);
    assert!(report.similarity_sum < 3.0, "the server's own claim is not believed");

    let log = server.log.lock().unwrap();
    for (id, _) in &log.made {
        let at = |method| log.calls.iter().find(|call| call.1 == method && call.2 == *id).unwrap().0;
        assert_ne!(at("POST"), at("GET"), "{id}");
    }
    assert!(log.keys.is_empty());
}

#[tokio::test]
async fn the_schedule_does_not_wait_for_answers() {
    // No POST is answered before all have come: a client that waited would never send the last one.
    let server = Fifo::start(1, Errs { hold_posts_until: Some(4), ..Errs::default() }).await;
    let report = play(&server, &["ana", "ben", "cem", "dan"], PLAY).await;
    assert_eq!((report.matched, report.retries, report.faults()), (4, 0, 0));
}

#[tokio::test]
async fn a_match_of_which_one_side_never_learns_is_found() {
    let server = Fifo::start(1, Errs { hide_match_from: Some("ben"), ..Errs::default() }).await;
    let report = play(&server, &["ana", "ben"], PLAY).await;
    assert_eq!((report.told_one_side, report.matched, report.expired, report.pairs), (1, 1, 1, 1));
    assert_eq!(report.faults(), 1);
}

#[tokio::test]
async fn an_honest_refusal_is_counted_and_not_repeated() {
    let refuse = vec![("ben", 503, "pool-full"), ("dan", 429, "rate-limited")];
    let server = Fifo::start(1, Errs { refuse, ..Errs::default() }).await;
    let report = play(&server, &["ana", "ben", "cem", "dan"], PLAY).await;
    assert_eq!((report.accepted, report.rejected, report.matched), (2, 2, 2));
    assert_eq!((report.retries, report.faults()), (0, 0));
}

#[tokio::test]
async fn an_unknown_outcome_is_tried_again_with_the_same_key() {
    let refuse = vec![("ben", 503, "outcome-unknown")];
    let server = Fifo::start(1, Errs { refuse, ..Errs::default() }).await;
    let report = play(&server, &["ana", "ben"], Play { idempotency_keys: true, ..PLAY }).await;
    assert_eq!((report.accepted, report.rejected, report.matched), (2, 0, 2));
    assert_eq!((report.retries, report.faults()), (1, 0));
    let mut keys = server.log.lock().unwrap().keys.clone();
    assert_eq!(keys.len(), 3);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 2, "a repeat keeps its key");
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_makes_no_second_ticket() {
    let server = Fifo::start(2, Errs { lose_answer_to: Some("ana"), ..Errs::default() }).await;
    // Post, post again, poll: Ana is alone, so her ticket still waits when she asks again.
    let report = play(&server, &["ana"], Play { stop_after_calls: Some(3), ..PLAY }).await;
    assert_eq!((report.accepted, report.already_waiting, report.unsettled), (1, 0, 1));
    assert_eq!((report.retries, report.faults()), (1, 0));
    assert_eq!(server.log.lock().unwrap().made.len(), 1);
}

#[tokio::test]
async fn an_answer_that_no_server_should_give_is_an_error() {
    let server = Fifo::start(1, Errs { refuse: vec![("ben", 500, "internal")], ..Errs::default() }).await;
    let report = play(&server, &["ana", "ben", "cem"], PLAY).await;
    assert_eq!((report.accepted, report.failed, report.matched), (2, 1, 2));
    assert_eq!((report.errors["POST 500"], report.faults()), (1, 1));
}

#[tokio::test]
async fn a_conflict_is_an_error_unless_the_user_submitted_before() {
    let server =
        Fifo::start(1, Errs { refuse: vec![("ben", 409, "ticket-exists")], ..Errs::default() }).await;
    let report = play(&server, &["ana", "ben", "cem"], PLAY).await;
    assert_eq!((report.errors["POST 409"], report.matched), (1, 2));

    // The same user twice with the same wish and once with another: three posts, three polls, one ticket.
    let server = Fifo::start(1, Errs::default()).await;
    let report = play(&server, &["ana", "ana", "ana/x"], Play { stop_after_calls: Some(6), ..PLAY }).await;
    assert_eq!((report.accepted, report.already_waiting, report.unsettled), (1, 2, 1));
    assert_eq!((report.submitted, report.faults()), (3, 0));
}

#[tokio::test]
async fn a_run_that_is_stopped_reports_what_it_saw() {
    let server = Fifo::start(1, Errs::default()).await;
    let report = play(&server, &["ana"], Play { stop_after_calls: Some(2), ..PLAY }).await;
    assert!(report.interrupted);
    assert_eq!((report.accepted, report.unsettled, report.faults()), (1, 1, 0));
}

#[tokio::test]
async fn a_run_ends_when_its_time_is_up() {
    let server = Fifo::start(1, Errs::default()).await;
    let report = play(&server, &["ana"], Play { timeout: Duration::from_millis(100), ..PLAY }).await;
    assert_eq!((report.submitted, report.matched, report.interrupted), (1, 0, false));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = find(&format!("http://{free}").parse().unwrap()).await.unwrap_err().to_string();
    assert!(error.contains(&free.to_string()) && error.contains("running"), "{error}");
}
