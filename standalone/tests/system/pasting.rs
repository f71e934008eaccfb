//! The lines that a newcomer is told to paste.

use std::process::Command;

use crate::app::App;

#[tokio::test]
async fn the_printed_lines_match_two_people() {
    let mut app = App::start().await;
    let lines = app.lines_to_paste().await;
    let pasted =
        Command::new("sh").args(["-ec", &lines.join("\n")]).output().expect("sh and curl are installed");
    let answers = String::from_utf8(pasted.stdout).unwrap();
    let answers: Vec<serde_json::Value> =
        answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let states: Vec<_> = answers.iter().map(|ticket| ticket["state"].as_str().unwrap()).collect();
    assert_eq!(states[2..], ["matched", "matched"], "both read their match: {answers:?}");
    assert_eq!(answers[2]["match"]["id"], answers[3]["match"]["id"]);
}
