//! How far a run has come, for the person who waits for it.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over so many requests. Shown on a terminal only, on stderr.
pub(crate) fn bar(requests: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {pos}/{len} done {msg}");
    let bar = ProgressBar::new(requests as u64);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}
