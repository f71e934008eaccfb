//! The report of a run as one page: figures and plots, nothing from elsewhere, so that it can be kept and sent.

use super::chart::{COLOURS, bars, lines, short};
use super::observed::{Observed, Window};
use super::series::peak;
use super::text::Line;
use crate::load::histogram::Histogram;

const STYLE: &str = "
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff; max-width: 1340px; margin: 24px auto; padding: 0 20px }
h1 { font-size: 24px; margin: 0 0 4px }
h2 { font-size: 16px; margin: 0 0 4px }
p, ul { margin: 4px 0; color: #444 }
.verdict { display: inline-block; padding: 2px 10px; border-radius: 4px; color: #fff; background: #2b7a3d }
.bad { background: #b3261e }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(600px, 100%), 1fr)); gap: 22px; margin: 22px 0 }
.plots svg { width: 100%; height: auto; display: block }
.key { display: inline-block; margin-right: 16px; font-size: 13px; white-space: nowrap }
.key i { display: inline-block; width: 14px; height: 4px; margin-right: 6px; vertical-align: middle }
p, li { overflow-wrap: anywhere }
.figures { overflow-x: auto }
table { border-collapse: collapse; font-size: 14px }
td, th { padding: 3px 18px 3px 0; border-bottom: 1px solid #e2e2e2; text-align: right }
td:first-child, th:first-child { text-align: left }
@media (max-width: 600px) {
  body { padding: 0 12px }
  table { font-size: 12px }
  td, th { padding-right: 10px }
}
";

/// What a page tells.
pub(super) struct Page<'p> {
    pub(super) title: &'p str,
    /// The command, machine, date and versions, a line each.
    pub(super) about: &'p [String],
    /// Why the run failed; empty when it did not.
    pub(super) faults: &'p [String],
    pub(super) lines: &'p [Line],
    pub(super) observed: &'p Observed,
    pub(super) window: &'p Window,
}

impl Page<'_> {
    /// The page in HTML.
    pub(super) fn render(&self) -> anyhow::Result<String> {
        let title = escape(self.title);
        let about: String = self.about.iter().map(|line| format!("<p>{}</p>\n", escape(line))).collect();
        let verdict = if self.faults.is_empty() {
            "<p class=\"verdict\">everything held</p>".to_owned()
        } else {
            let each: String =
                self.faults.iter().map(|fault| format!("<li>{}</li>\n", escape(fault))).collect();
            format!("<p class=\"verdict bad\">failed</p><ul>{each}</ul>")
        };
        let (plots, table) = (self.plots()?, self.table());
        Ok(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{verdict}\n{about}\
             <div class=\"plots\">\n{plots}</div>\n<h2>All figures</h2>\n{table}</body>\n</html>\n"
        ))
    }

    fn plots(&self) -> anyhow::Result<String> {
        let Self { observed, window, .. } = self;
        let seconds = window.ended - window.started;
        let cores: Vec<(&str, &[(f64, f64)])> =
            observed.cpu.iter().map(|cpu| (cpu.part, &cpu.cores[..])).collect();
        let mut plots = String::new();
        for (heading, unit, named) in [
            ("CPU of each part", "processors", cores),
            (
                "Tickets in, matches out",
                "a second",
                vec![
                    ("tickets accepted", &observed.accepted_per_second[..]),
                    ("matches made", &observed.matches_per_second[..]),
                ],
            ),
            (
                "Messages in the shard queues",
                "messages",
                vec![("ready", &observed.ready[..]), ("unacknowledged", &observed.unacknowledged[..])],
            ),
            ("Tickets waiting in the store", "tickets", vec![("waiting", &observed.waiting[..])]),
        ] {
            let only: Vec<&[(f64, f64)]> = named.iter().map(|(_, line)| *line).collect();
            plots += &figure(heading, &keys(&named), &lines(unit, seconds, &only)?);
        }
        for (heading, what, histogram, scale) in [
            ("How long people waited for their match", "seconds, at most", &observed.wait_seconds, 1.0),
            (
                "How long accepting took in the server",
                "milliseconds, at most",
                &observed.accept_seconds,
                1_000.0,
            ),
        ] {
            plots += &figure(heading, "", &bars("people", what, &named_buckets(histogram, scale))?);
        }
        Ok(plots)
    }

    fn table(&self) -> String {
        let row = |line: &Line| {
            let Line { what, prometheus, k6 } = line;
            format!(
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                escape(what),
                escape(prometheus),
                escape(k6)
            )
        };
        let rows: String = self.lines.iter().map(row).collect();
        format!(
            "<div class=\"figures\">\n<table>\n<tr><th></th><th>Prometheus</th><th>k6</th></tr>\n{rows}</table>\n</div>\n"
        )
    }
}

fn figure(heading: &str, keys: &str, svg: &str) -> String {
    format!("<div>\n<h2>{}</h2>\n{keys}{svg}</div>\n", escape(heading))
}

/// What each line is, and how high it went.
fn keys(named: &[(&str, &[(f64, f64)])]) -> String {
    let key = |((name, line), colour): (&(&str, &[(f64, f64)]), _)| {
        let plotters::style::RGBColor(red, green, blue) = colour;
        format!(
            "<span class=\"key\"><i style=\"background:rgb({red},{green},{blue})\"></i>{}, peak {}</span>\n",
            escape(&name.replace('_', "-")),
            short(peak(line))
        )
    };
    named.iter().zip(COLOURS).map(key).collect()
}

/// The buckets from the first to the last that holds anything.
fn named_buckets(histogram: &Histogram, scale: f64) -> Vec<(String, f64)> {
    let buckets = histogram.buckets();
    let holds = |(_, _, count): &(f64, f64, f64)| *count > 0.0;
    let first = buckets.iter().position(holds).unwrap_or_default();
    let last = buckets.iter().rposition(holds).map_or(0, |at| at + 1);
    let name = |(lower, upper, count): &(f64, f64, f64)| {
        let name =
            if upper.is_finite() { short(upper * scale) } else { format!("over {}", short(lower * scale)) };
        (name, *count)
    };
    buckets[first.min(last)..last].iter().map(name).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::report::Report;
    use super::super::tests::{observed, sent, window};
    use super::super::text;
    use super::*;

    fn rendered(faults: &[String]) -> String {
        let (observed, sent, window) = (observed(), sent(), window());
        let lines = text::lines(&Report::new(&observed, &sent), &observed, &sent);
        let about = ["a <command> & more".to_owned()];
        let page = Page {
            title: "burst",
            about: &about,
            faults,
            lines: &lines,
            observed: &observed,
            window: &window,
        };
        page.render().unwrap()
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let page = rendered(&[]);
        for outside in ["<link", "<script", "<img", "<iframe", "src=", "href=", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
        // The name of SVG is an address that nobody visits.
        let addresses: Vec<&str> = page.match_indices("://").map(|(at, _)| &page[at..at + 12]).collect();
        assert!(addresses.iter().all(|address| address.starts_with("://www.w3.or")), "{addresses:?}");
    }

    #[test]
    fn the_page_tells_what_failed_and_lets_nothing_through() {
        assert!(rendered(&[]).contains("everything held"));
        let failed = rendered(&["accept_ms: p(95)<=50".to_owned()]);
        assert!(failed.contains("p(95)&lt;=50") && !failed.contains("everything held"));
        assert!(failed.contains("a &lt;command&gt; &amp; more"));
        assert_eq!(failed.matches("<svg").count(), 6);
    }

    #[test]
    fn empty_buckets_at_the_ends_are_left_out() {
        let mut histogram = Histogram::default();
        for (bound, count) in [("0.1", 0.0), ("0.5", 2.0), ("1", 2.0), ("2.5", 3.0), ("+Inf", 3.0)] {
            histogram.add_written(bound, count).unwrap();
        }
        let names: Vec<String> = named_buckets(&histogram, 1.0).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["0.5", "1", "2.5"]);
        assert!(named_buckets(&Histogram::default(), 1.0).is_empty());
    }
}
