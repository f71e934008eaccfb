//! What k6 logs: its errors, to be said where a run ends.

/// As many are said: what stands before them is in the log.
const MOST_ERRORS: usize = 5;

/// The last errors in what k6 logged, each once and without its stack; the last line when it names none.
pub(super) fn last_errors(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_error = |line: &&str| line.contains(" level=error ") || line.contains(" level=fatal ");
    let mut errors: Vec<String> = Vec::new();
    for line in lines.iter().copied().filter(is_error) {
        let error = message(line);
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    if errors.is_empty() {
        errors.extend(lines.last().map(|line| (*line).to_owned()));
    }
    errors.split_off(errors.len().saturating_sub(MOST_ERRORS))
}

/// The first line of the message in `time="…" level=error msg="…" source=console`.
fn message(line: &str) -> String {
    let Some((_, rest)) = line.split_once(" msg=") else { return line.to_owned() };
    // Quoted as Go does it, which for what k6 says is as JSON does it; one word is not quoted.
    let mut quoted = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let text = match quoted.next() {
        Some(Ok(text)) => text,
        Some(Err(_)) | None => rest.to_owned(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_said_without_their_stack() {
        let log = concat!(
            r#"time="2026-12-03T11:52:03Z" level=warning msg="Request Failed" error="x""#,
            "\n",
            r#"time="2026-12-03T11:52:03Z" level=error msg="Error: RATE must be a \"number\" from 0\n\tat number (file:///x.js:1:2(3))\n" hint="script exception""#,
            "\n\n"
        );
        assert_eq!(last_errors(log), ["Error: RATE must be a \"number\" from 0"]);
    }

    #[test]
    fn the_last_different_ones_are_said() {
        let line = |n: u32| format!("time=\"t\" level=error msg=\"error {}\" source=console\n", n / 2);
        let log: String = (0..20).map(line).collect();
        assert_eq!(last_errors(&log), ["error 5", "error 6", "error 7", "error 8", "error 9"]);
        assert_eq!(last_errors("panic: x\ngoroutine 1\n"), ["goroutine 1"]);
        assert!(last_errors("").is_empty());
        assert_eq!(last_errors("time=t level=fatal msg=died"), ["died"]);
    }
}
