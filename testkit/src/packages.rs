//! The programs of the services: where Debian's packages put them, and how they get there.
//!
//! Nothing is asked of services that run on the machine, and none is started: only programs are looked for.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use crate::account::is_root;

/// The shell's program that installs packages without starting services.
const INSTALL: &str = include_str!("packages.sh");
/// The oldest Postgres that the store is written for.
const OLDEST_POSTGRES: u32 = 15;
/// Where a service's programs find others; they get nothing else of our environment.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The folder of Postgres's programs, installed first when it is missing.
///
/// # Errors
/// When it is missing and cannot be installed; the error says what to run.
pub fn postgres() -> anyhow::Result<PathBuf> {
    find_or_install("postgresql", || find_postgres(Path::new("/usr/lib/postgresql")))
}

/// `redis-server`, installed first when it is missing.
///
/// # Errors
/// When it is missing and cannot be installed; the error says what to run.
pub fn redis() -> anyhow::Result<PathBuf> {
    find_or_install("redis-server", || find_program("redis-server"))
}

/// RabbitMQ's own start script, not the one for the whole machine that Debian puts before it; installed first when it is
/// missing, and Erlang with it.
///
/// # Errors
/// When it is missing and cannot be installed; the error says what to run.
pub fn rabbitmq() -> anyhow::Result<PathBuf> {
    find_or_install("rabbitmq-server", || find_rabbitmq(Path::new("/usr/lib/rabbitmq/lib")))
}

/// A program that comes with Erlang. RabbitMQ must have been asked for before.
pub(crate) fn of_erlang(name: &str) -> anyhow::Result<PathBuf> {
    let found = find_program(name).or_else(|| Some(Path::new("/usr/lib/erlang/bin").join(name)));
    found.filter(|program| program.exists()).with_context(|| format!("Erlang is there without its {name}"))
}

/// Looks for a program, and installs its package when it is not there.
fn find_or_install(package: &str, find: impl Fn() -> Option<PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    install(package, &find)?;
    find().with_context(|| {
        format!("the package {package} was installed, but its programs are not where Debian's are")
    })
}

/// Several tests may find it missing at the same moment: one installs it, the others wait.
fn install(package: &str, find: &impl Fn() -> Option<PathBuf>) -> anyhow::Result<()> {
    let by_hand = format!("apt-get update && apt-get install -y --no-install-recommends {package}");
    if !is_root() || !Path::new("/usr/bin/apt-get").exists() {
        bail!("{package} is not installed; as root, run: {by_hand}");
    }
    let lock = std::env::temp_dir().join("dovetail-packages.lock");
    let lock = File::create(&lock).with_context(|| format!("cannot write {}", lock.display()))?;
    lock.lock()?;
    if find().is_some() {
        return Ok(());
    }
    say(&format!("installs the package {package}, which takes a minute"));
    let installing =
        Command::new("/bin/sh").args(["-c", INSTALL, "packages", package]).stdin(Stdio::null()).output();
    let installed = installing.context("cannot start /bin/sh")?;
    ensure!(
        installed.status.success(),
        "cannot install {package} ({by_hand}):\n{}{}",
        String::from_utf8_lossy(&installed.stdout),
        String::from_utf8_lossy(&installed.stderr)
    );
    Ok(())
}

/// Tells whoever waits, around the capture of a test's output.
fn say(what: &str) {
    // Nobody listens: then nobody needs to know.
    let _ = writeln!(std::io::stderr(), "testkit: {what}");
}

/// The newest Postgres below a folder.
fn find_postgres(below: &Path) -> Option<PathBuf> {
    let versions =
        fs::read_dir(below).ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let has_programs = |version: &u32| below.join(version.to_string()).join("bin/postgres").exists();
    let newest = versions.filter(|version| *version >= OLDEST_POSTGRES).filter(has_programs).max()?;
    Some(below.join(newest.to_string()).join("bin"))
}

fn find_rabbitmq(below: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(below).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    versions.map(|version| version.join("sbin/rabbitmq-server")).find(|script| script.exists())
}

fn find_program(name: &str) -> Option<PathBuf> {
    PATH.split(':').map(|folder| Path::new(folder).join(name)).find(|program| program.exists())
}
