//! Settings of the policy file, each with values to try.
//!
//! Nothing here knows what settings there are: the policy's own parser refuses those that are not.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, ensure};
use service::policy::MatchPolicy;
use toml::{Table, Value};

/// The most combinations of a sweep: a trace of 10,000 requests takes about 0.1 s a combination and speed.
pub const MAX_COMBINATIONS: usize = 1_000;

/// A setting and the values to try.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Its name, dotted as it stands in the file: `widen.after`.
    pub key: String,
    /// What to set it to, one after the other.
    pub values: Vec<Value>,
}

impl FromStr for Choice {
    type Err = String;

    /// Parses `widen.after=1s,2s`: a value that is not TOML is text.
    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text.split_once('=').ok_or("is not KEY=VALUE[,VALUE…]")?;
        if key.split('.').any(|part| part.trim().is_empty()) {
            return Err(format!("{key:?} is not the name of a setting"));
        }
        let value = |text: &str| match text.trim() {
            "" => Err("a value is missing".to_owned()),
            text => Ok(text.parse().unwrap_or_else(|_| Value::String(text.to_owned()))),
        };
        Ok(Self { key: key.to_owned(), values: values.split(',').map(value).collect::<Result<_, _>>()? })
    }
}

/// A policy of a sweep.
#[derive(Debug, Clone)]
pub struct Combination {
    /// The values of the settings, in the order in which they were given, as text.
    pub values: Vec<String>,
    /// The policy with them.
    pub policy: MatchPolicy,
}

/// Every combination of the settings on top of a policy file, or of the defaults. The last setting changes fastest.
///
/// # Errors
/// When there are too many, a setting is named twice, or a policy makes no sense: its settings are then named.
pub fn combinations(base: Option<&Path>, choices: &[Choice]) -> anyhow::Result<Vec<Combination>> {
    let count = choices.iter().fold(1_usize, |count, choice| count.saturating_mul(choice.values.len()));
    ensure!(
        count <= MAX_COMBINATIONS,
        "--set makes {count} combinations, and at most {MAX_COMBINATIONS} are played: give fewer values"
    );
    for (n, choice) in choices.iter().enumerate() {
        let is_twice = choices[..n].iter().any(|before| before.key == choice.key);
        ensure!(!is_twice, "--set {} is given twice: give all its values at once", choice.key);
    }
    // What is wrong with the file itself is told as of the file.
    MatchPolicy::load_or_default(base)?;
    let text = base.map_or(Ok(String::new()), std::fs::read_to_string)?;
    let mut tables: Vec<(Vec<String>, Table)> = vec![(Vec::new(), text.parse()?)];
    for Choice { key, values } in choices {
        let mut next = Vec::with_capacity(tables.len() * values.len());
        for (shown, table) in tables {
            for value in values {
                let mut table = table.clone();
                set(&mut table, key, value).with_context(|| format!("--set {key}"))?;
                next.push(([shown.as_slice(), &[show(value)]].concat(), table));
            }
        }
        tables = next;
    }
    let combination = |(values, table): (Vec<String>, Table)| {
        let policy = table.to_string().parse().with_context(|| describe(choices, &values))?;
        Ok(Combination { values, policy })
    };
    tables.into_iter().map(combination).collect()
}

/// Settings with their values, as people read them.
pub(super) fn describe(choices: &[Choice], values: &[String]) -> String {
    let named = choices.iter().zip(values).map(|(choice, value)| format!("{} = {value}", choice.key));
    named.collect::<Vec<_>>().join(", ")
}

fn set(table: &mut Table, key: &str, value: &Value) -> anyhow::Result<()> {
    let (sections, name) = key.rsplit_once('.').map_or((None, key), |(before, name)| (Some(before), name));
    let mut table = table;
    for section in sections.into_iter().flat_map(|sections| sections.split('.')) {
        let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
        table =
            inner.as_table_mut().with_context(|| format!("{section} is a setting and holds no others"))?;
    }
    table.insert(name.to_owned(), value.clone());
    Ok(())
}

/// Text without its quotes, anything else as in the file.
fn show(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn choices(texts: &[&str]) -> Vec<Choice> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn values_are_toml_or_else_text() {
        let choice: Choice = "widen.after=\"1s\", 500ms".parse().unwrap();
        assert_eq!(choice.key, "widen.after");
        assert_eq!(choice.values, [Value::String("1s".to_owned()), Value::String("500ms".to_owned())]);
        let values = "a=1,0.5,true".parse::<Choice>().unwrap().values;
        assert_eq!(values, [Value::Integer(1), Value::Float(0.5), Value::Boolean(true)]);
        for bad in ["a", "=1", "a.=1", "a=", "a=1,,2"] {
            assert!(bad.parse::<Choice>().is_err(), "{bad}");
        }
    }

    #[test]
    fn every_combination_is_made_once_on_top_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("base.toml");
        std::fs::write(&base, "min_shared = 2\n[widen]\nlabels = 2\nafter = \"9s\"\n").unwrap();
        let choices = choices(&["widen.after=1s,2s", "expire_after=10s,20s,30s"]);
        let made = combinations(Some(&base), &choices).unwrap();
        let values: Vec<_> = made.iter().map(|one| one.values.join(" ")).collect();
        assert_eq!(values, ["1s 10s", "1s 20s", "1s 30s", "2s 10s", "2s 20s", "2s 30s"]);
        let expected = "min_shared = 2\nexpire_after = \"30s\"\n[widen]\nlabels = 2\nafter = \"2s\"";
        assert_eq!(made[5].policy, expected.parse().unwrap());
        assert_eq!(made[0].policy.expire_after, Duration::from_secs(10));
        assert_eq!(combinations(None, &[]).unwrap()[0].policy, MatchPolicy::default());
    }

    #[test]
    fn what_cannot_be_swept_is_named() {
        let many = (0..40).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let (a, b) = (format!("a={many}"), format!("b={many}"));
        for (texts, named) in [
            (vec!["min_shard=1,2"], vec!["min_shard = 1", "unknown field `min_shard`", "`min_shared`"]),
            (
                vec!["min_shared=1", "widen.aftr=1s"],
                vec!["widen.aftr = 1s", "unknown field `aftr`", "`after`"],
            ),
            (vec!["widen.after=soon"], vec!["widen.after = soon", "is not a duration"]),
            (vec!["min_shared=1,0"], vec!["min_shared = 0", "at least 1"]),
            (vec!["min_shared=1", "min_shared=2"], vec!["min_shared is given twice"]),
            (vec!["pool_bound=9", "pool_bound.x=1"], vec!["pool_bound is a setting"]),
            (vec![&a, &b], vec!["1600 combinations", "at most 1000"]),
        ] {
            let error = format!("{:#}", combinations(None, &choices(&texts)).unwrap_err());
            assert!(named.iter().all(|part| error.contains(part)), "{texts:?} gave {error}");
        }
    }
}
