//! Talking to cargo: the workspace it sees, and builds whose results it names.

use std::io::BufReader;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use cargo_metadata::{Artifact, Message, Metadata, MetadataCommand};

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    // Cargo names itself to the programs it runs; `cargo` finds the same toolchain through rustup.
    let mut command = Command::new("cargo");
    command.stdin(Stdio::null());
    command
}

/// The workspace: its members and where it lies.
pub(crate) fn workspace() -> anyhow::Result<Metadata> {
    // Not the current folder's workspace but the one that this program was built from.
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().context("cannot read the workspace")
}

/// Builds, showing what cargo says, and returns what was built.
///
/// # Errors
/// When the build fails.
pub(crate) fn build(workspace: &Metadata, arguments: &[&str]) -> anyhow::Result<Vec<Artifact>> {
    let mut building = cargo()
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(&workspace.workspace_root)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let stdout = building.stdout.take().context("cargo has no output")?;
    let mut built = Vec::new();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        if let Message::CompilerArtifact(artifact) = message.context("cannot read what cargo says")? {
            built.push(artifact);
        }
    }
    if !building.wait()?.success() {
        bail!("cargo {} failed", arguments.join(" "));
    }
    Ok(built)
}
