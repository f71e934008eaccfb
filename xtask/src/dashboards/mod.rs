//! `cargo xtask check-dashboards`: asks a real Prometheus what every panel, variable and rule asks, while people are served.
//!
//! Owns: the order of a check. It must never change the stack, and knows nothing of Grafana but how it fills in variables:
//! docs/grafana.md says what that leaves unseen.

mod answer;
mod choice;
mod play;
mod question;
mod selectors;
mod types;
mod variables;

use std::collections::BTreeSet;
use std::time::Duration;

use testkit::{promql, until};
use tokio::time::MissedTickBehavior;

use self::answer::Answer;
use self::choice::Choice;
use self::play::Player;
use self::question::Question;
use crate::Verdict;
use crate::cargo::workspace;
use crate::load::block_on;
use crate::stack::Running;

/// From one point of a panel to the next, as Grafana has it for the last five minutes: the scrape interval.
const STEP: Duration = Duration::from_secs(1);
/// What the dashboards show when they open, in seconds: asked for when no trace is played.
const SHOWN_SECONDS: f64 = 300.0;
/// How often everything is asked while the trace is played: all of it takes Prometheus less than a second of work.
const ASK_EVERY: Duration = Duration::from_secs(10);
/// How long Prometheus may take to read everything once more: it does so every second, and its rules every two.
const SCRAPE_DEADLINE: Duration = Duration::from_secs(30);
/// Rules are worked out every two seconds: what was scraped is in them when it is older.
const RULES_LAG_SECONDS: f64 = 4.0;

/// `cargo xtask check-dashboards`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Play no trace: something else loads the stack, or did in the last five minutes
    #[arg(long)]
    no_trace: bool,
    /// Ask nobody and compare the files with Grafana's own types: needs npm, and no stack
    #[arg(long, conflicts_with = "no_trace")]
    types: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Verdict> {
    if args.types {
        return types::check();
    }
    let (questions, choices) = (questions()?, choices()?);
    let stack = Running::find()?;
    let player = if args.no_trace { None } else { Some(Player::build()?) };
    block_on(check(&questions, &choices, &stack, player.as_ref()))
}

/// All that dashboards and rules ask.
fn questions() -> anyhow::Result<Vec<Question>> {
    let root = workspace()?.workspace_root;
    let mut questions = question::of_dashboards(root.join("grafana/dashboards").as_std_path())?;
    questions.extend(question::of_rules(root.join("prometheus/rules").as_std_path())?);
    Ok(questions)
}

/// All that dashboards ask once somebody chooses.
fn choices() -> anyhow::Result<Vec<Choice>> {
    choice::of_dashboards(workspace()?.workspace_root.join("grafana/dashboards").as_std_path())
}

async fn check(
    questions: &[Question],
    choices: &[Choice],
    stack: &Running,
    player: Option<&Player>,
) -> anyhow::Result<Verdict> {
    let port = stack.prometheus_port;
    let start = promql::now(port).await?;
    let mut answers: Vec<Answer> = questions.iter().map(|_| Answer::default()).collect();
    let from = if let Some(player) = player {
        println!(
            "plays a trace for a bit more than a minute, and asks {} expressions meanwhile",
            questions.len()
        );
        ask_while_playing(questions, &mut answers, (stack, player), start).await?;
        start
    } else {
        start - SHOWN_SECONDS
    };
    let now = until_scraped(port).await?;
    ask_all(questions, &mut answers, port, (from, now)).await;
    let known: BTreeSet<String> = promql::metric_names(port).await?.into_iter().collect();
    let chosen = choice::faults(port, choices, (from, now)).await?;
    Ok(tell(questions, &answers, &known, &chosen))
}

/// Asks everything again and again until the trace has been played.
async fn ask_while_playing(
    questions: &[Question],
    answers: &mut [Answer],
    (stack, player): (&Running, &Player),
    start: f64,
) -> anyhow::Result<()> {
    let mut playing = std::pin::pin!(player.play(stack));
    let mut tick = tokio::time::interval(ASK_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            played = &mut playing => return played,
            _ = tick.tick() => {
                let now = promql::now(stack.prometheus_port).await?;
                ask_all(questions, answers, stack.prometheus_port, (start, now)).await;
            }
        }
    }
}

async fn ask_all(questions: &[Question], answers: &mut [Answer], port: u16, between: (f64, f64)) {
    for (question, answer) in questions.iter().zip(answers) {
        answer.ask(port, question, between).await;
    }
}

/// Waits until every target was scraped once more and the rules have seen it, and answers when that is.
async fn until_scraped(port: u16) -> anyhow::Result<f64> {
    let start = promql::now(port).await?;
    let is_so = async || {
        let oldest = promql::query(port, "min(timestamp(up))").await?;
        let oldest = oldest.first().and_then(|series| Some(series.values.first()?.1));
        Ok(oldest.is_some_and(|oldest| oldest > start + RULES_LAG_SECONDS))
    };
    until("Prometheus has read everything once more", SCRAPE_DEADLINE, is_so).await?;
    promql::now(port).await
}

/// `chosen` holds the faults of each choice.
fn tell(
    questions: &[Question],
    answers: &[Answer],
    known: &BTreeSet<String>,
    chosen: &[Vec<String>],
) -> Verdict {
    let faults: Vec<String> = questions
        .iter()
        .zip(answers)
        .flat_map(|(question, answer)| answer.faults(question, known))
        .chain(chosen.concat())
        .collect();
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    let places: BTreeSet<&str> = questions.iter().map(|question| question.place.as_str()).collect();
    println!(
        "{} expressions of {} panels, variables and rules asked, {} times with one value chosen; {} faults",
        questions.len(),
        places.len(),
        chosen.len(),
        faults.len()
    );
    if faults.is_empty() { Verdict::Good } else { Verdict::Bad }
}

#[cfg(test)]
mod tests;
