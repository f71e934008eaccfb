//! A server of our own: started, waited for, and ended by its id.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

/// How long a server may take until it listens.
const START_DEADLINE: Duration = Duration::from_secs(30);

/// A running server. Dropping it kills it.
pub(super) struct Server {
    child: Child,
    pub(super) pid: u32,
    pub(super) url: String,
    /// Kept open: a server must not find nobody reading.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Starts a server and waits until it says where it listens. What it logs goes to a file.
    ///
    /// # Errors
    /// When it ends or says nothing in time.
    pub(super) async fn start(mut command: Command, log: &Path) -> anyhow::Result<Self> {
        let name = format!("{:?}", command.get_program());
        let log_file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log_file);
        let mut child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let pid = child.id().context("the server is gone")?;
        let mut stdout = BufReader::new(child.stdout.take().context("the server has no output")?).lines();
        let listens = tokio::time::timeout(START_DEADLINE, find_url(&mut stdout)).await;
        match listens {
            Ok(Ok(Some(url))) => Ok(Self { child, pid, url, _stdout: stdout }),
            Ok(Ok(None)) => bail!("{name} ended before it listened; see {}", log.display()),
            Ok(Err(error)) => Err(error).with_context(|| format!("cannot read what {name} says")),
            Err(_) => bail!("{name} did not listen within {START_DEADLINE:?}; see {}", log.display()),
        }
    }

    /// Ends the server and waits until it is gone, so that the next one has the machine to itself.
    ///
    /// # Errors
    /// When it had ended by itself: then nothing that was measured counts.
    pub(super) async fn end(mut self) -> anyhow::Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the server ended by itself: {status}");
        }
        self.child.kill().await.context("cannot end the server")
    }
}

async fn find_url(stdout: &mut Lines<BufReader<ChildStdout>>) -> std::io::Result<Option<String>> {
    while let Some(line) = stdout.next_line().await? {
        if let Some(url) = url_in(&line) {
            return Ok(Some(url.to_owned()));
        }
    }
    Ok(None)
}

/// The address in "Dovetail listens on http://127.0.0.1:8080  (admin: …".
fn url_in(line: &str) -> Option<&str> {
    line.split_once(" listens on ")?.1.split_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_where_it_listens() {
        let line = "Dovetail listens on http://127.0.0.1:4711  (admin: http://127.0.0.1:4712, data: x)";
        assert_eq!(url_in(line), Some("http://127.0.0.1:4711"));
        assert_eq!(url_in("curl -s http://127.0.0.1:4711/v1/tickets"), None);
    }
}
