//! Several policies on the same traces at the same speeds, side by side.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Context;
use serde::Serialize;
use service::policy::MatchPolicy;

use crate::cli::CompareArgs;
use crate::output::Output;
use crate::report::Report;
use crate::run::Verdict;
use crate::scene::{Scene, play_all};
use crate::table::{show_ms, show_part};

/// `replay compare`
///
/// # Errors
/// When a trace or a policy cannot be used, or the file cannot be written.
pub(crate) fn compare(args: &CompareArgs) -> anyhow::Result<Verdict> {
    let json = args.json.as_deref().map(Output::open).transpose()?;
    let policies = args.policies.iter().map(|path| Ok(MatchPolicy::load(path)?));
    let policies = policies.collect::<anyhow::Result<Vec<_>>>()?;
    let names: Vec<String> = args.policies.iter().map(|path| path.display().to_string()).collect();
    let scenes = Scene::load(&args.trace, &args.speed)?;
    let reports = play_all(&scenes, &policies)?;
    let page = render(&scenes, &names, &reports);
    std::io::stdout().write_all(page.as_bytes()).context("cannot print the comparison")?;
    if let Some(json) = json {
        let plays = plays(&scenes, &names, &reports);
        json.finish(|to| {
            serde_json::to_writer_pretty(&mut *to, &plays)?;
            to.write_all(b"\n")
        })?;
    }
    let is_clean = reports.iter().flatten().all(|report| report.faults() == 0);
    Ok(if is_clean { Verdict::Clean } else { Verdict::Faulty })
}

/// One entry of the JSON file.
#[derive(Debug, Serialize)]
struct Play<'a> {
    trace: &'a str,
    speed: f64,
    policy: &'a str,
    report: &'a Report,
}

fn plays<'a>(scenes: &'a [Scene], names: &'a [String], reports: &'a [Vec<Report>]) -> Vec<Play<'a>> {
    let of_scene = |(scene, reports): (&'a Scene, &'a Vec<Report>)| {
        let play = |(policy, report): (&'a String, &'a Report)| Play {
            trace: &scene.name,
            speed: scene.speed,
            policy,
            report,
        };
        names.iter().zip(reports).map(play)
    };
    scenes.iter().zip(reports).flat_map(of_scene).collect()
}

/// How a column is shown.
#[derive(Clone, Copy)]
enum Unit {
    Part,
    Milliseconds,
    Share,
}

/// A column: its title, its unit, and where its value stands in a report.
struct Column(&'static str, Unit, fn(&Report) -> Option<f64>);

const COLUMNS: [Column; 8] = [
    Column("ratio", Unit::Part, |report| report.similarity_ratio),
    Column("mean", Unit::Milliseconds, |report| report.wait_ms.mean),
    Column("p50", Unit::Milliseconds, |report| report.wait_ms.p50),
    Column("p95", Unit::Milliseconds, |report| report.wait_ms.p95),
    Column("p99", Unit::Milliseconds, |report| report.wait_ms.p99),
    Column("matched", Unit::Share, Report::matched_share),
    Column("rare p95", Unit::Milliseconds, |report| report.by_rarity.first()?.fared.wait_ms.p95),
    Column("rare matched", Unit::Share, |report| report.by_rarity.first()?.fared.matched_share),
];

/// The table of a comparison. `reports[s][p]` is of scene `s` with the policy of name `p`; below each policy but the
/// first stands how it differs from the first.
fn render(scenes: &[Scene], names: &[String], reports: &[Vec<Report>]) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let mut page = String::new();
    for (scene, reports) in scenes.iter().zip(reports) {
        let requests = scene.trace.requests().len();
        // Writing to a string cannot fail.
        let bound = scene.bound.similarity;
        let _ = writeln!(
            page,
            "{} at speed {}: {requests} requests, at most {bound:.2} similarity",
            scene.name, scene.speed
        );
        let _ = writeln!(page, "  {:width$}{}", "", line(|column| column.0.to_owned()));
        for (n, (name, report)) in names.iter().zip(reports).enumerate() {
            let values = line(|Column(_, unit, value)| show(*unit, value(report)));
            let _ = writeln!(page, "  {name:width$}{values}");
            if n > 0 {
                let changes =
                    line(|Column(_, unit, value)| show_change(*unit, value(&reports[0]), value(report)));
                let _ = writeln!(page, "  {:width$}{changes}", "");
            }
            if report.faults() > 0 {
                let _ = writeln!(page, "  {:width$}  FAULTS: {}", "", report.faults());
            }
        }
        page.push('\n');
    }
    page.push_str(
        "ratio: similarity reached, of the best possible; waits of the matched; matched: of the accepted;\n",
    );
    page.push_str(
        "rare: the tenth of the users with the rarest interests; with a sign: the difference to the first\n",
    );
    page
}

fn line(cell: impl Fn(&Column) -> String) -> String {
    COLUMNS.iter().fold(String::new(), |mut line, column| {
        let wide = column.0.len().max(8) + 2;
        let _ = write!(line, "{:>wide$}", cell(column));
        line
    })
}

fn show(unit: Unit, value: Option<f64>) -> String {
    match unit {
        Unit::Part => show_part(value),
        Unit::Milliseconds => show_ms(value),
        Unit::Share => value.map_or("-".to_owned(), |share| format!("{:.2} %", 100.0 * share)),
    }
}

fn show_change(unit: Unit, from: Option<f64>, to: Option<f64>) -> String {
    let (Some(from), Some(to)) = (from, to) else { return String::new() };
    let sign = if to < from { '-' } else { '+' };
    format!("{sign}{}", show(unit, Some((to - from).abs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_carry_their_sign_and_unit() {
        assert_eq!(show_change(Unit::Part, Some(0.85), Some(0.9)), "+0.050");
        assert_eq!(show_change(Unit::Milliseconds, Some(2_240.0), Some(740.0)), "-1.50 s");
        assert_eq!(show_change(Unit::Milliseconds, Some(50.0), Some(50.0)), "+0.0 ms");
        assert_eq!(show_change(Unit::Share, Some(0.996), Some(0.9914)), "-0.46 %");
        assert_eq!(show_change(Unit::Share, None, Some(1.0)), "");
    }
}
