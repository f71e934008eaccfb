//! What `--log` may say. A filter that names no level and nothing that exists would silence the log without a word.

use anyhow::{Context as _, bail};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// The crates whose events are logged, as targets name them. A test of the tree holds this against the workspace.
pub const CRATES: &[&str] =
    &["proto", "matching_engine", "store", "service", "main_server", "matching_server", "standalone"];
const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace", "off"];

/// Reads a filter.
///
/// # Errors
/// When it does not parse, names a level or crate that there is not (saying what was probably meant), or says nothing of
/// our own crates.
pub(crate) fn read(text: &str) -> anyhow::Result<EnvFilter> {
    let mut says_something_of_us = text.trim().is_empty();
    // What is about spans is for those who know what they do.
    for directive in directives(text).filter(|directive| !directive.contains('[')) {
        match directive.split_once('=') {
            None if is_level(directive) || is_ours(directive) => says_something_of_us = true,
            None => {
                let known = [LEVELS, CRATES].concat();
                bail!(
                    "--log {text:?}: {directive} is neither a level ({}) nor a crate of Dovetail ({}){}",
                    LEVELS.join(", "),
                    CRATES.join(", "),
                    suggest(directive, &known)
                );
            }
            Some((_, level)) if !is_level(level) => {
                let levels = LEVELS.join(", ");
                bail!("--log {text:?}: {level:?} is no level ({levels}){}", suggest(level, LEVELS));
            }
            Some((target, _)) if is_ours(target) => says_something_of_us = true,
            Some((target, _)) if nearest(target, CRATES).is_some() => {
                bail!("--log {text:?}: there is no crate {target}{}", suggest(target, CRATES));
            }
            // Of another library.
            Some(_) => {}
        }
    }
    if !says_something_of_us {
        bail!("--log {text:?} would log nothing of Dovetail: add a level, as in info,{text}");
    }
    // Joined again without the blanks after commas, which EnvFilter takes for part of a name.
    let joined = directives(text).collect::<Vec<_>>().join(",");
    EnvFilter::try_new(joined).with_context(|| format!("--log {text:?} is not a log filter"))
}

/// The parts between commas, which EnvFilter takes for no part of a directive, even between braces.
fn directives(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

fn is_level(word: &str) -> bool {
    !word.is_empty() && word.parse::<LevelFilter>().is_ok()
}

fn is_ours(target: &str) -> bool {
    CRATES.contains(&target.split("::").next().unwrap_or_default())
}

/// The word that was probably meant: one letter in three may be wrong.
fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let word = word.split("::").next().unwrap_or_default();
    let distance = |known: &str| strsim::damerau_levenshtein(word, known);
    let (nearest, distance) =
        known.iter().map(|known| (*known, distance(known))).min_by_key(|pair| pair.1)?;
    (distance * 3 <= nearest.len()).then_some(nearest)
}

fn suggest(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_that_say_something_are_taken() {
        for text in [
            "",
            "info",
            "WARN",
            "off",
            "info,store=debug",
            "info, lapin=trace",
            "store",
            "matching_server::shard=trace",
            "info,[request{id=1}]=debug",
        ] {
            assert!(read(text).is_ok(), "{text:?}: {:?}", read(text).err());
        }
    }

    #[test]
    fn what_would_silence_the_log_is_refused_and_what_was_meant_is_named() {
        for (text, named) in [
            ("inof", "did you mean info?"),
            ("info,sotre", "did you mean store?"),
            ("nonsense", "neither a level (error, warn, info, debug, trace, off) nor a crate"),
            ("store=debgu", "did you mean debug?"),
            ("store=", "is no level"),
            ("info,main-server=debug", "did you mean main_server?"),
            ("lapin=debug", "add a level, as in info,lapin=debug"),
            ("=x=", "--log"),
        ] {
            let error = format!("{:#}", read(text).expect_err(text));
            assert!(error.contains(named) && error.contains("--log"), "{text:?}: {error}");
        }
    }
}
