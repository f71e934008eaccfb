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

/// Each package that is needed, and where its programs are.
const PACKAGES: [(&str, Find); 7] = [
    ("postgresql", find_postgres),
    ("rabbitmq-server", find_rabbitmq),
    ("redis-server", find_redis),
    ("prometheus", find_prometheus),
    ("prometheus-postgres-exporter", || find_program("prometheus-postgres-exporter")),
    ("prometheus-redis-exporter", || find_program("prometheus-redis-exporter")),
    ("prometheus-process-exporter", || find_program("prometheus-process-exporter")),
];

/// Looks for what a package brings; `None` when it is not installed.
type Find = fn() -> Option<PathBuf>;

/// The folder of Postgres's programs, installed first when it is missing.
///
/// # Errors
/// When it is missing and cannot be installed; the error says what to run.
pub fn postgres() -> anyhow::Result<PathBuf> {
    find_or_install(find_postgres)
}

/// `redis-server`, installed first when it is missing.
///
/// # Errors
/// When it is missing and cannot be installed; the error says what to run.
pub fn redis() -> anyhow::Result<PathBuf> {
    find_or_install(find_redis)
}

/// RabbitMQ's own start script, not the one for the whole machine that Debian puts before it; installed first when it is
/// missing, and Erlang with it.
///
/// # Errors
/// When it is missing and cannot be installed; the error says what to run.
pub fn rabbitmq() -> anyhow::Result<PathBuf> {
    find_or_install(find_rabbitmq)
}

/// `prometheus`, installed first when it is missing.
///
/// # Errors
/// When it is missing and cannot be installed; the error says what to run.
pub fn prometheus() -> anyhow::Result<PathBuf> {
    find_or_install(find_prometheus)
}

/// `promtool`, which comes with Prometheus and checks rules; installed first when it is missing.
///
/// # Errors
/// When it is missing and cannot be installed; the error says what to run.
pub fn promtool() -> anyhow::Result<PathBuf> {
    prometheus()?;
    find_program("promtool").context("Prometheus is there without its promtool")
}

/// The exporter for Postgres, installed first when it is missing.
pub(crate) fn postgres_exporter() -> anyhow::Result<PathBuf> {
    find_or_install(|| find_program("prometheus-postgres-exporter"))
}

/// The exporter for Redis, installed first when it is missing.
pub(crate) fn redis_exporter() -> anyhow::Result<PathBuf> {
    find_or_install(|| find_program("prometheus-redis-exporter"))
}

/// The exporter for processes, installed first when it is missing.
pub(crate) fn process_exporter() -> anyhow::Result<PathBuf> {
    find_or_install(|| find_program("prometheus-process-exporter"))
}

/// A program that comes with Erlang. RabbitMQ must have been asked for before.
pub(crate) fn of_erlang(name: &str) -> anyhow::Result<PathBuf> {
    let found = find_program(name).or_else(|| Some(Path::new("/usr/lib/erlang/bin").join(name)));
    found.filter(|program| program.exists()).with_context(|| format!("Erlang is there without its {name}"))
}

fn find_or_install(find: Find) -> anyhow::Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    install_missing()?;
    find().context("the package was installed, but its programs are not where Debian's are")
}

/// Installs all that is missing at once: who needs one of them soon needs the others.
fn install_missing() -> anyhow::Result<()> {
    // Several tests may come here at the same moment: one installs, the others wait.
    let lock = std::env::temp_dir().join("dovetail-packages.lock");
    let lock = File::create(&lock).with_context(|| format!("cannot write {}", lock.display()))?;
    lock.lock()?;
    let missing: Vec<&str> =
        PACKAGES.iter().filter(|(_, find)| find().is_none()).map(|(package, _)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    let by_hand = format!("apt-get update && apt-get install -y --no-install-recommends {names}");
    if !is_root() || !Path::new("/usr/bin/apt-get").exists() {
        bail!("not installed: {names}; as root, run: {by_hand}");
    }
    say(&format!("installs Debian packages, which takes a minute or two: {names}"));
    let mut installing = Command::new("/bin/sh");
    installing.args(["-c", INSTALL, "packages"]).args(&missing).stdin(Stdio::null());
    let installed = installing.output().context("cannot start /bin/sh")?;
    ensure!(
        installed.status.success(),
        "cannot install {names} ({by_hand}):\n{}{}",
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

/// The newest version's folder.
fn find_postgres() -> Option<PathBuf> {
    let below = Path::new("/usr/lib/postgresql");
    let versions =
        fs::read_dir(below).ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let folder = |version: u32| below.join(version.to_string()).join("bin");
    let usable =
        versions.filter(|version| *version >= OLDEST_POSTGRES && folder(*version).join("postgres").exists());
    usable.max().map(folder)
}

fn find_rabbitmq() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/rabbitmq/lib").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    versions.map(|version| version.join("sbin/rabbitmq-server")).find(|script| script.exists())
}

fn find_redis() -> Option<PathBuf> {
    find_program("redis-server")
}

fn find_prometheus() -> Option<PathBuf> {
    find_program("prometheus")
}

fn find_program(name: &str) -> Option<PathBuf> {
    PATH.split(':').map(|folder| Path::new(folder).join(name)).find(|program| program.exists())
}
