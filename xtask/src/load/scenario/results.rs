//! `docs/results.md`: the latest report of each scenario, a section each.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::load::ensure_writable;

/// What a page of results begins with.
const TITLE: &str = "# Results\n";
const INTRODUCTION: &str = "# Results

What `cargo xtask load` measured last, a section for each scenario. Rewrite a section with
`cargo xtask load burst --write docs/results.md`; the plots are in `target/load/burst/report.html` then.

The middle column is what Prometheus saw from the servers' own metrics, the right one what k6 saw as the phones. A run fails
when the counts differ by one, or percentiles by more than a histogram bucket. Prometheus reads percentiles linearly within
buckets, so they are as fine as those. CPU is in processors: the mean is over the time in which requests were sent, the peak
is the highest second. k6, Prometheus and its exporters run on the same machine as all servers.
";

/// Fails when a section could not be put into a page: before a run, since after it is too late.
pub(super) fn check(page: &Path, scenario: &str) -> anyhow::Result<()> {
    place_in(&read(page)?, scenario).with_context(|| format!("--write {}", page.display()))?;
    ensure_writable(page)
}

/// Puts a section in the place of the one before, the rest of the page as it is.
pub(super) fn write(page: &Path, scenario: &str, section: &str) -> anyhow::Result<()> {
    let new = replace(&read(page)?, scenario, section)?;
    std::fs::write(page, new).with_context(|| format!("cannot write {}", page.display()))
}

/// The page as it is; a new one when there is none.
fn read(page: &Path) -> anyhow::Result<String> {
    if page.exists() {
        std::fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))
    } else {
        Ok(INTRODUCTION.to_owned())
    }
}

/// Where a section goes: between what is before and after it.
fn place_in<'p>(page: &'p str, scenario: &str) -> anyhow::Result<(&'p str, &'p str)> {
    let (begin, end) = marks(scenario);
    let lines = |mark: &str| page.lines().filter(|line| *line == mark.trim_end()).count();
    match (lines(&begin), lines(&end)) {
        (1, 1) => {
            let place =
                page.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
            place.with_context(|| format!("{} stands before {}", end.trim_end(), begin.trim_end()))
        }
        // A page of results has no section of this scenario yet.
        (0, 0) if page.starts_with(TITLE) => Ok((page, "")),
        _ => bail!(
            "the page must hold the lines {} and {} once each, where the report shall stand",
            begin.trim_end(),
            end.trim_end()
        ),
    }
}

fn marks(scenario: &str) -> (String, String) {
    (format!("<!-- {scenario} -->\n"), format!("<!-- end of {scenario} -->\n"))
}

fn replace(page: &str, scenario: &str, section: &str) -> anyhow::Result<String> {
    let (begin, end) = marks(scenario);
    let section = format!("{begin}{}\n{end}", section.trim_end());
    let (before, after) = place_in(page, scenario)?;
    let gap = if before == page { format!("{}\n\n", page.trim_end()) } else { before.to_owned() };
    Ok(format!("{gap}{section}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_replaces_its_own_kind_alone() {
        let page = replace("# Results\n", "burst", "one\n").unwrap();
        let page = replace(&page, "spike", "two\n").unwrap();
        assert_eq!(
            page,
            "# Results\n\n<!-- burst -->\none\n<!-- end of burst -->\n\n<!-- spike -->\ntwo\n<!-- end of spike -->\n"
        );
        assert_eq!(replace(&page, "burst", "three").unwrap(), page.replace("one", "three"));
        assert_eq!(replace(&page, "spike", "two").unwrap(), page);
        let elsewhere = "# Ours\n\n<!-- burst -->\n<!-- end of burst -->\nthe end\n";
        let filled = replace(elsewhere, "burst", "one").unwrap();
        assert_eq!(filled, "# Ours\n\n<!-- burst -->\none\n<!-- end of burst -->\nthe end\n");
    }

    #[test]
    fn a_page_that_is_none_of_results_is_refused() {
        let said = |page: &str| replace(page, "burst", "one").unwrap_err().to_string();
        assert!(said("# A readme\n").contains("<!-- burst --> and <!-- end of burst -->"));
        assert!(said("# Results\n<!-- burst -->\n").contains("once each"));
        assert!(said("# Results\n<!-- end of burst -->\n<!-- burst -->\n").contains("stands before"));
        assert!(said("<!-- burst -->\n<!-- burst -->\n<!-- end of burst -->\n").contains("once each"));
    }

    #[test]
    fn a_page_is_checked_without_being_written() {
        let folder = std::env::temp_dir().join(format!("xtask-results-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let page = folder.join("page.md");
        check(&page, "burst").unwrap();
        assert!(!page.exists());
        std::fs::write(&page, "# A readme\n").unwrap();
        let refused = format!("{:#}", check(&page, "burst").unwrap_err());
        assert!(refused.contains("page.md") && refused.contains("<!-- burst -->"), "{refused}");
        assert!(check(&folder.join("none/page.md"), "burst").is_err());
        assert_eq!(std::fs::read_to_string(&page).unwrap(), "# A readme\n");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
