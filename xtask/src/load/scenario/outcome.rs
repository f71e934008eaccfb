//! How a run went: printed, stored in its folder, and put into a page.

use std::path::Path;

use anyhow::Context as _;

use super::observed::{Observed, Window};
use super::page::Page;
use super::report::Report;
use super::sent::Sent;
use super::{results, text};
use crate::Verdict;

/// A run that was made.
pub(super) struct Outcome {
    pub(super) name: &'static str,
    pub(super) about: Vec<String>,
    pub(super) faults: Vec<String>,
    pub(super) report: Report,
    pub(super) observed: Observed,
    pub(super) sent: Sent,
}

impl Outcome {
    /// Prints the report and stores it.
    pub(super) fn tell(
        &self,
        folder: &Path,
        window: &Window,
        page: Option<&Path>,
    ) -> anyhow::Result<Verdict> {
        let Self { name, about, faults, report, observed, sent } = self;
        let lines = text::lines(report, observed, sent);
        let mut notes: Vec<String> =
            observed.troubles.iter().map(|(trouble, count)| format!("note: {trouble}: {count}")).collect();
        notes.extend(faults.iter().map(|fault| format!("FAULT: {fault}")));
        if faults.is_empty() {
            notes.push("everything held; Prometheus and k6 agree".to_owned());
        }
        let notes = notes.join("\n");
        let told = format!("{}\n\n{}\n{notes}\n", about.join("\n"), text::columns(&lines));
        let html =
            Page { title: &format!("Dovetail: {name}"), about, faults, lines: &lines, observed, window };
        for (file, content) in [
            ("report.txt", told),
            ("report.json", serde_json::to_string_pretty(report)? + "\n"),
            ("report.html", html.render()?),
        ] {
            let path = folder.join(file);
            std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        }
        println!("{}\n{notes}\n\nreport: {}", text::columns(&lines), folder.join("report.html").display());
        if let Some(page) = page {
            let about: String = about.iter().map(|line| format!("    {line}\n")).collect();
            let notes: String = notes.lines().map(|line| format!("- {line}\n")).collect();
            let section = format!("## {name}\n\n{about}\n{}\n{notes}", text::markdown(&lines));
            results::write(page, name, &section)?;
        }
        Ok(if faults.is_empty() { Verdict::Good } else { Verdict::Bad })
    }
}
