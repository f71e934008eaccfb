//! Which metrics an expression of PromQL reads, by its text: enough of the language to tell a metric from a function, a label
//! and a keyword. Whether the expression is sound, Prometheus says.

/// Words that lists of labels follow.
const BEFORE_LABELS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];
/// Words that are neither a function nor a metric.
const KEYWORDS: [&str; 8] = ["and", "or", "unless", "atan2", "bool", "offset", "inf", "nan"];

/// A metric in an expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Selector<'e> {
    pub(super) metric: &'e str,
    /// With what its labels must be, without a range.
    pub(super) text: &'e str,
}

/// The metrics of an expression, in its order. Selectors without a name are left out.
pub(super) fn selectors(expression: &str) -> Vec<Selector<'_>> {
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' | '`' => string(rest),
            '[' => enclosed(rest, ']'),
            '{' => enclosed(rest, '}'),
            // Numbers and durations, such as 1e3 and 5m.
            '0'..='9' => word(rest),
            _ if is_of_word(first) => {
                let length = word(rest);
                let name = &rest[..length];
                let after = rest[length..].trim_start();
                let to_after = rest.len() - after.len();
                if is_one_of(name, &BEFORE_LABELS) && after.starts_with('(') {
                    to_after + enclosed(after, ')')
                } else if is_one_of(name, &KEYWORDS) || after.starts_with('(') || aggregates(after) {
                    length
                } else {
                    let end = if after.starts_with('{') { to_after + enclosed(after, '}') } else { length };
                    found.push(Selector { metric: name, text: &rest[..end] });
                    end
                }
            }
            _ => first.len_utf8(),
        };
        rest = &rest[length..];
    }
    found
}

/// Whether what follows a name makes it an aggregation, as in `sum by (shard) (x)`.
fn aggregates(after: &str) -> bool {
    is_one_of(&after[..word(after)], &["by", "without"])
}

fn is_one_of(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(name))
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == ':'
}

/// How long the word is that a text begins with.
fn word(text: &str) -> usize {
    text.find(|letter| !is_of_word(letter)).unwrap_or(text.len())
}

/// How long the string is that a text begins with, its quotes included. One without an end goes to the end.
fn string(text: &str) -> usize {
    let quote = text.chars().next();
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if letter == '\\' && quote != Some('`') {
            is_escaped = true;
        } else if Some(letter) == quote {
            return at + letter.len_utf8();
        }
    }
    text.len()
}

/// How long it is to the bracket that closes, the one that opens included. Brackets in strings do not count.
fn enclosed(text: &str, close: char) -> usize {
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        match letter {
            '"' | '\'' | '`' => at += string(&text[at..]),
            _ if letter == close => return at + letter.len_utf8(),
            _ => at += letter.len_utf8(),
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(expression: &str) -> Vec<&str> {
        selectors(expression).into_iter().map(|selector| selector.metric).collect()
    }

    #[test]
    fn metrics_are_told_from_functions_labels_and_keywords() {
        let quantile = "histogram_quantile(0.95, sum by (le, op) (rate(a_bucket{op=~\"x|y\"}[30s]))) > 0.25";
        assert_eq!(metrics(quantile), ["a_bucket"]);
        assert_eq!(metrics("sum(rate(a_total[5m] offset 1m)) by (op) or vector(0)"), ["a_total"]);
        assert_eq!(
            metrics("a and on (groupname) b > 0 unless ignoring(x) group_left (y) c"),
            ["a", "b", "c"]
        );
        assert_eq!(metrics("level:a:rate10s > 10 * (x == bool 1e3) + Inf"), ["level:a:rate10s", "x"]);
        assert_eq!(metrics("topk(3, max without (instance) (a)) / count(b)"), ["a", "b"]);
        assert_eq!(metrics("{job=\"x\"}"), Vec::<&str>::new());
        assert_eq!(metrics("time() - 5"), Vec::<&str>::new());
    }

    #[test]
    fn a_selector_is_whole_whatever_its_strings_hold() {
        let expression = r#"max(a {x="}", y=~"\"} b"}[1m:5s]) - b"#;
        let texts: Vec<&str> = selectors(expression).into_iter().map(|selector| selector.text).collect();
        assert_eq!(texts, [r#"a {x="}", y=~"\"} b"}"#, "b"]);
    }

    #[test]
    fn what_is_broken_is_left_to_prometheus() {
        for broken in ["a{x=\"", "sum(", "a[5m", "\"", "é", "by ("] {
            selectors(broken);
        }
    }
}
