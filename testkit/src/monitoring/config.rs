//! What Prometheus and the process exporter are told, made from the files that containers use: only addresses, and what tells
//! one's own processes from others, are put in.

use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::{Map, Value, json};

/// How often files of targets are looked at again should the kernel's word of a change be lost.
const LOOK_AGAIN: &str = "5s";

/// `prometheus.yml` with a file of targets, in a folder, for each job in place of the addresses in it, and its rules, whose
/// paths are relative to `beside`. JSON, which is YAML too.
pub(super) fn prometheus(yaml: &str, beside: &Path, targets: &Path) -> anyhow::Result<String> {
    let mut config: Map<String, Value> = serde_saphyr::from_str(yaml).context("prometheus.yml is no YAML")?;
    let rules =
        config.get_mut("rule_files").and_then(Value::as_array_mut).context("there are no rule_files")?;
    for rule in rules {
        let path = rule.as_str().context("a rule file has no name")?;
        *rule = beside.join(path).display().to_string().into();
    }
    for job in jobs_of(&mut config)? {
        let name = name_of(job)?;
        job.retain(|key, _| key != "static_configs" && !key.ends_with("_sd_configs"));
        let file = targets.join(name).with_extension("json").display().to_string();
        job.insert(
            "file_sd_configs".to_owned(),
            json!([{ "files": [file], "refresh_interval": LOOK_AGAIN }]),
        );
    }
    Ok(serde_json::to_string_pretty(&config)? + "\n")
}

/// The names of the jobs in `prometheus.yml`.
pub(super) fn jobs(yaml: &str) -> anyhow::Result<Vec<String>> {
    let mut config: Map<String, Value> = serde_saphyr::from_str(yaml).context("prometheus.yml is no YAML")?;
    jobs_of(&mut config)?.map(|job| name_of(job)).collect()
}

fn jobs_of(config: &mut Map<String, Value>) -> anyhow::Result<impl Iterator<Item = &mut Map<String, Value>>> {
    let jobs = config
        .get_mut("scrape_configs")
        .and_then(Value::as_array_mut)
        .context("there are no scrape_configs")?;
    ensure!(jobs.iter().all(Value::is_object), "a job is no map");
    Ok(jobs.iter_mut().filter_map(Value::as_object_mut))
}

fn name_of(job: &Map<String, Value>) -> anyhow::Result<String> {
    let name = job.get("job_name").and_then(Value::as_str).context("a job has no name")?;
    Ok(name.to_owned())
}

/// `process-exporter.yml` where each group that is named must also match a regular expression, over the command line.
pub(super) fn processes(yaml: &str, own: &[(&str, String)]) -> anyhow::Result<String> {
    let mut config: Map<String, Value> =
        serde_saphyr::from_str(yaml).context("process-exporter.yml is no YAML")?;
    let groups = config.get_mut("process_names").and_then(Value::as_array_mut);
    for group in groups.context("there are no process_names")? {
        let group = group.as_object_mut().context("a group is no map")?;
        let name = group.get("name").and_then(Value::as_str).context("a group has no name")?;
        if let Some((_, pattern)) = own.iter().find(|(own, _)| *own == name) {
            group.insert("cmdline".to_owned(), json!([pattern]));
        }
    }
    Ok(serde_json::to_string_pretty(&config)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = "\
        global: {scrape_interval: 1s}\n\
        rule_files: [rules/*.yml]\n\
        scrape_configs:\n\
        - job_name: a\n  dns_sd_configs: [{names: [a], type: A, port: 1}]\n  relabel_configs: &x [{regex: ';(.+):\\d+'}]\n\
        - job_name: b\n  params: {family: [c, d]}\n  static_configs: [{targets: ['b:2']}]\n  relabel_configs: *x\n";

    #[test]
    fn addresses_are_replaced_and_nothing_else() {
        let text = prometheus(YAML, Path::new("/repo/prometheus"), Path::new("/stack/targets")).unwrap();
        let config: Value = serde_json::from_str(&text).unwrap();
        let files = |job: &str| json!([{ "files": [format!("/stack/targets/{job}.json")], "refresh_interval": "5s" }]);
        let relabel = json!([{ "regex": r";(.+):\d+" }]);
        assert_eq!(
            config,
            json!({
                "global": { "scrape_interval": "1s" },
                "rule_files": ["/repo/prometheus/rules/*.yml"],
                "scrape_configs": [
                    { "job_name": "a", "file_sd_configs": files("a"), "relabel_configs": relabel },
                    { "job_name": "b", "params": { "family": ["c", "d"] }, "file_sd_configs": files("b"),
                      "relabel_configs": relabel },
                ],
            })
        );
        assert_eq!(jobs(YAML).unwrap(), ["a", "b"]);
    }

    #[test]
    fn a_group_is_told_what_is_its_own() {
        let yaml = "process_names:\n  - {name: a, comm: [a]}\n  - {name: b, comm: [b]}\n";
        let text = processes(yaml, &[("b", "^/x/b ".to_owned())]).unwrap();
        let expected = json!({ "process_names": [
            { "name": "a", "comm": ["a"] },
            { "name": "b", "comm": ["b"], "cmdline": ["^/x/b "] },
        ] });
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }
}
