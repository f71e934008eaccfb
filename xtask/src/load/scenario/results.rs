//! `docs/results.md`: the latest report of each scenario, a section each.

use std::path::Path;

use anyhow::Context as _;

const INTRODUCTION: &str = "# Results

What `cargo xtask load` measured last, a section for each scenario. Rewrite a section with
`cargo xtask load burst --write docs/results.md`; the plots are in `target/load/burst/report.html` then.

The middle column is what Prometheus saw from the servers' own metrics, the right one what k6 saw as the phones. A run fails
when the counts differ by one, or percentiles by more than a histogram bucket. Prometheus reads percentiles linearly within
buckets, so they are as fine as those. CPU is in processors: the mean is over the time in which requests were sent, the peak
is the highest second. k6, Prometheus and its exporters run on the same machine as all servers.
";

/// Puts a section in the place of the one before, the rest of the page as it is.
pub(super) fn write(page: &Path, scenario: &str, section: &str) -> anyhow::Result<()> {
    let old = if page.exists() {
        std::fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?
    } else {
        INTRODUCTION.to_owned()
    };
    let new = replace(&old, scenario, section);
    std::fs::write(page, new).with_context(|| format!("cannot write {}", page.display()))
}

fn replace(page: &str, scenario: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- {scenario} -->\n"), format!("<!-- end of {scenario} -->\n"));
    let section = format!("{begin}{}\n{end}", section.trim_end());
    let before = page.split_once(&begin);
    match before.and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1))) {
        Some((before, after)) => format!("{before}{section}{after}"),
        None => format!("{}\n\n{section}", page.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_replaces_its_own_kind_alone() {
        let page = replace(&replace("# Results\n", "burst", "one\n"), "spike", "two\n");
        assert_eq!(
            page,
            "# Results\n\n<!-- burst -->\none\n<!-- end of burst -->\n\n<!-- spike -->\ntwo\n<!-- end of spike -->\n"
        );
        assert_eq!(replace(&page, "burst", "three"), page.replace("one", "three"));
        assert_eq!(replace(&page, "spike", "two"), page);
    }
}
