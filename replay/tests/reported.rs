//! The report's arithmetic, on outcomes made by hand.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proto::{MatchId, TicketId};
use replay::outcome::{Ending, Posted, Seen};
use replay::pairs::{put_together, write_pairs};
use replay::report::{Mode, Report, Run};
use replay::table::render;
use replay::trace::Trace;

/// Ana and ben share one of three interests; cem and dan nothing, and live apart; eve is alone.
const TRACE: &str = r#"{"at_ms":0,"user":"ana","region":"kr.seoul.a","interests":["pop","Jazz"]}
{"at_ms":1,"user":"ben","region":"kr.seoul.b","interests":["JAZZ","rock"]}
{"at_ms":2,"user":"cem","region":"kr.busan","interests":["folk"]}
{"at_ms":3,"user":"dan","region":"kr.busan","interests":["metal"]}
{"at_ms":4,"user":"eve","region":"kr.jeju","interests":["pop"]}
"#;

fn trace() -> Trace {
    Trace::read(TRACE.as_bytes()).unwrap()
}

fn ticket(n: u128, ending: Ending, wait_ms: Option<f64>) -> Seen {
    let posted = Posted::Ticket(TicketId::from_u128(n));
    Seen { posted, accept_ms: Some(5.0), ending, wait_ms, ..Seen::default() }
}

fn told(n: u128, match_id: u128, partner: &str) -> Seen {
    let ending = Ending::Matched { match_id: MatchId::from_u128(match_id), partner: Some(partner.into()) };
    ticket(n, ending, Some(100.0 * n as f64))
}

/// Two good pairs, and eve expires.
fn good() -> Vec<Seen> {
    let lonely = ticket(5, Ending::Expired, Some(60_000.0));
    vec![told(1, 10, "ben"), told(2, 10, "ana"), told(3, 11, "dan"), told(4, 11, "cem"), lonely]
}

fn report_of(trace: &Trace, seen: &[Seen], interrupted: bool) -> Report {
    let run = Run { mode: Mode::Http, elapsed_seconds: 1.0, interrupted, bound: None };
    Report::new(trace, seen, &put_together(trace, seen), run)
}

fn report(seen: &[Seen]) -> Report {
    report_of(&trace(), seen, false)
}

