//! Many policies on one trace: which give the most similarity for the shortest wait?

mod frontier;
mod plot;
mod settings;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, ensure};
use service::policy::MatchPolicy;

pub use frontier::{Point, on_frontier};
pub use settings::{Choice, Combination, MAX_COMBINATIONS, combinations};

use crate::cli::SweepArgs;
use crate::columns::{LEGEND, heading, titles, values};
use crate::output::Output;
use crate::report::Report;
use crate::run::Verdict;
use crate::scene::{Scene, play_all};
use plot::{COLOURS, Cloud};

/// `replay sweep`
///
/// # Errors
/// When the trace or a policy cannot be used, or a file cannot be written.
pub(crate) fn sweep(args: &SweepArgs) -> anyhow::Result<Verdict> {
    ensure!(args.speed.len() <= COLOURS.len(), "at most {} speeds: a colour each in the plot", COLOURS.len());
    let open = |path: &Option<_>| path.as_deref().map(Output::open).transpose();
    let (csv, svg) = (open(&args.csv)?, open(&args.svg)?);
    let combinations = combinations(args.policy.as_deref(), &args.set)?;
    let policies: Vec<MatchPolicy> = combinations.iter().map(|one| one.policy.clone()).collect();
    let scenes = Scene::load(std::slice::from_ref(&args.trace), &args.speed)?;
    let reports = play_all(&scenes, &policies)?;
    let swept = Swept::new(&args.set, &combinations, &scenes, &reports);

    std::io::stdout().write_all(swept.render().as_bytes()).context("cannot print the frontier")?;
    if let Some(csv) = csv {
        csv.finish(|to| swept.write_csv(to))?;
    }
    if let Some(svg) = svg {
        let plot = swept.plot(&args.trace)?;
        svg.finish(|to| to.write_all(plot.as_bytes()))?;
    }
    let is_clean = reports.iter().flatten().all(|report| report.faults() == 0);
    Ok(if is_clean { Verdict::Clean } else { Verdict::Faulty })
}

/// What was played. `reports[s][c]` is of scene `s` with combination `c`.
struct Swept<'a> {
    choices: &'a [Choice],
    combinations: &'a [Combination],
    scenes: &'a [Scene],
    reports: &'a [Vec<Report>],
    /// Like `reports`: whether it is on its scene's frontier.
    on_frontier: Vec<Vec<bool>>,
}

/// Where a policy stands; `None` when nobody was matched, or could have been.
fn point(report: &Report) -> Option<Point> {
    Some(Point { wait_seconds: report.wait_ms.mean? / 1_000.0, ratio: report.similarity_ratio? })
}

impl<'a> Swept<'a> {
    fn new(
        choices: &'a [Choice],
        combinations: &'a [Combination],
        scenes: &'a [Scene],
        reports: &'a [Vec<Report>],
    ) -> Self {
        let of_scene = |reports: &Vec<Report>| on_frontier(&reports.iter().map(point).collect::<Vec<_>>());
        let on_frontier = reports.iter().map(of_scene).collect();
        Self { choices, combinations, scenes, reports, on_frontier }
    }

    /// The frontier of each speed, the shortest wait first.
    fn render(&self) -> String {
        let mut page = String::new();
        for ((scene, reports), on_frontier) in self.scenes.iter().zip(self.reports).zip(&self.on_frontier) {
            let mut best: Vec<usize> = (0..reports.len()).filter(|n| on_frontier[*n]).collect();
            best.sort_by(|a, b| {
                let wait = |n: usize| reports[n].wait_ms.mean.unwrap_or_default();
                wait(*a).total_cmp(&wait(*b))
            });
            // Writing to a string cannot fail.
            let _ = writeln!(page, "{}", heading(scene));
            let _ = writeln!(page, "on the frontier: {} of {} combinations", best.len(), reports.len());
            let _ = writeln!(page, "{}", titles());
            for n in best {
                let settings = settings::describe(self.choices, &self.combinations[n].values);
                let _ = writeln!(page, "{}  {settings}", values(&reports[n]));
            }
            page.push('\n');
        }
        page + LEGEND
    }

    /// One row a combination and speed. An empty cell is a mean or percentile of nothing.
    fn write_csv(&self, to: &mut dyn std::io::Write) -> std::io::Result<()> {
        let mut csv = csv::Writer::from_writer(to);
        let settings = self.choices.iter().map(|choice| choice.key.as_str());
        csv.write_record(settings.chain(HEADER))?;
        for (c, combination) in self.combinations.iter().enumerate() {
            for (s, scene) in self.scenes.iter().enumerate() {
                let report = &self.reports[s][c];
                let rarest = report.by_rarity.first().map(|tenth| &tenth.fared);
                let measured = [
                    report.similarity_ratio,
                    report.wait_ms.mean,
                    report.wait_ms.p50,
                    report.wait_ms.p95,
                    report.wait_ms.p99,
                    report.matched_share(),
                    report.rarest_tenth_wait_p95_factor,
                    rarest.and_then(|rarest| rarest.matched_share),
                ];
                let cell = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
                let row = combination.values.iter().cloned().chain([scene.speed.to_string()]);
                let row = row.chain(measured.map(cell)).chain([self.on_frontier[s][c].to_string()]);
                csv.write_record(row)?;
            }
        }
        csv.flush()
    }

    fn plot(&self, trace: &Path) -> anyhow::Result<String> {
        let cloud = |((scene, reports), is_on): ((&Scene, &Vec<Report>), &Vec<bool>)| Cloud {
            speed: scene.speed,
            points: reports
                .iter()
                .zip(is_on)
                .filter_map(|(report, is_on)| Some((point(report)?, *is_on)))
                .collect(),
        };
        let clouds: Vec<Cloud> =
            self.scenes.iter().zip(self.reports).zip(&self.on_frontier).map(cloud).collect();
        let name = trace.file_name().unwrap_or_default().to_string_lossy();
        plot::draw(&format!("{name}: what waiting buys, and the frontier of each speed"), &clouds)
    }
}

/// The columns after those of the settings.
const HEADER: [&str; 10] = [
    "speed",
    "similarity_ratio",
    "wait_mean_ms",
    "wait_p50_ms",
    "wait_p95_ms",
    "wait_p99_ms",
    "matched_share",
    "rarest_tenth_wait_p95_factor",
    "rarest_tenth_matched_share",
    "on_frontier",
];
