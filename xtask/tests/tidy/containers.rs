//! The container files: everything pinned, nothing secret, and every name in them is one that the programs know.

use std::collections::BTreeSet;
use std::process::Command;

use regex::Regex;

use crate::assert_none;
use crate::repository::{TextFile, members, root, sources_of, text_files};

const COMPOSE: &str = "docker-compose.yml";
const DOCKERFILE: &str = "Dockerfile";
const BROKER: &str = "rabbitmq/rabbitmq.conf";
const PROXY: &str = "proxy/haproxy.cfg";
const SECRETS: &str = "secrets/make";

/// Files that are handed out and must hold nothing secret.
const PUBLIC: &[&str] = &[COMPOSE, DOCKERFILE, BROKER, PROXY, SECRETS, "rabbitmq/healthy.sh"];

fn file(path: &str) -> &'static TextFile {
    text_files().iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path} is not there"))
}

/// What a pattern's first group finds in a text, in order.
fn found<'t>(pattern: &str, text: &'t str) -> Vec<&'t str> {
    let pattern = Regex::new(pattern).expect("a regular expression");
    pattern.captures_iter(text).filter_map(|found| Some(found.get(1)?.as_str())).collect()
}

/// The services of the compose file and what they share (`x-…`), each with its lines.
fn services(compose: &str) -> Vec<(&str, String)> {
    let (shared, rest) = compose.split_once("\nservices:\n").expect("services");
    let (own, _) = rest.split_once("\nnetworks:\n").expect("networks after the services");
    [(r"^(x-[\w-]+):", shared), (r"^  ([\w-]+):$", own)]
        .into_iter()
        .flat_map(|(name, text)| parts(name, text))
        .collect()
}

