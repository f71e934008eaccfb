//! Scenes: traces, each at a speed, to play several policies on.
//!
//! What does not depend on the policy is computed once here: the bound of a trace is the same at every speed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::Context;
use service::policy::MatchPolicy;

use crate::bound::Bound;
use crate::pairs::put_together;
use crate::progress::bar;
use crate::report::{Mode, Report, Run};
use crate::simulate::simulate;
use crate::trace::Trace;

/// A trace as it is played: at one speed, and with the most that can come of it.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The trace's file, as it was given.
    pub name: String,
    /// How many times faster than in the file requests come.
    pub speed: f64,
    /// The trace at that speed.
    pub trace: Trace,
    /// What similarities are measured against.
    pub bound: Bound,
}

impl Scene {
    /// Every trace at every speed, the speeds of a trace next to each other.
    ///
    /// # Errors
    /// When a trace cannot be read, or the bound cannot be solved.
    pub fn load(traces: &[PathBuf], speeds: &[f64]) -> anyhow::Result<Vec<Self>> {
        let mut scenes = Vec::with_capacity(traces.len() * speeds.len());
        for path in traces {
            let trace = load(path)?;
            let bound = bound(&trace)?;
            let name = path.display().to_string();
            let at = |speed: &f64| Self {
                name: name.clone(),
                speed: *speed,
                trace: trace.clone().sped_up(*speed),
                bound,
            };
            scenes.extend(speeds.iter().map(at));
        }
        Ok(scenes)
    }

    /// Plays the scene through engines with a policy. `on_request` is called as each request comes.
    ///
    /// # Errors
    /// When the policy makes no sense, or the engine breaks its contract.
    pub fn play(&self, policy: &MatchPolicy, on_request: impl Fn()) -> anyhow::Result<Report> {
        let began = Instant::now();
        let seen = simulate(&self.trace, policy, on_request)?;
        let elapsed_seconds = began.elapsed().as_secs_f64();
        let run = Run { mode: Mode::Engine, elapsed_seconds, interrupted: false, bound: Some(self.bound) };
        Ok(Report::new(&self.trace, &seen, &put_together(&self.trace, &seen), run))
    }
}

/// Plays every scene with every policy, on every processor, showing how far it is. `reports[s][p]` is of scene `s`
/// with policy `p`, whoever was done first.
///
/// # Errors
/// As [`Scene::play`].
pub fn play_all(scenes: &[Scene], policies: &[MatchPolicy]) -> anyhow::Result<Vec<Vec<Report>>> {
    let requests: usize = scenes.iter().map(|scene| scene.trace.requests().len()).sum();
    let bar = bar(requests * policies.len());
    let jobs: Vec<_> =
        scenes.iter().flat_map(|scene| policies.iter().map(move |policy| (scene, policy))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some((scene, policy)) = jobs.get(n) else { return anyhow::Ok(done) };
            match scene.play(policy, || bar.inc(1)) {
                Ok(report) => done.push((n, report)),
                Err(error) => {
                    // Nobody starts another.
                    next.store(jobs.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work()?;
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        anyhow::Ok(done)
    })?;
    bar.finish_and_clear();
    done.sort_unstable_by_key(|(n, _)| *n);
    let mut reports = done.into_iter().map(|(_, report)| report);
    Ok(scenes.iter().map(|_| reports.by_ref().take(policies.len()).collect()).collect())
}

/// Reads a trace.
///
/// # Errors
/// When it cannot be read; the error names it.
pub(crate) fn load(path: &Path) -> anyhow::Result<Trace> {
    Trace::load(path).with_context(|| format!("cannot play {}", path.display()))
}

/// Computes the bound of a trace, showing how far it is.
pub(crate) fn bound(trace: &Trace) -> anyhow::Result<Bound> {
    let bar = bar(trace.requests().len()).with_message("(best possible similarity)");
    let bound = Bound::of(trace, |requests| bar.inc(requests))?;
    bar.finish_and_clear();
    Ok(bound)
}
