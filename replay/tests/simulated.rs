//! The sample trace through the engine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use replay::pairs::put_together;
use replay::report::{Mode, Report, Run};
use replay::simulate::simulate;
use replay::trace::Trace;
use service::policy::MatchPolicy;

fn play(policy: &MatchPolicy) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/sample-1k.ndjson");
    let trace = Trace::load(&path).unwrap();
    let seen = simulate(&trace, policy, || {}).unwrap();
    let run = Run { mode: Mode::Engine, elapsed_seconds: 0.0, interrupted: false, bound: None };
    Report::new(&trace, &seen, &put_together(&trace, &seen), run)
}

#[test]
fn nearly_everybody_of_the_sample_is_paired_and_nothing_goes_wrong() {
    let report = play(&MatchPolicy::default());
    assert_eq!((report.submitted, report.accepted, report.unsettled, report.faults()), (1_000, 1_000, 0, 0));
    assert!(report.matched >= 970, "{} matched", report.matched);
    assert_eq!((report.matched, report.matched + report.expired), (2 * report.pairs, 1_000));
    assert_eq!((report.zero_shared_pairs, report.cross_region_pairs), (0, 0));
    assert_eq!(report.accept_ms.max, Some(0.0));
    assert!(report.similarity_mean.unwrap() > 0.4, "{:?}", report.similarity_mean);
    assert_eq!(report, play(&MatchPolicy::default()), "two runs are alike");
}

#[test]
fn more_patience_finds_people_who_fit_better() {
    let with_fall = |fall: &str| {
        play(&format!("[reservation]\nenabled = false\n[threshold]\nfall = \"{fall}\"").parse().unwrap())
    };
    let (hasty, patient) = (with_fall("100ms"), with_fall("5s"));
    assert!(patient.similarity_sum > hasty.similarity_sum * 1.1);
    assert!(patient.wait_ms.p50 > hasty.wait_ms.p50);
}

#[test]
fn reservation_values_find_people_who_fit_better_in_less_time() {
    let falling = play(&"[reservation]\nenabled = false".parse().unwrap());
    let reserved = play(&MatchPolicy::default());
    assert!(reserved.similarity_sum > falling.similarity_sum * 1.02, "{reserved:?}");
    assert!(reserved.wait_ms.p50.unwrap() < falling.wait_ms.p50.unwrap() * 0.8, "{reserved:?}");
}
