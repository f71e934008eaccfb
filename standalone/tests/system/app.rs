//! A running Dovetail with its own data folder.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::watch;

use crate::http::{Client, Reply};
use crate::process::{Ended, Process};
use crate::user::User;

/// Where an app listens. New at each start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) api: SocketAddr,
    pub(crate) admin: SocketAddr,
}

/// A running Dovetail. When it is dropped, it must not have logged an error.
pub(crate) struct App {
    process: Option<Process>,
    place: watch::Sender<Place>,
    client: Client,
    args: Vec<String>,
    data: TempDir,
}

impl App {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[], "").await
    }

    /// Starts with a policy file; what it leaves out is as usual.
    pub(crate) async fn with_policy(policy: &str) -> Self {
        Self::start_with(&[], policy).await
    }

    pub(crate) async fn start_with(flags: &[&str], policy: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("policy.toml");
        std::fs::write(&file, policy).unwrap();
        let folder = data.path().display().to_string();
        let mut args = args_for(&folder);
        args.extend(["--policy".to_owned(), file.display().to_string()]);
        args.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let (process, place) = launch(&args).await;
        let place = watch::Sender::new(place);
        let client = Client::new(place.subscribe());
        Self { process: Some(process), place, client, args, data }
    }

    pub(crate) fn user(&self, name: &str) -> User {
        User::new(self.client.clone(), name)
    }

    pub(crate) fn place(&self) -> Place {
        *self.place.borrow()
    }

    pub(crate) fn data(&self) -> &std::path::Path {
        self.data.path()
    }

    /// The lines that it tells a newcomer to paste.
    pub(crate) async fn lines_to_paste(&mut self) -> Vec<String> {
        let process = self.process.as_mut().unwrap();
        let mut lines = Vec::new();
        while lines.len() < 3 {
            let line = process.next_line().await.expect("it prints three lines");
            if line.contains("curl ") {
                lines.push(line);
            }
        }
        lines
    }

    /// A page of the admin port.
    pub(crate) async fn admin(&self, path: &str) -> Reply {
        self.client.admin(path).await
    }

    /// The sum of a metric over its labels, those that hold `label` counted.
    pub(crate) async fn metric(&self, name: &str, label: &str) -> f64 {
        let page = self.admin("/metrics").await.text();
        let samples = page.lines().filter(|line| {
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])) && line.contains(label)
        });
        samples.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
    }

    /// Asks it to stop, and goes on.
    pub(crate) fn terminate(&self) {
        self.process.as_ref().unwrap().terminate();
    }

    /// Waits for its end after it was asked to stop.
    pub(crate) async fn ended_within(&mut self, deadline: Duration) -> Ended {
        let ended = self.process.take().unwrap().ended_within(deadline).await;
        assert_nothing_failed(&ended.said);
        ended
    }

    /// Stops it in order.
    pub(crate) async fn stop(&mut self) {
        self.terminate();
        let ended = self.ended_within(Duration::from_secs(10)).await;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.said);
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill();
        assert_nothing_failed(&process.all_it_said());
    }

    /// Starts it again on the same data; answers how long that took.
    pub(crate) async fn start_again(&mut self) -> Duration {
        assert!(self.process.is_none(), "it still runs");
        let start = Instant::now();
        let (process, place) = launch(&self.args).await;
        self.process = Some(process);
        self.place.send_replace(place);
        start.elapsed()
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        process.kill();
        let said = process.all_it_said();
        if std::thread::panicking() {
            println!("--- the app said:\n{said}");
        } else {
            assert_nothing_failed(&said);
        }
    }
}

/// The arguments for any free ports and this data folder.
pub(crate) fn args_for(data: &str) -> Vec<String> {
    ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data", data].map(str::to_owned).to_vec()
}

async fn launch(args: &[String]) -> (Process, Place) {
    let mut process = Process::start(args);
    while let Some(line) = process.next_line().await {
        if let Some(place) = read_place(&line) {
            return (process, place);
        }
    }
    process.kill();
    panic!("it did not start; it said:\n{}", process.all_it_said());
}

/// `Dovetail listens on http://ADDRESS  (admin: http://ADDRESS, …`
fn read_place(line: &str) -> Option<Place> {
    let (api, rest) = line.strip_prefix("Dovetail listens on http://")?.split_once(' ')?;
    let (_, rest) = rest.split_once("admin: http://")?;
    let (admin, _) = rest.split_once(',')?;
    Some(Place { api: api.parse().ok()?, admin: admin.parse().ok()? })
}

fn assert_nothing_failed(said: &str) {
    let bad = said.lines().any(|line| line.contains("ERROR") || line.contains("panicked"));
    assert!(!bad, "the app logged an error:\n{said}");
}
