//! Reads what `cargo test` prints and adds it up.

use std::fmt::Write as _;
use std::time::Duration;

/// A line of `cargo test`, as far as it counts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'t> {
    /// A test program starts.
    Program(&'t str),
    /// The doc tests of a library start.
    DocTests(&'t str),
    /// A program or a library's doc tests are done.
    Result { passed: u64, failed: u64 },
    /// Anything else.
    Other,
}

impl<'t> Line<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let text = text.trim();
        if let Some(library) = text.strip_prefix("Doc-tests ") {
            return Self::DocTests(library);
        }
        if let Some(result) = text.strip_prefix("test result: ") {
            return Self::Result { passed: count(result, " passed"), failed: count(result, " failed") };
        }
        // "Running unittests src/lib.rs (target/debug/deps/proto-9ed8d24695808c21)"
        let program = text.strip_prefix("Running ").and_then(|rest| rest.strip_suffix(')'));
        program.and_then(|rest| rest.rsplit_once('(')).map_or(Self::Other, |(_, path)| Self::Program(path))
    }
}

/// The number before a word: 12 in "ok. 12 passed; 0 failed; …".
fn count(result: &str, word: &str) -> u64 {
    let before = result.split_once(word).map(|(before, _)| before);
    before.and_then(|before| before.rsplit(' ').next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[derive(Debug, Default)]
struct Part {
    name: String,
    passed: u64,
    failed: u64,
    took: Duration,
}

/// What came of each part, in the order they first appeared.
#[derive(Debug, Default)]
pub(super) struct Tally(Vec<Part>);

impl Tally {
    pub(super) fn add(&mut self, name: &str, passed: u64, failed: u64) {
        let part = self.part(name);
        part.passed += passed;
        part.failed += failed;
    }

    pub(super) fn add_time(&mut self, name: &str, took: Duration) {
        self.part(name).took += took;
    }

    /// Counts something that failed without saying how many tests did.
    pub(super) fn fail(&mut self, name: &str) {
        self.part(name).failed += 1;
    }

    pub(super) fn failed(&self) -> u64 {
        self.0.iter().map(|part| part.failed).sum()
    }

    /// The parts, then the total. The last line has the form that CI reads: `N passed, N failed`.
    pub(super) fn render(&self, total: Duration) -> String {
        let mut text = String::new();
        let width = self.0.iter().map(|part| part.name.len()).max().unwrap_or(0);
        for Part { name, passed, failed, took } in &self.0 {
            let seconds = took.as_secs_f64();
            let _ = writeln!(text, "{name:<width$} {seconds:>7.1} s {passed:>5} passed {failed:>3} failed");
        }
        let _ = writeln!(text, "{:<width$} {:>7.1} s", "total", total.as_secs_f64());
        let passed: u64 = self.0.iter().map(|part| part.passed).sum();
        let _ = writeln!(text, "{passed} passed, {} failed", self.failed());
        text
    }

    fn part(&mut self, name: &str) -> &mut Part {
        let at = self.0.iter().position(|part| part.name == name).unwrap_or_else(|| {
            self.0.push(Part { name: name.to_owned(), ..Part::default() });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_test_are_read() {
        let result = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s\n";
        assert_eq!(Line::read(result), Line::Result { passed: 12, failed: 3 });
        assert_eq!(
            Line::read("     Running unittests src/lib.rs (target/debug/deps/proto-9e)\n"),
            Line::Program("target/debug/deps/proto-9e")
        );
        assert_eq!(Line::read("   Doc-tests matching_engine\n"), Line::DocTests("matching_engine"));
        assert_eq!(Line::read("running 3 tests"), Line::Other);
        assert_eq!(Line::read("Running late"), Line::Other);
    }

    #[test]
    fn the_last_line_sums_all_parts() {
        let mut tally = Tally::default();
        tally.add("proto", 2, 0);
        tally.add("store", 3, 1);
        tally.add("proto", 4, 0);
        tally.fail("service");
        let text = tally.render(Duration::from_secs(9));
        assert_eq!(text.lines().last(), Some("9 passed, 2 failed"));
        assert_eq!(text.lines().filter(|line| line.starts_with("proto")).count(), 1);
    }
}
