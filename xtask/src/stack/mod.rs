//! `cargo xtask up`, `scale` and `down`: the whole cluster on this machine, which goes on when the command ends.
//!
//! Everything lies in `target/stack`: a folder for each program with its data, its log and the file that names its process,
//! `state.json` with what was started how, and `stack.env` for people and scripts. A command ends only processes that
//! these files name, and never one that merely has the same pid.

mod down;
mod environment;
mod monitoring;
mod ports;
mod running;
mod scale;
mod servers;
mod shards;
mod state;
mod up;

use std::fs::File;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

pub(crate) use self::running::Running;
use crate::Verdict;
use crate::cargo::workspace;

/// How long a server may take to hand over what it holds and end.
const DRAIN_DEADLINE: Duration = Duration::from_secs(60);

/// The most servers of a kind: all of them share this machine and Postgres's connections.
const MOST_SERVERS: u32 = 8;

/// The services' programs, as their processes are called.
const SERVICES: [&str; 6] = ["postgres", "redis", "epmd", "rabbit1", "rabbit2", "rabbit3"];

/// `cargo xtask up`
#[derive(Debug, clap::Args)]
pub(crate) struct UpArgs {
    /// How many API servers
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = how_many())]
    main_servers: u32,
    /// How many matching servers
    #[arg(long, value_name = "M", default_value_t = 2, value_parser = how_many())]
    matching_servers: u32,
    /// How API servers know who calls: dev takes `Authorization: Bearer dev.<user>`; jwt takes tokens signed (HS256) with a
    /// secret that is made for this stack, whose file stack.env names as JWT_SECRET_FILE
    #[arg(long, value_enum, default_value_t = Auth::Dev)]
    auth: Auth,
}

/// `cargo xtask scale`
#[derive(Debug, clap::Args)]
pub(crate) struct ScaleArgs {
    /// Which servers
    #[arg(value_enum)]
    kind: Kind,
    /// How many there shall be
    #[arg(value_name = "N", value_parser = how_many())]
    count: u32,
}

/// `cargo xtask down`
#[derive(Debug, clap::Args)]
pub(crate) struct DownArgs {
    /// Remove the stack's data and logs too; without it, the next `up` goes on with them
    #[arg(long)]
    remove_data: bool,
}

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    MainServer,
    MatchingServer,
}

impl Kind {
    /// The name of its program.
    fn name(self) -> &'static str {
        match self {
            Self::MainServer => "main-server",
            Self::MatchingServer => "matching-server",
        }
    }

    /// So many of them, in words.
    fn how_many(self, count: usize) -> String {
        format!("{count} {}{}", self.name(), if count == 1 { "" } else { "s" })
    }
}

/// How API servers know who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Auth {
    Dev,
    Jwt,
}

impl Auth {
    /// As the servers' flag has it.
    fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Jwt => "jwt",
        }
    }
}

fn how_many() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=i64::from(MOST_SERVERS))
}

pub(crate) fn up(args: &UpArgs) -> anyhow::Result<Verdict> {
    let folder = folder()?;
    let _lock = lock(&folder)?;
    block_on(up::run(args, &folder))
}

pub(crate) fn scale(args: &ScaleArgs) -> anyhow::Result<Verdict> {
    let folder = folder()?;
    let _lock = lock(&folder)?;
    block_on(scale::run(args, &folder))
}

pub(crate) fn down(args: &DownArgs) -> anyhow::Result<Verdict> {
    let folder = folder()?;
    let _lock = lock(&folder)?;
    block_on(down::run(args, &folder))
}

fn block_on(command: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<Verdict> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)?;
    Ok(Verdict::Good)
}

/// Where the stack lies.
fn folder() -> anyhow::Result<PathBuf> {
    let folder = workspace()?.target_directory.join("stack").into_std_path_buf();
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// One command at a time. The lock ends with the command.
fn lock(folder: &Path) -> anyhow::Result<File> {
    let path = folder.join("lock");
    let lock = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    if lock.try_lock().is_err() {
        println!("waits for another command that changes the stack");
        lock.lock()?;
    }
    Ok(lock)
}
