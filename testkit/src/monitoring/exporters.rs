//! The exporters: small servers that tell Prometheus of programs that do not speak its language.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::{MonitoringPorts, behind, config};
use crate::packages;
use crate::place::{Place, root};
use crate::process::Signal;
use crate::program::Program;
use crate::stack::Stack;

/// All exporters, which are not started yet, and where each listens.
pub(super) fn all(
    place: &Place,
    ports: &MonitoringPorts,
    stack: &Stack,
    programs: &Path,
) -> anyhow::Result<Vec<(Program, u16)>> {
    Ok(vec![
        (postgres(place, ports.postgres, stack)?, ports.postgres),
        (redis(place, ports.redis, stack)?, ports.redis),
        (processes(place, ports.processes, stack, programs)?, ports.processes),
    ])
}

fn postgres(place: &Place, port: u16, stack: &Stack) -> anyhow::Result<Program> {
    let mut command = behind(&packages::postgres_exporter()?);
    command.arg(format!("--web.listen-address=127.0.0.1:{port}")).arg("--log.level=warn");
    command.env("DATA_SOURCE_NAME", format!("{}?sslmode=disable", stack.postgres.url()));
    program("exporter-postgres", command, place)
}

fn redis(place: &Place, port: u16, stack: &Stack) -> anyhow::Result<Program> {
    let mut command = behind(&packages::redis_exporter()?);
    command.arg(format!("-web.listen-address=127.0.0.1:{port}"));
    command.arg(format!("-redis.addr={}", stack.redis.url()));
    program("exporter-redis", command, place)
}

fn processes(place: &Place, port: u16, stack: &Stack, programs: &Path) -> anyhow::Result<Program> {
    const NAME: &str = "exporter-processes";
    let folder = place.of_part(NAME).folder(NAME)?;
    let path = folder.join("process-exporter.yml");
    let shared = root().join("prometheus/process-exporter.yml");
    let shared = fs::read_to_string(&shared).with_context(|| format!("cannot read {}", shared.display()))?;
    let text = config::processes(&shared, &own(stack, programs))?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    let mut command = behind(&packages::process_exporter()?);
    command.arg(format!("-web.listen-address=127.0.0.1:{port}")).arg("-config.path").arg(&path);
    // A process begins under the name of the one that started it, and would keep that.
    command.args(["-recheck", "-threads=false"]);
    // Nobody asks for what is in a process's memory map, and reading it each second is work.
    command.arg("-gather-smaps=false");
    command.env("PATH", packages::PATH).current_dir(&folder);
    Program::new(NAME, &command, place, &folder, Signal::KILL)
}

/// What the command lines of this stack's processes have and others of the same name have not. Only of k6 none can be told.
fn own(stack: &Stack, programs: &Path) -> Vec<(&'static str, String)> {
    let server = |name: &str| format!("^{}/\\S*{name} ", escape(&programs.display().to_string()));
    let nodes: Vec<String> =
        stack.rabbit.nodes().iter().map(|node| escape(&node.folder().display().to_string())).collect();
    vec![
        ("main-server", server("main-server")),
        ("matching-server", server("matching-server")),
        ("rabbitmq", format!(" -home ({}) ", nodes.join("|"))),
        ("postgres", format!(" -D {} ", escape(&stack.postgres.data().display().to_string()))),
        ("redis", format!(" 127\\.0\\.0\\.1:{}\\b", stack.redis.port())),
    ]
}

/// A text as a regular expression for exactly it.
fn escape(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/_-".contains(letter);
    text.chars().flat_map(|letter| (!is_plain(letter)).then_some('\\').into_iter().chain([letter])).collect()
}

fn program(name: &str, mut command: Command, place: &Place) -> anyhow::Result<Program> {
    let place = place.of_part(name);
    let folder = place.folder(name)?;
    command.env("PATH", packages::PATH).current_dir(&folder);
    Program::new(name, &command, &place, &folder, Signal::KILL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stands_for_itself_alone() {
        assert_eq!(escape("/a b/c.d-1_2/(e)"), r"/a\ b/c\.d-1_2/\(e\)");
    }
}
