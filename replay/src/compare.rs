//! Several policies on the same traces at the same speeds, side by side.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Context;
use serde::Serialize;
use service::policy::MatchPolicy;

use crate::cli::CompareArgs;
use crate::columns::{LEGEND, changes, heading, titles, values};
use crate::output::Output;
use crate::report::Report;
use crate::run::Verdict;
use crate::scene::{Scene, play_all};

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

/// The table of a comparison. `reports[s][p]` is of scene `s` with the policy of name `p`; below each policy but the
/// first stands how it differs from the first.
fn render(scenes: &[Scene], names: &[String], reports: &[Vec<Report>]) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let mut page = String::new();
    for (scene, reports) in scenes.iter().zip(reports) {
        page += &heading(scene);
        page.push('\n');
        let mut line = |name: &str, cells: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(page, "  {name:width$}{cells}");
        };
        line("", &titles());
        for (n, (name, report)) in names.iter().zip(reports).enumerate() {
            line(name, &values(report));
            if n > 0 {
                line("", &changes(&reports[0], report));
            }
            if report.faults() > 0 {
                line("", &format!("  FAULTS: {}", report.faults()));
            }
        }
        page.push('\n');
    }
    page + LEGEND + "with a sign: the difference to the first policy\n"
}
