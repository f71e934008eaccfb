//! The scripts that fire load, played by the real k6 against the real program: what they count is what happened, and what
//! should fail a run does.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::app::App;

/// What k6 exits with when a threshold does not hold.
const THRESHOLDS_FAILED: i32 = 99;

/// The program's path: the one in PATH, else the one that is installed when it is missing, once for all tests.
fn k6() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let output = Command::new(env!("CARGO")).args(["xtask", "k6"]).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().last().unwrap().trim().to_owned()
    })
}

/// Plays a script against the app. Answers what k6 said, and its summary.
async fn play(app: &App, script: &str, settings: &[&str]) -> (Output, Value) {
    let summary = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new(tokio::task::spawn_blocking(k6).await.unwrap());
    command.args(["run", "--quiet", "--no-color", "--no-usage-report", "--address", ""]);
    command.env("K6_AUTO_EXTENSION_RESOLUTION", "false").env("SUMMARY", summary.path());
    command.env("BASE_URLS", format!("http://{}", app.place().api));
    command.args(settings.iter().flat_map(|setting| ["-e", setting]));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../k6").join(script)).stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = std::fs::read_to_string(summary.path()).unwrap();
    let summary = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output, summary)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_counts_what_happened() {
    let app = App::start().await;
    let settings = ["RATE=40", "SECONDS=3", "VUS=150", "ACCEPT_P95_MS=5000", "SOON_SHARE=0", "REREAD=1"];
    let (output, summary) = play(&app, "burst.js", &settings).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(summary["failed_thresholds"], serde_json::json!([]));
    assert_eq!((&summary["requests"], &summary["accepted"]), (&120.into(), &120.into()), "{summary}");
    let count = |name: &str| summary[name].as_f64().unwrap();
    for none in
        ["dropped_iterations", "rejected", "unsettled", "unexpected_answers", "users_with_two_matches"]
    {
        assert!(count(none) < 0.5, "{none}: {summary}");
    }
    assert!(
        count("matched") > 0.5 && (count("matches_read_again") - count("matched")).abs() < 0.5,
        "{summary}"
    );
    for (told, name, label) in [
        ("accepted", "dovetail_tickets_submitted_total", "result=\"created\""),
        ("matched", "dovetail_tickets_settled_total", "outcome=\"matched\""),
        ("cancelled", "dovetail_tickets_settled_total", "outcome=\"cancelled\""),
    ] {
        let counted = app.metric(name, label).await;
        assert!(
            (counted - count(told)).abs() < 0.5,
            "{told}: k6 counts {}, the server {counted}",
            count(told)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn churn_ends_well() {
    let app = App::start().await;
    let shares = ["CANCELS=0.2", "DOUBLE_TAPS=0.2", "ABANDONED=0.2", "BAD_REQUESTS=0.2"];
    let settings =
        [&["RATE=20", "DURATION=6s", "VUS=200", "ACCEPT_P95_MS=5000", "SOON_SHARE=0"][..], &shares].concat();
    let (output, summary) = play(&app, "soak.js", &settings).await;
    assert!(output.status.success(), "{}{summary}", String::from_utf8_lossy(&output.stderr));
    for some in ["accepted", "existing", "cancelled", "abandoned", "bad_requests_refused"] {
        assert!(summary[some].as_f64().unwrap() > 0.5, "no {some}: {summary}");
    }
    assert_eq!(summary["unexpected_answers"], 0, "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_threshold_that_does_not_hold_fails_the_run() {
    let app = App::start().await;
    let settings = ["RATE=10", "SECONDS=1", "VUS=30", "ACCEPT_P95_MS=0", "SOON_SHARE=0"];
    let (output, summary) = play(&app, "burst.js", &settings).await;
    assert_eq!(output.status.code(), Some(THRESHOLDS_FAILED), "{summary}");
    assert_eq!(summary["failed_thresholds"], serde_json::json!(["accept_ms: p(95)<=0"]));
}
