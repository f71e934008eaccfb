//! Talking to cargo: the workspace it sees, and builds whose results it names.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use cargo_metadata::{Artifact, Message, Metadata, MetadataCommand};

/// Those whose programs commands run.
const PACKAGES: [&str; 4] = ["main-server", "matching-server", "standalone", "replay"];

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

/// Dovetail's programs, built with optimisation.
///
/// Whatever a command needs of them, all are built in the same call. Cargo gives a library the features that the packages of one
/// call want together (the client of HTTP, say, which only `replay` wants): another choice of packages would compile the
/// servers and what they use anew, and another server would be measured than the one that runs.
#[derive(Debug)]
pub(crate) struct Programs(Vec<Artifact>);

impl Programs {
    /// Builds them, showing what cargo says.
    pub(crate) fn build() -> anyhow::Result<Self> {
        let mut arguments = vec!["build", "--release", "--locked", "--bins"];
        arguments.extend(PACKAGES.iter().flat_map(|package| ["--package", package]));
        Ok(Self(build(&workspace()?, &arguments)?))
    }

    /// Builds the bare axum server too. In a call of its own: an example brings the features of its package's tests with it, which
    /// for `replay` are those of the programs and for a server are not.
    pub(crate) fn and_bare_axum(mut self) -> anyhow::Result<Self> {
        let arguments = ["build", "--release", "--locked", "--package", "replay", "--example", "bare_axum"];
        self.0.extend(build(&workspace()?, &arguments)?);
        Ok(self)
    }

    /// Where a program is.
    pub(crate) fn path(&self, name: &str) -> anyhow::Result<PathBuf> {
        let of_name = self.0.iter().filter(|artifact| artifact.target.name == name);
        let path = of_name.into_iter().find_map(|artifact| artifact.executable.clone());
        path.map(Into::into).with_context(|| format!("{name} was not built"))
    }
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