/// Cuts a text at the lines that a pattern matches; each part has the name in its first group.
fn parts<'t>(pattern: &str, text: &'t str) -> Vec<(&'t str, String)> {
    let pattern = Regex::new(pattern).expect("a regular expression");
    let mut parts: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        if let Some(found) = pattern.captures(line) {
            parts.push((found.get(1).expect("a name").as_str(), String::new()));
        } else if let Some((_, lines)) = parts.last_mut() {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    parts
}

/// Images that are not fixed to one version; ours have the version of the workspace.
fn unpinned(text: &str, version: &str) -> Vec<String> {
    let stages: BTreeSet<&str> = found(r"(?m)^FROM \S+ AS (\S+)$", text).into_iter().collect();
    let pinned = Regex::new(r"^[a-z0-9/_-]+:v?\d+\.\d+[\w.-]*$").expect("a regular expression");
    let is_good = |image: &&str| match image.strip_prefix("dovetail/") {
        Some(ours) => ours.ends_with(&format!(":{version}")),
        None => pinned.is_match(image) || stages.contains(image),
    };
    let images = found(r"(?m)^(?:FROM|\s+image:) (\S+)", text);
    assert!(!images.is_empty(), "no image is named");
    images.into_iter().filter(|image| !is_good(image)).map(str::to_owned).collect()
}

#[test]
fn every_image_is_pinned() {
    let version = members().first().expect("a crate").version.to_string();
    let loose: Vec<String> =
        [COMPOSE, DOCKERFILE].iter().flat_map(|path| unpinned(&file(path).text, &version)).collect();
    assert_none(&loose, "Name an exact version: what ran yesterday must run tomorrow.");
    let bad =
        "FROM debian:12.13-slim AS base\nFROM base AS x\nFROM rust\n  image: redis:latest\n  image: a/b:7\n";
    assert_eq!(unpinned(bad, "0.1.0"), ["rust", "redis:latest", "a/b:7"]);
    assert_eq!(unpinned("  image: dovetail/main-server:0.0.9\n", "0.1.0").len(), 1);
}

#[test]
fn every_crate_is_sent_to_the_builder() {
    let listed = found(r"(?m)^!(\S+)$", &file(".dockerignore").text);
    let left = members().into_iter().map(|member| member.name.to_string());
    let left: Vec<String> = left.filter(|name| !listed.contains(&name.as_str())).collect();
    assert_none(
        &left,
        "Name it in .dockerignore: cargo builds nothing without all manifests of the workspace.",
    );
}

/// The environment variables that a program reads, by its sources.
fn settings_of(program: &str) -> BTreeSet<&'static str> {
    let sources = [program, "main-server", "service"];
    let shared = if program == "standalone" { &sources[..] } else { &[program, "service"] };
    let texts = shared.iter().flat_map(|member| sources_of(member));
    texts.flat_map(|file| found(r#"env = "(DOVETAIL_\w+)""#, &file.text)).collect()
}

/// Variables that a program does not read. `part` is the part of a file that is about it.
fn unknown_settings(program: &str, part: &str) -> Vec<String> {
    let known = settings_of(program);
    let used = found(r"\b(DOVETAIL_\w+)", part).into_iter();
    used.filter(|name| !known.contains(name)).map(|name| format!("{program}: {name}")).collect()
}

#[test]
fn every_setting_is_one_of_the_program() {
    let (compose, dockerfile) = (services(&file(COMPOSE).text), &file(DOCKERFILE).text);
    let mut unknown = Vec::new();
    for program in ["main-server", "matching-server"] {
        let (_, part) = compose.iter().find(|(name, _)| *name == program).expect("a service");
        assert!(part.contains("DOVETAIL_DATABASE_FILE"), "{program} is told where the store is");
        unknown.extend(unknown_settings(program, part));
    }
    for part in dockerfile.split("\nFROM ").filter(|part| part.contains("ENTRYPOINT")) {
        let program = found(r#"ENTRYPOINT \["([\w-]+)"\]"#, part)[0];
        unknown.extend(unknown_settings(program, part));
    }
    assert_none(&unknown, "No such setting: see the program's --help.");
    assert_eq!(unknown_settings("matching-server", "DOVETAIL_LISTEN: x").len(), 1);
}

#[test]
fn the_proxy_knows_the_servers_ports() {
    let text = &file(PROXY).text;
    let dockerfile = &file(DOCKERFILE).text;
    let server = dockerfile.split("\nFROM ").find(|part| part.contains("AS main-server")).expect("its stage");
    let api = found(r"DOVETAIL_LISTEN=0\.0\.0\.0:(\d+)", server)[0];
    let admin = found(r"DOVETAIL_ADMIN=0\.0\.0\.0:(\d+)", server)[0];
    assert!(found(r"main-server:(\d+)", text).iter().all(|port| *port == api));
    assert_eq!(found(r"check port (\d+)", text), [admin]);
    assert_eq!(
        found(r"/dev/tcp/127\.0\.0\.1/(\d+)", server),
        [admin],
        "the health check asks the admin port"
    );
}

#[test]
fn what_prometheus_reads_is_a_service() {
    let (compose, read) = (services(&file(COMPOSE).text), &file("prometheus/prometheus.yml").text);
    let mut hosts = found(r#""([\w-]+):\d+""#, read);
    hosts.extend(found(r"names: \[([\w-]+)\]", read));
    assert!(hosts.len() > 10, "{hosts:?}");
    hosts.retain(|host| *host != "localhost" && !compose.iter().any(|(name, _)| name == host));
    assert_none(
        &hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>(),
        "No service has this name.",
    );
    for server in ["main-server", "matching-server"] {
        let mut stages = file(DOCKERFILE).text.split("\nFROM ");
        let stage = stages.find(|stage| stage.contains(&format!("AS {server}\n"))).expect("its stage");
        let port = found(&format!(r"names: \[{server}\], type: A, port: (\d+)"), read);
        assert_eq!(port, found(r"DOVETAIL_ADMIN=0\.0\.0\.0:(\d+)", stage), "{server}'s admin port");
    }
}

#[test]
fn the_proxy_speaks_in_problems_of_the_api() {
    let (said, page) = (file(PROXY).text.replace('\\', ""), &file("docs/problems.md").text);
    let (types, titles) = (found(r#""type":"([^"]+)""#, &said), found(r#""title":"([^"]+)""#, &said));
    assert!(!types.is_empty() && types.len() == titles.len());
    let is_known = |kind: &str, title: &str| {
        page.lines().any(|row| row.starts_with(&format!("| `{kind}` |")) && row.contains(title))
    };
    let pairs = types.into_iter().zip(titles);
    let left =
        pairs.filter(|(kind, title)| !is_known(kind, title)).map(|(kind, title)| format!("{kind}: {title}"));
    assert_none(&left.collect::<Vec<_>>(), "docs/problems.md does not say so.");
}

#[test]
fn the_brokers_nodes_are_the_same_everywhere() {
    let (compose, broker) = (&file(COMPOSE).text, &file(BROKER).text);
    let nodes = found(r"(?m)^cluster_formation\.classic_config\.nodes\.\d+ = rabbit@(\S+)$", broker);
    assert_eq!(found(r"(?m)^    hostname: (\S+)$", compose), nodes, "a node's name is its host name");
    let (_, addresses) = file(SECRETS).text.split_once("for node in ").expect("the addresses for servers");
    assert_eq!(addresses.split(';').next().expect("names").split(' ').collect::<Vec<_>>(), nodes);
    let count = nodes.len().to_string();
    assert_eq!(found(r"(?m)^cluster_formation\.target_cluster_size_hint = (\d+)$", broker), [count.as_str()]);
    assert_eq!(found(r"await_online_nodes (\d+)", compose), [count.as_str()]);
    assert_eq!(found(r#""\$running" -eq (\d+)"#, &file("rabbitmq/healthy.sh").text), [count.as_str()]);
    let missing = found(r"/dovetail/([\w.-]+)", compose);
    let missing = missing.into_iter().filter(|name| !root().join("rabbitmq").join(name).exists());
    assert_none(&missing.map(str::to_owned).collect::<Vec<_>>(), "rabbitmq/ holds no such file.");
}

#[test]
fn the_broker_stops_publishers_before_its_container_is_full() {
    let watermark = found(r"(?m)^vm_memory_high_watermark\.absolute = (\d+)MiB$", &file(BROKER).text);
    let [watermark] = watermark[..] else { panic!("one watermark, in MiB, for containers") };
    let services = services(&file(COMPOSE).text);
    let (_, node) = services.iter().find(|(name, _)| *name == "x-rabbitmq").expect("what nodes share");
    let [limit] = found(r"mem_limit: (\d+)g", node)[..] else { panic!("a limit in GiB") };
    let (watermark, limit): (u64, u64) = (watermark.parse().unwrap(), limit.parse().unwrap());
    assert!(watermark * 2 <= limit * 1024, "the watermark is at most half of the container's memory");
}

/// Ports of a service that other machines can reach.
fn open_ports(service: &str) -> Vec<&str> {
    let ports = found(r#""([^"]+:\d+)""#, service).into_iter();
    ports.filter(|port| !port.starts_with("127.0.0.1:") && !port.contains('/')).collect()
}

#[test]
fn only_the_proxy_is_published() {
    for (name, lines) in services(&file(COMPOSE).text) {
        let expected = if name == "proxy" { 1 } else { 0 };
        assert_eq!(open_ports(&lines).len(), expected, "{name}: {:?}", open_ports(&lines));
    }
    assert_eq!(open_ports("ports: [\"5672:5672\", \"127.0.0.1:1:2\"]"), ["5672:5672"]);
}

/// Passwords and keys that are in the text itself.
fn secrets_in(text: &str) -> Vec<&str> {
    let mut secrets = found(r"(\w+://[^\s:/@]*:[^\s%@$]+@)", text);
    let named = r"(?im)^[ -]*(\w*(?:password|secret|cookie|token|default_pass)\w* *[:=] *[^\s{\[$].*)$";
    secrets.extend(found(named, text).into_iter().filter(|line| !line.contains("_FILE: /run/secrets/")));
    secrets
}

#[test]
fn no_secret_is_in_a_file() {
    let found: Vec<String> = PUBLIC
        .iter()
        .flat_map(|path| {
            secrets_in(&file(path).text).into_iter().map(move |secret| format!("{path}: {secret}"))
        })
        .collect();
    assert_none(&found, "Read it from a file that secrets/make makes.");
    for bad in
        ["a: amqp://ana:s3cret@x", "  POSTGRES_PASSWORD: x\n", "default_pass = x\n", "  JWT_SECRET=x\n"]
    {
        assert_eq!(secrets_in(bad).len(), 1, "{bad}");
    }
}

#[test]
fn every_secret_is_made_and_ignored_by_git() {
    let makes = &file(SECRETS).text;
    let used = found(r"file: \./secrets/(\w+)", &file(COMPOSE).text);
    assert!(used.contains(&"jwt_secret"));
    let unmade: Vec<String> =
        used.into_iter().filter(|name| !makes.contains(name)).map(str::to_owned).collect();
    assert_none(&unmade, "secrets/make does not make it.");
    let mut kept = text_files().iter().filter_map(|file| file.path.strip_prefix("secrets/"));
    assert!(kept.all(|name| [".gitignore", "make"].contains(&name)), "secrets/ is ignored by git");
}

#[test]
fn what_was_answered_is_on_disk() {
    for setting in ["fsync=on", "synchronous_commit=on", "full_page_writes=on"] {
        assert!(file(COMPOSE).text.contains(setting), "Postgres runs with {setting}");
    }
}

#[test]
fn compose_accepts_the_file_where_it_is_installed() {
    for program in [&["docker-compose"][..], &["docker", "compose"]] {
        let run = |argument: &[&str]| {
            Command::new(program[0]).args(&program[1..]).args(argument).current_dir(root()).output()
        };
        // Not installed, or a client of Docker that comes without it.
        if !run(&["version"]).is_ok_and(|output| output.status.success()) {
            continue;
        }
        let output = run(&["config", "--quiet"]).expect("what just ran");
        assert!(output.status.success(), "{program:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
