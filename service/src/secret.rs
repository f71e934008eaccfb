//! Settings that hold a password: given as a flag, an environment variable, or a file; never shown.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::Context as _;

/// A text that is not shown.
#[derive(Clone)]
pub struct Text(String);

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(not shown)")
    }
}

impl FromStr for Text {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

/// The value of a setting that may be in a file; `None` when it was not given.
///
/// # Errors
/// When the file cannot be read.
pub fn optional(flag: &str, given: Option<&Text>, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    match (given, file) {
        (Some(Text(value)), _) => Ok(Some(value.clone())),
        (None, Some(path)) => {
            let value = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {flag}-file {}", path.display()))?;
            Ok(Some(value.trim().to_owned()))
        }
        (None, None) => Ok(None),
    }
}

/// The value of a setting that may be in a file and must be given.
///
/// # Errors
/// When it is not given, or the file cannot be read.
pub fn required(flag: &str, given: Option<&Text>, file: Option<&Path>) -> anyhow::Result<String> {
    optional(flag, given, file)?.with_context(|| {
        let variable = format!("DOVETAIL_{}", flag.trim_start_matches('-').replace('-', "_").to_uppercase());
        format!("{flag} is not set; give the flag, {variable}, {flag}-file or {variable}_FILE")
    })
}
