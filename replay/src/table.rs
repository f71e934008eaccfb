//! The report as people read it.

use std::fmt::Write;

use crate::groups::{Fared, RarityTenth};
use crate::report::{Mode, Report};
use crate::stats::Spread;

/// Writes a report as aligned lines, each with its unit and what it means.
pub fn render(report: &Report) -> String {
    let mut page = Page(String::new());
    let how = match report.mode {
        Mode::Engine => "through the engine, in simulated time",
        Mode::Http => "against running servers",
    };
    page.title(&format!("{} requests {how}, in {:.2} s", report.submitted, report.elapsed_seconds));
    if report.interrupted {
        page.title("ENDED EARLY: what follows is the state at that moment");
    }
    requests(&mut page, report);
    pairs(&mut page, report);
    times(&mut page, report);
    groups(&mut page, report);
    faults(&mut page, report);
    page.0
}

fn requests(page: &mut Page, report: &Report) {
    page.title("\nRequests");
    page.count("submitted", report.submitted, None, "requests sent");
    page.count("accepted", report.accepted, Some(report.submitted), "got a new ticket");
    page.count(
        "already waiting",
        report.already_waiting,
        Some(report.submitted),
        "had a ticket: it counts once",
    );
    page.count("rejected", report.rejected, Some(report.submitted), "honestly refused: 429, 503, pool full");
    page.count("failed", report.failed, Some(report.submitted), "got no usable answer");

    page.title("\nTickets (shares of the accepted)");
    page.count("matched", report.matched, Some(report.accepted), "learnt their partner");
    page.count("expired", report.expired, Some(report.accepted), "reached the deadline alone");
    page.count("cancelled", report.cancelled, Some(report.accepted), "were withdrawn");
    page.count("unsettled", report.unsettled, Some(report.accepted), "had learnt nothing when the run ended");
}

fn pairs(page: &mut Page, report: &Report) {
    page.title("\nPairs");
    page.count("pairs", report.pairs, None, "two people of this trace, one match");
    page.value(
        "similarity sum",
        &format!("{:.2}", report.similarity_sum),
        "how well all pairs fit, added up",
    );
    page.value(
        "similarity mean",
        &show_part(report.similarity_mean),
        "shared interests / all of both: 0 none, 1 equal",
    );
    if let Some(bound) = report.similarity_bound {
        let loose = match report.similarity_bound_loose_requests {
            Some(1..) => ", which is 2 to 3 % wider for regions of more than 5,000",
            Some(0) | None => "",
        };
        let meaning = format!("of {bound:.2}, the most that these requests could add up to{loose}");
        page.value("similarity ratio", &show_part(report.similarity_ratio), &meaning);
    }
    page.value("shared mean", &show_part(report.shared_mean), "interests that a pair has in common");
    page.count(
        "nothing shared",
        report.zero_shared_pairs,
        Some(report.pairs),
        "pairs without a common interest",
    );
    page.count("across regions", report.cross_region_pairs, Some(report.pairs), "pairs whose regions differ");
    if report.matched_with_strangers > 0 {
        page.count(
            "with strangers",
            report.matched_with_strangers,
            None,
            "matches with people of no part in this run",
        );
    }
}

fn times(page: &mut Page, report: &Report) {
    page.title("\nTimes                 mean       p50       p95       p99       max");
    page.spread("accept", report.accept_ms, "scheduled send until the ticket was answered");
    page.spread("wait", report.wait_ms, "scheduled send until the match was known");
    if report.expired > 0 {
        page.spread("expired", report.expired_ms, "scheduled send until the expiry was known");
    }
    if report.mode == Mode::Http {
        page.spread(
            "send lag",
            report.send_lag_ms,
            "scheduled send until really sent: this program's own delay",
        );
        page.title("");
        page.value("retries", &report.retries.to_string(), "sent again: an answer was lost, or Retry-After");
    }
}

