//! `cargo xtask check-dashboards --types`: the files against the types that Grafana publishes, by the compiler of TypeScript.
//!
//! `grafana/types` says which types, and holds faults that must be found.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use super::question::files;
use crate::Verdict;
use crate::cargo::workspace;

/// Compares each file; the compiler prints what is wrong.
///
/// # Errors
/// When npm is not there, or cannot fetch what `grafana/types/package-lock.json` names.
pub(super) fn check() -> anyhow::Result<Verdict> {
    let workspace = workspace()?;
    let grafana = workspace.workspace_root.join("grafana");
    let folder = workspace.target_directory.join("grafana-types");
    let folder = folder.as_std_path();
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for ending in ["json", "ts"] {
        for (name, text) in files(grafana.join("types").as_std_path(), ending)? {
            fs::write(folder.join(name), text)?;
        }
    }
    let dashboards = files(grafana.join("dashboards").as_std_path(), "json")?;
    for (name, text) in &dashboards {
        // Written out and not imported: of what is imported, the compiler forgets which texts and numbers stood there. All on
        // the first line, so that it names the lines of the JSON.
        let typed = format!("import type {{ Board }} from './board'; export const board: Board = {text}");
        fs::write(folder.join(name.replace(".json", ".dashboard.ts")), typed)?;
    }
    let fetched = npm(folder, &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])?;
    ensure!(fetched, "npm ci failed in {}", folder.display());
    let is_good = npm(folder, &["exec", "--no", "--", "tsc", "--pretty", "false"])?;
    let verdict = if is_good { "all are of Grafana's types" } else { "not all are of Grafana's types" };
    println!("{} dashboards compared; {verdict}", dashboards.len());
    Ok(if is_good { Verdict::Good } else { Verdict::Bad })
}

/// Whether npm did it.
fn npm(folder: &Path, arguments: &[&str]) -> anyhow::Result<bool> {
    let status = Command::new("npm").args(arguments).current_dir(folder).stdin(Stdio::null()).status();
    Ok(status.context("cannot start npm, which comes with Node.js")?.success())
}
