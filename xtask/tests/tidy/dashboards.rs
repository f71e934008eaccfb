//! The dashboards' files: every panel has its place, a unit, a description, and the data source by its uid; "All" of a variable
//! asks for a label that is there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::assert_none;
use crate::repository::text_files;

/// The data source of `grafana/provisioning/datasources/prometheus.yml`.
const SOURCE: &str = "dovetail-prometheus";

fn dashboards() -> Vec<(&'static str, Value)> {
    let files = text_files().iter().filter(|file| file.path.starts_with("grafana/dashboards/"));
    let read = |text: &str| serde_json::from_str(text).expect("a dashboard is JSON");
    files.map(|file| (file.path.as_str(), read(&file.text))).collect()
}

/// Left, top, right and bottom of a panel.
fn place(panel: &Value) -> Option<[u64; 4]> {
    let number = |name: &str| panel["gridPos"][name].as_u64();
    let (x, y, w, h) = (number("x")?, number("y")?, number("w")?, number("h")?);
    Some([x, y, x + w, y + h])
}

fn problems(board: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let panels = board["panels"].as_array().expect("panels");
    for variable in board["templating"]["list"].as_array().map_or(&[][..], Vec::as_slice) {
        // `.*` also matches where there is no such label: a choice of one would then show nothing.
        if variable["includeAll"] == true && variable["allValue"] != ".+" {
            problems.push(format!("variable {}: its allValue is not .+", variable["name"]));
        }
    }
    let mut ids = BTreeSet::new();
    for (at, panel) in panels.iter().enumerate() {
        let title = panel["title"].as_str().unwrap_or("a panel without a title");
        if !ids.insert(panel["id"].as_u64()) || panel["id"].is_null() {
            problems.push(format!("{title}: no id of its own"));
        }
        let Some([left, top, right, bottom]) = place(panel) else {
            problems.push(format!("{title}: no place"));
            continue;
        };
        let overlaps = panels[..at]
            .iter()
            .filter_map(place)
            .any(|[l, t, r, b]| left < r && l < right && top < b && t < bottom);
        if overlaps || right > 24 {
            problems.push(format!("{title}: lies on another, or outside"));
        }
        if panel["type"] == "row" {
            continue;
        }
        if panel["fieldConfig"]["defaults"]["unit"].as_str().is_none_or(str::is_empty) {
            problems.push(format!("{title}: no unit"));
        }
        if !panel["description"].as_str().is_some_and(|text| text.contains("Good: ")) {
            problems.push(format!("{title}: does not say what good looks like"));
        }
        let targets = panel["targets"].as_array().map_or(&[][..], Vec::as_slice);
        // Asked over a range, it would show for minutes what was known last.
        let is_a_number = panel["type"] == "stat" && panel["options"]["graphMode"] == "none";
        if is_a_number && !targets.iter().all(|target| target["instant"] == true && target["range"] == false)
        {
            problems.push(format!("{title}: a number alone, and not asked for now alone"));
        }
        let from_source = targets.iter().chain([panel]).all(|part| part["datasource"]["uid"] == SOURCE);
        if targets.is_empty() || !from_source {
            problems.push(format!("{title}: not from the data source"));
        }
    }
    problems
}

#[test]
fn every_panel_has_its_place_and_its_words() {
    let boards = dashboards();
    let uids: BTreeSet<&str> = boards.iter().filter_map(|(_, board)| board["uid"].as_str()).collect();
    assert_eq!((uids.len(), boards.len()), (3, 3), "three dashboards, each with a uid of its own");
    let found: Vec<String> = boards
        .iter()
        .flat_map(|(path, board)| {
            problems(board).into_iter().map(move |problem| format!("{path}: {problem}"))
        })
        .collect();
    assert_none(&found, "Mend the dashboard's JSON.");
    let source =
        text_files().iter().find(|file| file.path == "grafana/provisioning/datasources/prometheus.yml");
    assert!(source.expect("a data source").text.contains(&format!("uid: {SOURCE}\n")));
}

#[test]
fn types_are_those_of_the_grafana_that_runs() {
    let text = |path| text_files().iter().find(|file| file.path == path).map(|file| &file.text).expect(path);
    let package: Value = serde_json::from_str(text("grafana/types/package.json")).expect("a package");
    let version = package["devDependencies"]["@grafana/schema"].as_str().expect("a version");
    assert!(
        text("docker-compose.yml").contains(&format!("image: grafana/grafana:{version}\n")),
        "docker-compose.yml and grafana/types/package.json name one version, and not {version}"
    );
}

#[test]
fn a_bad_panel_is_found() {
    let bad = json!({ "id": 1, "title": "x", "type": "stat", "gridPos": { "x": 20, "y": 0, "w": 8, "h": 4 },
        "datasource": { "uid": "other" }, "targets": [{ "range": true }], "options": { "graphMode": "none" },
        "fieldConfig": { "defaults": { "unit": "" } } });
    assert_eq!(problems(&json!({ "panels": [bad.clone(), bad] })).len(), 4 + 5 + 2);
    let variable = |all: &str| json!({ "list": [{ "name": "x", "includeAll": true, "allValue": all }] });
    assert_eq!(problems(&json!({ "panels": [], "templating": variable(".*") })).len(), 1);
    assert!(problems(&json!({ "panels": [], "templating": variable(".+") })).is_empty());
}
