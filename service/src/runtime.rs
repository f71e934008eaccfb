//! The threads of a server.

use std::num::NonZero;

use tokio::runtime::{Builder, Runtime};

/// How many threads a server works on.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct RuntimeArgs {
    /// Threads to work on [default: half the processors]. Servers scale by starting more of them, and the stores need the rest
    #[arg(long, env = "DOVETAIL_WORKERS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    workers: Option<u16>,
}

impl RuntimeArgs {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn start(self) -> std::io::Result<Runtime> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let workers = self.workers.map_or((processors / 2).max(1), usize::from);
        Builder::new_multi_thread().worker_threads(workers).enable_all().build()
    }
}
