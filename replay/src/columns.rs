//! What policies are compared by: the columns of a table with a policy a line.

use std::fmt::Write as _;

use crate::report::Report;
use crate::scene::Scene;
use crate::table::{show_ms, show_part};

/// How the values of a column are shown.
#[derive(Debug, Clone, Copy)]
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

/// What the columns mean.
pub(crate) const LEGEND: &str = "\
    ratio: similarity reached, of the best possible; mean, p50, p95, p99: waits of the matched; matched: of the accepted;\n\
    rare: the tenth of the users with the rarest interests\n";

/// What was played, as the line above a table.
pub(crate) fn heading(scene: &Scene) -> String {
    let (requests, bound) = (scene.trace.requests().len(), scene.bound.similarity);
    let loose = if scene.bound.loose_requests > 0 { " (2 to 3 % wider for large regions)" } else { "" };
    let (name, speed) = (&scene.name, scene.speed);
    format!("{name} at speed {speed}: {requests} requests, at most {bound:.2} similarity{loose}")
}

/// The titles.
pub(crate) fn titles() -> String {
    line(|column| column.0.to_owned())
}

/// The values of a report.
pub(crate) fn values(report: &Report) -> String {
    line(|Column(_, unit, value)| show(*unit, value(report)))
}

/// How a report differs from the first.
pub(crate) fn changes(first: &Report, report: &Report) -> String {
    line(|Column(_, unit, value)| show_change(*unit, value(first), value(report)))
}

fn line(cell: impl Fn(&Column) -> String) -> String {
    COLUMNS.iter().fold(String::new(), |mut line, column| {
        let wide = column.0.len().max(8) + 2;
        // Writing to a string cannot fail.
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
