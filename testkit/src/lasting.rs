//! Programs that go on when this process ends, and are found again by the next one.
//!
//! Each has a file beside its log that names its process for good: pid, start time and boot of the machine. So a process
//! that was given the pid of an old one is never taken for it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

use crate::process::Process;

/// How the file ends that names a program's process.
const ENDING: &str = "process";
/// What a shell adds to a signal's number to make an exit code of it.
const BY_SIGNAL: i32 = 128;

/// One program that may outlive us.
#[derive(Debug)]
pub(crate) struct Lasting {
    command: Command,
    log: PathBuf,
    pid_file: PathBuf,
    /// What we started ourselves, until it is reaped.
    child: Option<Child>,
}

impl Lasting {
    pub(crate) fn new(name: &str, command: &Command, folder: &Path, log: &Path) -> Self {
        let pid_file = folder.join(name).with_extension(ENDING);
        Self { command: in_a_session(command), log: log.to_owned(), pid_file, child: None }
    }

    /// The process that was started before, if it still runs.
    pub(crate) fn find(&self) -> Option<Process> {
        find(&self.pid_file)
    }

    pub(crate) fn start(&mut self) -> anyhow::Result<Process> {
        let log = File::options().append(true).create(true).open(&self.log)?;
        self.command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = self.child.insert(self.command.spawn()?);
        let process = Process::open(child.id())?;
        let line = format!("{} {} {}\n", process.pid(), process.started(), boot()?);
        fs::write(&self.pid_file, line)
            .with_context(|| format!("cannot write {}", self.pid_file.display()))?;
        Ok(process)
    }

    /// The exit code, if it was us who started it.
    pub(crate) fn reap(&mut self) -> anyhow::Result<Option<i32>> {
        let Some(mut child) = self.child.take() else { return Ok(None) };
        let status = child.wait()?;
        Ok(status.code().or_else(|| status.signal().map(|signal| BY_SIGNAL + signal)))
    }
}

/// The programs that run whose folders are this one or lie in it, by name.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn find_programs(folder: &Path) -> anyhow::Result<BTreeMap<String, Process>> {
    let mut found = BTreeMap::new();
    for path in entries(folder)? {
        let files = if path.is_dir() { entries(&path)? } else { vec![path] };
        for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == ENDING)) {
            if let (Some(name), Some(process)) = (file.file_stem(), find(file)) {
                found.insert(name.to_string_lossy().into_owned(), process);
            }
        }
    }
    Ok(found)
}

/// What is in a folder; nothing when it is not there.
fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    entries.with_context(|| format!("cannot read {}", folder.display()))
}

fn find(pid_file: &Path) -> Option<Process> {
    let text = fs::read_to_string(pid_file).ok()?;
    let mut words = text.split_whitespace();
    let (pid, started) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    if words.next()? != boot().ok()? {
        return None;
    }
    Process::find(pid, started)
}

/// Which start of the machine this is.
fn boot() -> anyhow::Result<String> {
    let id =
        fs::read_to_string("/proc/sys/kernel/random/boot_id").context("cannot tell which boot this is")?;
    Ok(id.trim().to_owned())
}

/// The same in a session of its own, so that no terminal takes it along.
fn in_a_session(command: &Command) -> Command {
    let mut own = Command::new("setsid");
    own.arg(command.get_program()).args(command.get_args()).env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            own.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        own.current_dir(folder);
    }
    own
}
