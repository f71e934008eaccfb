//! People for the dashboards to show: a short trace, played with `replay http`.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, ensure};

use crate::cargo::{Programs, workspace};
use crate::stack::Running;

/// The program that plays, and what.
#[derive(Debug)]
pub(super) struct Player {
    program: PathBuf,
    trace: PathBuf,
}

impl Player {
    /// Builds it.
    pub(super) fn build() -> anyhow::Result<Self> {
        Self::with(Programs::build()?.path("replay")?)
    }

    /// Plays with this program.
    pub(super) fn with(program: PathBuf) -> anyhow::Result<Self> {
        let trace = workspace()?.workspace_root.join("replay/traces/sample-1k.ndjson");
        Ok(Self { program, trace: trace.into() })
    }

    /// Plays until the last ticket has settled, a minute after the trace's end.
    ///
    /// # Errors
    /// When it could not play, or found what never may happen. It has said what.
    pub(super) async fn play(&self, stack: &Running) -> anyhow::Result<()> {
        let mut command = tokio::process::Command::new(&self.program);
        command.args(["http", "--url", &stack.main_urls.join(",")]).arg("--trace").arg(&self.trace);
        if let Some(secret) = &stack.jwt_secret_file {
            command.arg("--jwt-secret-file").arg(secret);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        let status =
            command.status().await.with_context(|| format!("cannot start {}", self.program.display()))?;
        ensure!(status.success(), "replay http ended with {status}");
        Ok(())
    }
}
