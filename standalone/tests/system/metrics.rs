//! The page that Prometheus scrapes, after people came, met, left and mistyped: what is on it was promised, can be read, and
//! names nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use regex::Regex;
use service::metrics::catalogue::{self, Metric, Server, Values};

use crate::app::App;
use crate::user::wish;

/// What stands on the page of one metric.
#[derive(Default)]
struct Family {
    help: Option<String>,
    kind: Option<String>,
    samples: Vec<Sample>,
}

/// One line: `name{label="value",…} number`.
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
}

/// The families by name. Fails on a line that cannot be read, and on one that stands apart from the others of its family.
fn families(page: &str) -> BTreeMap<String, Family> {
    let (mut families, mut current) = (BTreeMap::<String, Family>::new(), String::new());
    for line in page.lines().filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("# ") {
            let (word, rest) = comment.split_once(' ').unwrap();
            let (name, text) = rest.split_once(' ').unwrap();
            if name != current {
                assert!(!families.contains_key(name), "{name} is on the page twice: {line}");
                name.clone_into(&mut current);
            }
            let family = families.entry(current.clone()).or_default();
            assert!(family.samples.is_empty(), "a comment after what it is about: {line}");
            let place = match word {
                "HELP" => &mut family.help,
                "TYPE" => &mut family.kind,
                other => panic!("{other} is no word of the format: {line}"),
            };
            assert!(place.replace(text.to_owned()).is_none(), "said twice: {line}");
        } else {
            let sample = Sample::read(line);
            let ending =
                sample.name.strip_prefix(&current).unwrap_or_else(|| panic!("not of {current}: {line}"));
            let family = families.get_mut(&current).unwrap();
            let endings: &[&str] = match family.kind.as_deref() {
                Some("histogram") => &["_bucket", "_sum", "_count"],
                _ => &[""],
            };
            assert!(endings.contains(&ending), "not of {current}: {line}");
            family.samples.push(sample);
        }
    }
    families
}

impl Sample {
    /// No value of a label has a quotation mark or a backslash in it: none is chosen by a caller.
    fn read(line: &str) -> Self {
        let sample = Regex::new(r#"^([a-z_]+)(?:\{((?:[a-z_]+="[^"\\]*",?)*)\})? (\S+)$"#).unwrap();
        let label = Regex::new(r#"([a-z_]+)="([^"]*)""#).unwrap();
        let parts = sample.captures(line).unwrap_or_else(|| panic!("cannot be read: {line}"));
        assert!(parts[3].parse::<f64>().is_ok_and(f64::is_finite), "not a number: {line}");
        let labels = parts.get(2).map_or("", |labels| labels.as_str());
        let labels = label.captures_iter(labels).map(|label| (label[1].to_owned(), label[2].to_owned()));
        Self { name: parts[1].to_owned(), labels: labels.collect() }
    }
}

/// What is on the page of a metric and was not promised.
fn not_promised(metric: &Metric, family: &Family) -> BTreeSet<String> {
    let promised: BTreeSet<&str> = metric.labels.iter().map(|label| label.name).collect();
    let mut wrong = BTreeSet::new();
    for sample in &family.samples {
        let bound = usize::from(sample.name.ends_with("_bucket"));
        let named: BTreeSet<&str> =
            sample.labels.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "le").collect();
        if named != promised || sample.labels.len() != promised.len() + bound {
            wrong.insert(format!("{} has the labels {named:?}", sample.name));
        }
        for (name, value) in &sample.labels {
            let Some(label) = metric.labels.iter().find(|label| label.name == name) else { continue };
            let may_be = match label.values {
                Values::Known(_) => label.values_of(Server::Standalone).contains(&value.as_str()),
                Values::Like(_, pattern) => Regex::new(&format!("^(?:{pattern})$")).unwrap().is_match(value),
            };
            if !may_be {
                wrong.insert(format!("{} has {name}={value:?}", sample.name));
            }
        }
    }
    wrong
}

/// What `promtool check metrics` says of a page.
fn promtool_on(page: &str) -> Output {
    let mut command = Command::new(testkit::packages::promtool().unwrap());
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = command.spawn().unwrap();
    promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    promtool.wait_with_output().unwrap()
}

/// People who came, met, left and mistyped; answers everything that no metric may name.
async fn people_come_and_go(app: &App) -> Vec<String> {
    let (ana, bo, cy, dan) =
        (app.user("user-ana"), app.user("user-bo"), app.user("user-cy"), app.user("user-dan"));
    let region = "kr.seoul.leaf-gangnam";
    let anas = ana.press_match(region, &["jazz-fusion"]).await;
    ana.press(&wish(region, &["jazz-fusion"])).await.expect::<serde_json::Value>(200);
    ana.press(&wish(region, &["folk"])).await.expect_problem(409, "ticket-exists");
    let bos = bo.press_match(region, &["jazz-fusion"]).await;
    let made = ana.until_matched(&anas).await;
    let cys = cy.press_match("kr.busan.leaf-haeundae", &["chess-boxing"]).await;
    cy.cancel(&cys.id).await.expect::<serde_json::Value>(200);
    dan.press(&wish("Not A Region", &[])).await.expect_problem(422, "invalid-request");
    dan.get("/v1/tickets/not-a-ticket").await;
    dan.get("/nowhere/user-dan").await;
    let dans = dan.press_match("kr.jeju.leaf-seogwipo", &["sumo"]).await;
    let names =
        ["user-", "leaf-", "jazz-fusion", "chess-boxing", "sumo", "Not A Region", "not-a-ticket", "nowhere"];
    let ids = [anas.id, bos.id, cys.id, dans.id, made.id];
    names.map(str::to_owned).into_iter().chain(ids).collect()
}

#[tokio::test]
async fn every_metric_was_promised_can_be_read_and_names_nobody() {
    let app = App::start().await;
    let private = people_come_and_go(&app).await;
    let page = app.admin("/metrics").await.text();
    let families = families(&page);
    for metric in catalogue::all().filter(|metric| metric.servers.contains(Server::Standalone)) {
        assert!(families.contains_key(metric.name), "{} is missing from\n{page}", metric.name);
    }
    for (name, family) in &families {
        let metric = catalogue::find(name).unwrap_or_else(|| panic!("{name} is not in the catalogue"));
        assert!(metric.servers.contains(Server::Standalone), "{name} is said to be another server's");
        assert_eq!(family.kind.as_deref(), Some(metric.kind.as_str()), "{name}");
        assert_eq!(family.help.as_deref(), Some(metric.help().as_str()), "{name}");
        let wrong = not_promised(metric, family);
        assert!(wrong.is_empty(), "not in the catalogue: {wrong:#?}");
    }
    for private in private {
        let named = page.lines().find(|line| !line.starts_with('#') && line.contains(&private));
        assert_eq!(named, None, "a metric names {private:?}");
    }
}

#[tokio::test]
async fn promtool_accepts_the_page_without_complaint() {
    let app = App::start().await;
    people_come_and_go(&app).await;
    let page = app.admin("/metrics").await.text();
    let (good, bad) = tokio::task::spawn_blocking(move || {
        let nameless = page.lines().filter(|line| !line.starts_with("# HELP dovetail_matches_total "));
        (promtool_on(&page), promtool_on(&nameless.flat_map(|line| [line, "\n"]).collect::<String>()))
    })
    .await
    .unwrap();
    let said = |output: &Output| {
        String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
    };
    assert!(good.status.success() && said(&good).is_empty(), "{}", said(&good));
    assert!(!bad.status.success() && said(&bad).contains("dovetail_matches_total"), "{}", said(&bad));
}