fn groups(page: &mut Page, report: &Report) {
    page.title("\nWho                matched      mean       p50       p95  similarity");
    let whole = Fared {
        requests: report.submitted,
        accepted: report.accepted,
        matched: report.matched,
        matched_share: report.matched_share(),
        wait_ms: report.wait_ms,
        similarity_mean: report.similarity_mean,
    };
    page.fared("everybody", &whole, "shares of the accepted, waits of the matched");
    for (name, tenth) in
        [("rarest tenth", report.by_rarity.first()), ("commonest tenth", report.by_rarity.last())]
    {
        let Some(RarityTenth { mean_frequency_min: Some(from), mean_frequency_max: Some(to), fared, .. }) =
            tenth
        else {
            continue;
        };
        page.fared(
            name,
            fared,
            &format!("whose interests are those of {from:.0} to {to:.0} users, on average"),
        );
    }
    for size in report.by_region_size.iter().filter(|size| size.regions > 0) {
        let name = match size.region_requests_max {
            Some(most) => format!("regions <= {most}"),
            None => format!("regions >= {}", size.region_requests_min),
        };
        let meaning = format!("requests of the trace: {}, in regions: {}", size.fared.requests, size.regions);
        page.fared(&name, &size.fared, &meaning);
    }
    if let Some(factor) = report.rarest_tenth_wait_p95_factor {
        let meaning = format!("the rarest tenth's wait p95 is {factor:.2} times the whole's");
        page.value("rarest p95", &format!("{factor:.2} x"), &meaning);
    }
}

fn faults(page: &mut Page, report: &Report) {
    page.title("\nFaults (each must be 0)");
    page.count("double matched", report.double_matched, None, "users in more pairs than they had tickets");
    page.count("self matched", report.self_matched, None, "users paired with themselves");
    page.count("told one side", report.told_one_side, None, "pairs of which only one of the two was told");
    page.count(
        "errors",
        report.errors.values().sum(),
        None,
        "answers that no server should give, or that never came",
    );
    for (kind, times) in &report.errors {
        page.value("", &times.to_string(), kind);
    }
}

/// Lines under one another, in columns.
struct Page(String);

impl Page {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(line);
        self.0.truncate(self.0.trim_end_matches(' ').len());
        self.0.push('\n');
    }

    fn title(&mut self, text: &str) {
        self.line(format_args!("{text}"));
    }

    fn value(&mut self, name: &str, value: &str, meaning: &str) {
        self.line(format_args!("  {name:<16}{value:>9}            {meaning}"));
    }

    fn count(&mut self, name: &str, count: usize, of: Option<usize>, meaning: &str) {
        let share = match of {
            Some(all) if all > 0 => format!("{:.1} %", 100.0 * count as f64 / all as f64),
            Some(_) | None => String::new(),
        };
        self.line(format_args!("  {name:<16}{count:>9}{share:>10}  {meaning}"));
    }

    fn spread(&mut self, name: &str, spread: Spread, meaning: &str) {
        let Spread { mean, p50, p95, p99, max } = spread;
        let [mean, p50, p95, p99, max] = [mean, p50, p95, p99, max].map(show_ms);
        self.line(format_args!("  {name:<14}{mean:>10}{p50:>10}{p95:>10}{p99:>10}{max:>10}  {meaning}"));
    }

    fn fared(&mut self, name: &str, fared: &Fared, meaning: &str) {
        let matched = fared.matched_share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        let Spread { mean, p50, p95, .. } = fared.wait_ms;
        let [mean, p50, p95] = [mean, p50, p95].map(show_ms);
        let fit = show_part(fared.similarity_mean);
        self.line(format_args!("  {name:<15}{matched:>9}{mean:>10}{p50:>10}{p95:>10}{fit:>12}  {meaning}"));
    }
}

/// A similarity, or a share of something.
pub(crate) fn show_part(part: Option<f64>) -> String {
    part.map_or("-".to_owned(), |part| format!("{part:.3}"))
}

/// A time in the unit that reads best.
pub(crate) fn show_ms(ms: Option<f64>) -> String {
    match ms {
        None => "-".to_owned(),
        Some(ms) if ms >= 1_000.0 => format!("{:.2} s", ms / 1_000.0),
        Some(ms) if ms >= 100.0 => format!("{ms:.0} ms"),
        Some(ms) => format!("{ms:.1} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_the_unit_that_reads_best() {
        assert_eq!(show_ms(Some(0.04)), "0.0 ms");
        assert_eq!(show_ms(Some(99.94)), "99.9 ms");
        assert_eq!(show_ms(Some(250.0)), "250 ms");
        assert_eq!(show_ms(Some(2_240.0)), "2.24 s");
        assert_eq!(show_ms(None), "-");
    }
}
