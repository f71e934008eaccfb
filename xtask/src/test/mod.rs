//! `cargo xtask test`: everything in one build, reported part by part.
//!
//! A part is a crate: its unit tests, its integration tests and its doc tests. All parts are built together, since
//! building them one by one would build their dependencies anew for each set of features.

mod tally;

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cargo_metadata::{Metadata, Package};

use self::tally::{Line, Tally};
use crate::Verdict;
use crate::cargo::{build, cargo, workspace};

/// `cargo xtask test`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Crates to test, as in `cargo xtask test store xtask`; without any, all of them
    #[arg(value_name = "PART")]
    parts: Vec<String>,
}

/// The part that is no crate: building all the others.
const BUILD: &str = "build";

/// The kinds of targets that are built and run: all but benchmarks, which measure and take their time. `testkit` asks for the
/// same ones, so that nothing is built twice.
const TESTED: [&str; 2] = ["--tests", "--examples"];

/// Which program tests which part, by the program's path.
type Programs = HashMap<String, String>;

pub(crate) fn run(args: &Args) -> anyhow::Result<Verdict> {
    let workspace = workspace()?;
    let parts = select(&workspace, &args.parts)?;
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    println!("builds all tests, then runs the tests of: {}", names.join(", "));

    let selection: Vec<&str> = if args.parts.is_empty() {
        vec!["--workspace"]
    } else {
        names.iter().flat_map(|name| ["--package", name]).collect()
    };
    let began = Instant::now();
    let mut tally = Tally::default();
    let built = build_tests(&workspace, &selection);
    tally.add_time(BUILD, began.elapsed());
    match built {
        Ok(programs) => {
            let mut command = cargo();
            command.args(["test", "--locked"]).args(TESTED).args(&selection);
            stream(&workspace, command, &programs, &mut tally)?;
            if parts.iter().any(|part| part.targets.iter().any(|target| target.doctest)) {
                let mut command = cargo();
                command.args(["test", "--locked", "--doc"]).args(&selection);
                stream(&workspace, command, &Programs::new(), &mut tally)?;
            }
        }
        Err(error) => {
            println!("{error:#}");
            tally.fail(BUILD);
        }
    }
    print!("\n{}", tally.render(began.elapsed()));
    Ok(if tally.failed() == 0 { Verdict::Good } else { Verdict::Bad })
}

fn select<'w>(workspace: &'w Metadata, wanted: &[String]) -> anyhow::Result<Vec<&'w Package>> {
    let members = workspace.workspace_packages();
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    for part in wanted {
        ensure!(names.contains(&part.as_str()), "there is no part {part}; there are {}", names.join(", "));
    }
    let is_wanted = |member: &&Package| wanted.is_empty() || wanted.iter().any(|part| *part == *member.name);
    Ok(members.into_iter().filter(is_wanted).collect())
}

fn build_tests(workspace: &Metadata, selection: &[&str]) -> anyhow::Result<Programs> {
    let arguments = [&["test", "--locked", "--no-run"], &TESTED[..], selection].concat();
    let built = build(workspace, &arguments)?;
    let part_of = |artifact: &cargo_metadata::Artifact| {
        let member = workspace.packages.iter().find(|member| member.id == artifact.package_id)?;
        Some(member.name.to_string())
    };
    let tests = built.iter().filter(|artifact| artifact.profile.test);
    Ok(tests.filter_map(|test| Some((test.executable.as_ref()?.to_string(), part_of(test)?))).collect())
}

/// Runs `cargo test`, shows what it says line by line, and counts.
fn stream(
    workspace: &Metadata,
    mut command: Command,
    programs: &Programs,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    // One pipe for both, so that cargo's headings stay before the results they belong to.
    let (output, input) = std::io::pipe()?;
    command.args(["--no-fail-fast", "--color=never"]).env("RUST_BACKTRACE", "1");
    command.current_dir(&workspace.workspace_root).stdout(input.try_clone()?).stderr(input);
    let mut running = command.spawn().context("cannot start cargo")?;
    // The pipe ends when nobody can write to it any more: this process neither.
    drop(command);

    // Until the first heading cargo looks at what is built.
    let mut part = BUILD.to_owned();
    let mut waits_for_result = false;
    let mut since = Instant::now();
    let failed_before = tally.failed();
    let mut output = BufReader::new(output);
    let mut bytes = Vec::new();
    while output.read_until(b'\n', &mut bytes)? > 0 {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        bytes.clear();
        print!("{text}");
        let next = match Line::read(&text) {
            Line::Program(path) => part_at(workspace, programs, path),
            Line::DocTests(name) => part_named(workspace, name),
            Line::Result { passed, failed } => {
                tally.add(&part, passed, failed);
                waits_for_result = false;
                None
            }
            Line::Other => None,
        };
        // A heading that names nothing of ours is a test's own words.
        let Some(next) = next else { continue };
        close(tally, &part, waits_for_result, since.elapsed());
        (part, waits_for_result, since) = (next, true, Instant::now());
    }
    close(tally, &part, waits_for_result, since.elapsed());
    if !running.wait()?.success() && tally.failed() == failed_before {
        tally.fail(BUILD);
    }
    Ok(())
}

/// A program that said nothing of its results has died.
fn close(tally: &mut Tally, part: &str, died: bool, took: Duration) {
    tally.add_time(part, took);
    if died {
        println!("{part}: a test program ended without a result");
        tally.fail(part);
    }
}

fn part_at(workspace: &Metadata, programs: &Programs, path: &str) -> Option<String> {
    programs.get(workspace.workspace_root.join(path).as_str()).cloned()
}

/// Cargo heads doc tests with the library's name, which has underscores.
fn part_named(workspace: &Metadata, library: &str) -> Option<String> {
    let is_it = |member: &&Package| member.name.replace('-', "_") == library;
    workspace.packages.iter().find(is_it).map(|member| member.name.to_string())
}
