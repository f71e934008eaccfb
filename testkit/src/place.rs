//! Where a service's data lies, and with that how long it lives.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;

/// Where a service's data lies, and with that how long it lives.
#[derive(Debug, Clone)]
pub enum Place {
    /// For tests: in a folder of its own below `target/testkit`. The service and the folder are gone when its value is
    /// dropped, and also when this process ends without that, whatever ends it.
    Temporary,
    /// For a stack that is left running: in this folder, whose data is used again if there is any. The service goes on in a
    /// session of its own when this process ends.
    Lasting(PathBuf),
}

impl Place {
    /// The place of a part of what is here.
    pub(crate) fn of_part(&self, name: &str) -> Self {
        match self {
            Self::Temporary => Self::Temporary,
            Self::Lasting(folder) => Self::Lasting(folder.join(name)),
        }
    }

    /// The folder, made if it was not there. `what` names a temporary one, for those who look.
    pub(crate) fn folder(&self, what: &str) -> anyhow::Result<PathBuf> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let folder = match self {
            Self::Temporary => {
                let number = MADE.fetch_add(1, Ordering::Relaxed);
                target().join("testkit").join(format!("{}-{number}-{what}", std::process::id()))
            }
            Self::Lasting(folder) => folder.clone(),
        };
        if matches!(self, Self::Temporary) && folder.exists() {
            // Left by a process with our pid whose keeper was killed, or by a power cut.
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        std::path::absolute(&folder).context("cannot tell the current folder")
    }
}

/// The workspace's folder for what is made and may go.
pub(crate) fn target() -> PathBuf {
    root().join("target")
}

/// The workspace that this was built from.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
