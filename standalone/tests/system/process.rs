//! The program as a child process: what it printed, how it ended, and its end by signal.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::wait::until;

/// The most lines of standard output that wait to be read.
const LINES: usize = 64;

/// A child process that is killed, by its own pid, when dropped.
pub(crate) struct Process {
    /// `None` once its end was waited for.
    child: Option<Child>,
    pid: u32,
    lines: mpsc::Receiver<String>,
    said: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Everything it wrote to standard error.
    pub(crate) said: String,
}

impl Process {
    /// Starts the program.
    pub(crate) fn start(args: &[String]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_standalone"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel(LINES);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Nobody reads on after the address.
                let _ = sender.try_send(line);
            }
        });
        let said = Arc::new(Mutex::new(String::new()));
        let keep = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4_096];
            while let Ok(read @ 1..) = stderr.read(&mut bytes) {
                keep.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let pid = child.id();
        Self { child: Some(child), pid, lines, said, reader: Some(reader) }
    }

    /// The next line of standard output; `None` when the process has ended.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        until("a line of output", self.lines.recv()).await
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        assert!(self.child.is_some(), "it has ended before");
        let sent = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status().unwrap();
        assert!(sent.success(), "cannot send SIGTERM to {}", self.pid);
    }

    /// Ends it at once: SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself meanwhile.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Waits for its end.
    pub(crate) async fn ended_within(mut self, deadline: Duration) -> Ended {
        let mut child = self.child.take().unwrap();
        let pid = self.pid;
        let wait = tokio::task::spawn_blocking(move || child.wait().unwrap());
        match tokio::time::timeout(deadline, wait).await {
            Ok(status) => Ended { status: status.unwrap(), said: self.all_it_said() },
            Err(_) => {
                let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
                panic!("the process did not end within {deadline:?}; it said:\n{}", self.all_it_said());
            }
        }
    }

    /// Everything it wrote to standard error, once it has ended.
    pub(crate) fn all_it_said(&mut self) -> String {
        assert!(self.child.is_none(), "it still runs");
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.said.lock().unwrap().clone()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
