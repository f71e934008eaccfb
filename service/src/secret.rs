//! Settings that hold a password: given as they are, or in a file that only this process may read.

use std::path::Path;

use anyhow::{Context as _, bail};

/// The setting itself, from the flag or from the file; `None` when neither is given.
pub(crate) fn read(flag: &str, value: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    match (value, file) {
        (Some(_), Some(_)) => bail!("give --{flag} or --{flag}-file, not both"),
        (Some(value), None) => Ok(Some(value.to_owned())),
        (None, Some(path)) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {} (--{flag}-file)", path.display()))?;
            // Editors end a file with a newline; no setting ends with one.
            Ok(Some(text.trim().to_owned()))
        }
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_without_its_last_newline() {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.gitignore"));
        let text = read("amqp", None, Some(path)).unwrap().unwrap();
        assert!(text.starts_with("/target") && !text.ends_with('\n'), "{text:?}");
    }

    #[test]
    fn both_is_a_mistake_and_a_missing_file_is_named() {
        let path = Path::new("/nowhere/amqp");
        assert!(read("amqp", Some("x"), Some(path)).is_err());
        let error = read("amqp", None, Some(path)).unwrap_err().to_string();
        assert!(error.contains("/nowhere/amqp") && error.contains("--amqp-file"), "{error}");
        assert_eq!(read("amqp", None, None).unwrap(), None);
    }
}
