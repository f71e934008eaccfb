//! How people fared by rarity of interests and by size of region, on outcomes made by hand.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proto::{MatchId, TicketId};
use replay::outcome::{Ending, Posted, Seen};
use replay::pairs::put_together;
use replay::report::{Mode, Report, Run};
use replay::table::render;
use replay::trace::Trace;

/// One request a millisecond, each of a user, a region and interests that are letters.
fn trace(requests: &[(&str, &str, &str)]) -> Trace {
    let line = |(n, (user, region, likes)): (usize, &(&str, &str, &str))| {
        let interests: Vec<_> = likes.chars().map(String::from).collect();
        serde_json::json!({"at_ms": n, "user": user, "region": region, "interests": interests}).to_string()
    };
    let lines: Vec<_> = requests.iter().enumerate().map(line).collect();
    Trace::read(lines.join("\n").as_bytes()).unwrap()
}

/// Request `n` was matched with a user under the match of that number, after so many milliseconds.
fn matched(n: usize, match_id: u128, partner: &str, wait_ms: f64) -> Seen {
    let ending = Ending::Matched { match_id: MatchId::from_u128(match_id), partner: Some(partner.into()) };
    let posted = Posted::Ticket(TicketId::from_u128(n as u128));
    Seen { posted, ending, wait_ms: Some(wait_ms), ..Seen::default() }
}

fn expired(n: usize) -> Seen {
    let posted = Posted::Ticket(TicketId::from_u128(n as u128));
    Seen { posted, ending: Ending::Expired, wait_ms: Some(60_000.0), ..Seen::default() }
}

fn report(trace: &Trace, seen: &[Seen]) -> Report {
    let run = Run { mode: Mode::Http, elapsed_seconds: 1.0, interrupted: false, bound: None };
    Report::new(trace, seen, &put_together(trace, seen), run)
}

/// Ten users. `p` is had by eight, `q` by two, `x` and `y` by one each.
fn ten() -> Trace {
    trace(&[
        ("p1", "kr.a", "p"),
        ("p2", "kr.a", "p"),
        ("p3", "kr.a", "p"),
        ("p4", "kr.a", "p"),
        ("p5", "kr.a", "p"),
        ("p6", "kr.a", "p"),
        ("pq", "kr.a", "pq"),
        ("px", "kr.a", "px"),
        ("q", "kr.a", "q"),
        ("y", "kr.a", "y"),
    ])
}

#[test]
fn users_are_ranked_by_how_many_have_their_interests() {
    let (trace, unsent) = (ten(), vec![Seen::default(); 10]);
    let by_rarity = report(&trace, &unsent).by_rarity;
    assert_eq!(by_rarity.len(), 10);
    let means: Vec<_> = by_rarity.iter().map(|tenth| tenth.mean_frequency_min.unwrap()).collect();
    // y; q; px = (8 + 1) / 2; pq = (8 + 2) / 2; six with p alone.
    assert_eq!(means, [1.0, 2.0, 4.5, 5.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0]);
    assert!(by_rarity.iter().all(|tenth| (tenth.users, tenth.fared.requests) == (1, 1)));
}

#[test]
fn each_tenth_has_its_own_waits_and_the_rarest_is_held_against_the_whole() {
    let trace = ten();
    let mut seen: Vec<_> = (0..10).map(expired).collect();
    // The rarest with the next, after 900 ms; two with p alone (the first two of the tied tenths).
    seen[9] = matched(9, 1, "q", 900.0);
    seen[8] = matched(8, 1, "y", 300.0);
    seen[0] = matched(0, 2, "p2", 200.0);
    seen[1] = matched(1, 2, "p1", 100.0);
    seen[2].posted = Posted::Rejected;
    let report = report(&trace, &seen);
    let of = |n: usize| &report.by_rarity[n].fared;
    assert_eq!(
        (of(0).matched_share, of(0).wait_ms.p95, of(0).similarity_mean),
        (Some(1.0), Some(900.0), Some(0.0))
    );
    assert_eq!((of(1).wait_ms.mean, of(2).matched_share, of(2).wait_ms.p50), (Some(300.0), Some(0.0), None));
    assert_eq!(
        (of(4).wait_ms.p50, of(5).wait_ms.p50, of(4).similarity_mean),
        (Some(200.0), Some(100.0), Some(1.0))
    );
    assert_eq!((of(6).requests, of(6).accepted, of(6).matched_share), (1, 0, None), "refused");
    assert_eq!(report.wait_ms.p95, Some(900.0));
    assert_eq!(report.rarest_tenth_wait_p95_factor, Some(1.0));

    // The rarest waited least of all.
    seen[9] = matched(9, 1, "q", 100.0);
    let report = self::report(&trace, &seen);
    assert_eq!(report.rarest_tenth_wait_p95_factor, Some(100.0 / 300.0));
    let page = render(&report);
    assert!(page.contains("the rarest tenth's wait p95 is 0.33 times the whole's"), "{page}");
}

