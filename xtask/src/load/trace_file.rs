//! Which trace it was: a report outlives the folder that the trace lay in.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// As many digits of a checksum tell any two traces apart.
const CHECKSUM_DIGITS: usize = 12;

/// A file of requests, one JSON object a line.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TraceFile {
    #[serde(skip)]
    pub(super) path: PathBuf,
    /// The file's name, without its folder.
    name: String,
    /// The first digits of its SHA-256, in hexadecimal.
    sha256: String,
}

impl TraceFile {
    /// Reads a trace, and of each line what is wanted. Empty lines are none.
    ///
    /// # Errors
    /// When it cannot be read, holds no request, or a line has not what is wanted.
    pub(super) fn read<R: DeserializeOwned>(path: &Path) -> anyhow::Result<(Self, Vec<R>)> {
        let seen = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the trace {seen}"))?;
        let mut requests = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let request = serde_json::from_str(line);
            requests.push(request.with_context(|| format!("{seen}: line {} is no request", at + 1))?);
        }
        ensure!(!requests.is_empty(), "the trace {seen} is empty");
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok((Self { path: path.to_owned(), name, sha256: checksum(text.as_bytes()) }, requests))
    }
}

fn checksum(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    digits[..CHECKSUM_DIGITS].to_owned()
}

impl fmt::Display for TraceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SHA-256 {}…)", self.name, self.sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Wish {
        region: String,
    }

    fn read(name: &str, text: &str) -> anyhow::Result<(TraceFile, Vec<Wish>)> {
        let folder = std::env::temp_dir().join(format!("xtask-trace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        let read = TraceFile::read(&file);
        std::fs::remove_file(file).unwrap();
        read
    }

    #[test]
    fn a_trace_is_known_by_its_name_and_checksum() {
        // The example of one block in FIPS 180-2.
        assert_eq!(checksum(b"abc"), "ba7816bf8f01");
        let (file, wishes) = read("a.ndjson", "{\"region\":\"kr\"}\n\n{\"region\":\"jp\"}\n").unwrap();
        assert_eq!(wishes.iter().map(|wish| wish.region.as_str()).collect::<Vec<_>>(), ["kr", "jp"]);
        let shown = file.to_string();
        assert!(shown.starts_with("a.ndjson (SHA-256 ") && !shown.contains('/'), "{shown}");
        assert!(
            !serde_json::to_string(&file).unwrap().contains("xtask-trace"),
            "its folder is nobody's business"
        );
    }

    #[test]
    fn what_is_no_trace_is_refused_by_name_and_line() {
        let said = |name: &str, text: &str| format!("{:#}", read(name, text).unwrap_err());
        assert!(said("line.ndjson", "{\"region\":\"kr\"}\n\n{}\n").contains("line.ndjson: line 3"));
        assert!(said("empty.ndjson", "\n").contains("is empty"));
        let missing = TraceFile::read::<Wish>(Path::new("/none/x.ndjson")).unwrap_err();
        assert!(format!("{missing:#}").contains("cannot read the trace /none/x.ndjson"));
    }
}
