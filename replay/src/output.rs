//! Files that a run writes: found unwritable before the run, complete or not there after it.

use std::fs::{File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

/// A file to be written at the end of a run. Dropped without [`Self::finish`] it leaves what was there before.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// Beside the target, renamed onto it at the end.
    Beside(NamedTempFile),
    /// The target itself, when it is no ordinary file: a pipe, a terminal, `/dev/null`.
    Itself(File),
}

impl Output {
    /// Makes sure that a file can be written.
    ///
    /// # Errors
    /// When it cannot.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let place = Self::place(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), place })
    }

    fn place(path: &Path) -> std::io::Result<Place> {
        match path.metadata() {
            Ok(there) if there.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => Ok(Place::Itself(File::options().write(true).open(path)?)),
            Ok(_) | Err(_) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                // What the umask leaves, like any new file.
                let beside = tempfile::Builder::new()
                    .prefix(".replay-")
                    .permissions(Permissions::from_mode(0o666))
                    .tempfile_in(folder.unwrap_or(Path::new(".")))?;
                Ok(Place::Beside(beside))
            }
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written; the target is then as it was, if it is an ordinary file.
    pub fn finish(self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> anyhow::Result<()> {
        let Self { path, place } = self;
        let done = match place {
            Place::Beside(mut beside) => {
                fill(beside.as_file_mut(), write).and_then(|()| Ok(beside.persist(&path).map(drop)?))
            }
            Place::Itself(mut file) => fill(&mut file, write),
        };
        done.with_context(|| format!("cannot write {}", path.display()))
    }
}

fn fill(file: &mut File, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_changes_only_when_the_run_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, "old").unwrap();
        drop(Output::open(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        Output::open(&path).unwrap().finish(|to| to.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn an_unwritable_target_is_found_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("missing/report.json")] {
            let error = Output::open(&path).unwrap_err().to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
        }
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        Output::open(Path::new("/dev/null")).unwrap().finish(|to| to.write_all(b"x")).unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }
}