#[test]
fn a_good_run_adds_up() {
    let report = report(&good());
    assert_eq!((report.submitted, report.accepted, report.matched, report.expired), (5, 5, 4, 1));
    assert_eq!((report.pairs, report.zero_shared_pairs, report.cross_region_pairs), (2, 1, 1));
    assert!((report.similarity_sum - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((report.similarity_mean, report.shared_mean), (Some(report.similarity_sum / 2.0), Some(0.5)));
    assert_eq!((report.wait_ms.p50, report.wait_ms.max), (Some(200.0), Some(400.0)));
    assert_eq!((report.expired_ms.max, report.accept_ms.p99), (Some(60_000.0), Some(5.0)));
    assert_eq!(report.faults(), 0);
}

#[test]
fn the_json_holds_the_promised_members() {
    let json = serde_json::to_value(report(&good())).unwrap();
    let promised = "submitted accepted rejected matched expired cancelled unsettled pairs accept_ms wait_ms \
                    similarity_sum similarity_mean shared_mean zero_shared_pairs cross_region_pairs \
                    double_matched self_matched told_one_side by_rarity by_region_size rarest_tenth_wait_p95_factor";
    for member in promised.split_whitespace() {
        assert!(json.get(member).is_some(), "{member} is missing");
    }
    for member in ["p50", "p95", "p99", "max"] {
        assert!(json["wait_ms"][member].is_number() && json["accept_ms"][member].is_number(), "{member}");
        assert!(json["by_rarity"][0]["wait_ms"][member].is_number(), "{member}");
    }
    assert_eq!(json["by_region_size"][0]["requests"], 5, "the members of a group stand beside its name");
}

#[test]
fn a_partner_who_was_told_something_else_or_nothing_makes_a_pair_one_sided() {
    for other in [
        ticket(2, Ending::Expired, Some(1.0)),
        ticket(2, Ending::Unsettled, None),
        Seen { posted: Posted::Rejected, ..Seen::default() },
    ] {
        let mut seen = good();
        seen[1] = other;
        let report = report(&seen);
        assert_eq!((report.told_one_side, report.pairs, report.double_matched), (1, 2, 0), "{:?}", seen[1]);
    }
}

#[test]
fn each_told_of_the_other_under_another_match_is_two_one_sided_pairs() {
    let mut seen = good();
    seen[1] = told(2, 12, "ana");
    let report = report(&seen);
    assert_eq!((report.told_one_side, report.pairs, report.double_matched), (2, 3, 2));
}

#[test]
fn who_still_waits_in_a_run_that_was_ended_early_may_be_told_yet() {
    let mut seen = good();
    seen[1] = ticket(2, Ending::Unsettled, None);
    assert_eq!(report_of(&trace(), &seen, true).told_one_side, 0);
    seen[1] = ticket(2, Ending::Expired, Some(1.0));
    assert_eq!(report_of(&trace(), &seen, true).told_one_side, 1);
}

#[test]
fn a_person_whom_two_others_were_given_is_matched_twice() {
    // Under one match id or under two: ben is in two pairs either way.
    for match_id in [10, 99] {
        let mut seen = good();
        seen[4] = told(5, match_id, "ben");
        let report = report(&seen);
        assert_eq!((report.double_matched, report.told_one_side, report.pairs), (1, 1, 3), "{match_id}");
    }
}

#[test]
fn a_person_matched_with_themselves_is_found() {
    let mut seen = good();
    seen[4] = told(5, 12, "eve");
    let report = report(&seen);
    assert_eq!((report.self_matched, report.told_one_side, report.double_matched), (1, 0, 0));
    assert_eq!(report.faults(), 1);
}

#[test]
fn two_phones_on_one_ticket_count_once_and_two_tickets_of_a_user_may_both_be_matched() {
    let again = r#"{"at_ms":5,"user":"ana","region":"kr.seoul.a","interests":["pop"]}
{"at_ms":6,"user":"ana","region":"kr.seoul.a","interests":["pop"]}
"#;
    let trace = Trace::read([TRACE, again].concat().as_bytes()).unwrap();
    let mut seen = good();
    seen.push(told(1, 10, "ben"));
    seen.push(told(7, 12, "eve"));
    seen[4] = told(5, 12, "ana");
    let report = report_of(&trace, &seen, false);
    assert_eq!((report.submitted, report.accepted, report.already_waiting), (7, 6, 1));
    assert_eq!((report.matched, report.pairs, report.faults()), (6, 3, 0));
}

#[test]
fn refusals_errors_and_strangers_are_counted_apart() {
    let mut seen = good();
    seen[2] = Seen { posted: Posted::Rejected, ..Seen::default() };
    seen[3] = Seen { posted: Posted::Failed, errors: vec!["POST 500".to_owned()], ..Seen::default() };
    let stranger = Ending::Matched { match_id: MatchId::from_u128(13), partner: None };
    seen[4] = ticket(5, stranger, Some(1.0));
    let report = report(&seen);
    assert_eq!((report.accepted, report.rejected, report.failed), (3, 1, 1));
    assert_eq!((report.matched, report.matched_with_strangers, report.pairs), (3, 1, 1));
    assert_eq!((report.errors["POST 500"], report.faults()), (1, 1));
    let page = render(&report);
    assert!(page.contains("POST 500") && page.contains("with strangers"), "{page}");
}

#[test]
fn pairs_are_written_from_the_trace() {
    let mut seen = good();
    seen[1] = ticket(2, Ending::Expired, Some(1.0));
    let trace = trace();
    let mut bytes = Vec::new();
    write_pairs(&trace, &put_together(&trace, &seen), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let third = 1.0 / 3.0;
    assert_eq!(
        lines,
        [
            serde_json::json!({"a": "ana", "b": "ben", "region": "kr.seoul", "shared": ["Jazz"],
                "similarity": third, "wait_a_ms": 100.0}),
            serde_json::json!({"a": "cem", "b": "dan", "region": "kr.busan", "shared": [],
                "similarity": 0.0, "wait_a_ms": 300.0, "wait_b_ms": 400.0}),
        ]
    );
}
