//! The programs of this workspace, as the tests under way built them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use cargo_metadata::{Message, TargetKind};
use tokio::sync::OnceCell;

use crate::place::root;

/// The programs that tests start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    /// The API server.
    pub main_server: PathBuf,
    /// The matching server.
    pub matching_server: PathBuf,
    /// Both in one.
    pub standalone: PathBuf,
    /// Phones that play a trace.
    pub replay: PathBuf,
}

/// The programs, built first where they are out of date.
///
/// Asks cargo for the same build as the test run's, so nothing is built twice; without it, a test program that is run alone
/// would use old servers.
///
/// # Errors
/// When they cannot be built.
pub async fn binaries() -> anyhow::Result<&'static Binaries> {
    static BINARIES: OnceCell<Binaries> = OnceCell::const_new();
    let build = || async { tokio::task::spawn_blocking(build).await.context("the build has panicked")? };
    BINARIES.get_or_try_init(build).await
}

fn build() -> anyhow::Result<Binaries> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--workspace", "--tests", "--examples", "--no-run", "--locked"]);
    command.arg("--message-format=json-render-diagnostics");
    if is_release()? {
        command.arg("--release");
    }
    let built = command.current_dir(root()).stdin(Stdio::null()).output().context("cannot start cargo")?;
    if !built.status.success() {
        bail!("cannot build the servers:\n{}", String::from_utf8_lossy(&built.stderr));
    }
    let mut programs = Vec::new();
    for message in Message::parse_stream(built.stdout.as_slice()) {
        if let Message::CompilerArtifact(artifact) = message.context("cannot read what cargo says")?
            && artifact.target.kind.contains(&TargetKind::Bin)
            && !artifact.profile.test
            && let Some(program) = artifact.executable
        {
            programs.push((artifact.target.name, PathBuf::from(program)));
        }
    }
    let find = |name: &str| {
        let found = programs.iter().find(|(built, _)| built == name);
        found.map(|(_, program)| program.clone()).with_context(|| format!("cargo did not build {name}"))
    };
    Ok(Binaries {
        main_server: find("main-server")?,
        matching_server: find("matching-server")?,
        standalone: find("standalone")?,
        replay: find("replay")?,
    })
}

/// Whether this very program lies in `target/release/deps`.
fn is_release() -> anyhow::Result<bool> {
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    Ok(program.parent().and_then(|folder| folder.parent()).is_some_and(|folder| folder.ends_with("release")))
}