#[test]
fn a_user_who_asks_twice_is_ranked_once_by_all_their_interests() {
    let mut requests = vec![("ana", "kr.a", "xy"); 2];
    requests.push(("ana", "kr.b", "z"));
    let others: Vec<_> = (0..9).map(|n| format!("u{n}")).collect();
    requests.extend(others.iter().map(|user| (user.as_str(), "kr.a", "z")));
    let trace = trace(&requests);
    let by_rarity = report(&trace, &vec![Seen::default(); 12]).by_rarity;
    // x and y are ana's alone, z everybody's: (1 + 1 + 10) / 3.
    assert_eq!((by_rarity[0].users, by_rarity[0].fared.requests), (1, 3));
    assert_eq!((by_rarity[0].mean_frequency_min, by_rarity[0].mean_frequency_max), (Some(4.0), Some(4.0)));
    assert_eq!(by_rarity[9].mean_frequency_max, Some(10.0));
}

#[test]
fn with_fewer_than_ten_users_some_tenths_are_empty_and_the_page_leaves_them_out() {
    let trace = trace(&[("ana", "kr.a", "x"), ("ben", "kr.a", "x")]);
    let report = report(&trace, &[matched(0, 1, "ben", 0.0), matched(1, 1, "ana", 0.0)]);
    let users: Vec<_> = report.by_rarity.iter().map(|tenth| tenth.users).collect();
    assert_eq!(users, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(report.by_rarity[1].mean_frequency_min, None);
    assert_eq!(report.rarest_tenth_wait_p95_factor, None, "nobody waited at all");
    let page = render(&report);
    assert!(page.contains("rarest tenth") && !page.contains("commonest tenth"), "{page}");
}

#[test]
fn regions_are_grouped_by_their_requests_at_the_limits_that_are_promised() {
    let users: Vec<_> = (0..1_202).map(|n| format!("u{n}")).collect();
    let region = |n: usize| match n {
        0..100 => "kr.a",
        100..201 => "kr.b",
        _ => "kr.c",
    };
    let requests: Vec<_> =
        users.iter().enumerate().map(|(n, user)| (user.as_str(), region(n), "x")).collect();
    let trace = trace(&requests);
    let mut seen = vec![Seen::default(); 1_202];
    seen[0] = matched(0, 1, "u1", 500.0);
    seen[1] = matched(1, 1, "u0", 700.0);
    seen[2] = expired(2);
    seen[100] = matched(100, 2, "u201", 20.0);
    seen[201] = matched(201, 2, "u100", 10.0);
    let report = report(&trace, &seen);
    let shown: Vec<_> = report
        .by_region_size
        .iter()
        .map(|size| (size.region_requests_min, size.region_requests_max, size.regions, size.fared.requests))
        .collect();
    assert_eq!(shown, [(1, Some(100), 1, 100), (101, Some(1_000), 1, 101), (1_001, None, 1, 1_001)]);
    let of = |n: usize| &report.by_region_size[n].fared;
    assert_eq!((of(0).accepted, of(0).matched, of(0).wait_ms.mean), (3, 2, Some(600.0)));
    assert_eq!((of(1).wait_ms.max, of(2).wait_ms.max), (Some(20.0), Some(10.0)), "a pair across regions");
    let page = render(&report);
    assert!(page.contains("regions <= 100 ") && page.contains("regions >= 1001 "), "{page}");
}
