//! What k6's scripts are told with `--set`. What each setting does, k6/README.md says; what a value may be, the scripts check.

use anyhow::bail;

/// What every scenario takes.
const OF_ALL: [&str; 7] = ["RATE", "VUS", "SEED", "PATIENCE", "REREAD", "ACCEPT_P95_MS", "SOON_SHARE"];
/// What people who each press once take besides: burst, ramp and spike.
const OF_CROWDS: [&str; 1] = ["SECONDS"];
/// What the soak takes besides.
const OF_SOAK: [&str; 5] = ["DURATION", "CANCELS", "DOUBLE_TAPS", "ABANDONED", "BAD_REQUESTS"];
/// What this command tells k6 by itself, and where from.
const OWN: [(&str, &str); 4] = [
    ("BASE_URLS", "the stack's servers are played against"),
    ("JWT_SECRET_FILE", "the stack's own secret signs"),
    ("TRACE", "give it as --trace"),
    ("SUMMARY", "it is target/load/SCENARIO/k6.json"),
];

/// The names that a scenario takes.
fn known(scenario: &str) -> impl Iterator<Item = &'static str> {
    let others: &[&str] = if scenario == "soak" { &OF_SOAK } else { &OF_CROWDS };
    OF_ALL.iter().chain(others).copied()
}

/// Fails when a name is none that the scenario's script reads: k6 would say nothing and play with the default.
pub(super) fn check(scenario: &str, settings: &[(String, String)]) -> anyhow::Result<()> {
    for (name, _) in settings {
        if let Some((_, why)) = OWN.iter().find(|(own, _)| own == name) {
            bail!("--set {name}: this command sets it itself: {why}");
        }
        if !known(scenario).any(|known| known == name) {
            let all: Vec<&str> = known(scenario).collect();
            bail!("--set {name}: {scenario} has no such setting, but {}", all.join(", "));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    use clap::Subcommand as _;

    use crate::load::scenario::Scenario;

    const SCENARIOS: [&str; 4] = ["burst", "ramp", "spike", "soak"];

    /// The settings that a script reads: `count('RATE', 1000)`.
    fn read_in(text: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for call in ["count('", "number('", "share('", "seconds('", "text('", "path('"] {
            let names = text.split(call).skip(1).filter_map(|rest| rest.split('\'').next());
            found.extend(names.map(str::to_owned));
        }
        found
    }

    #[test]
    fn what_is_known_is_what_the_scripts_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../k6");
        let read = |path: &Path| read_in(&std::fs::read_to_string(path).unwrap());
        let shared: BTreeSet<String> = std::fs::read_dir(folder.join("lib"))
            .unwrap()
            .flat_map(|file| read(&file.unwrap().path()))
            .filter(|name| !OWN.iter().any(|(own, _)| own == name))
            .collect();
        for scenario in SCENARIOS {
            let mut names = read(&folder.join(format!("{scenario}.js")));
            names.extend(shared.iter().cloned());
            assert_eq!(names, known(scenario).map(str::to_owned).collect(), "{scenario}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_are_known() {
        let refused = |scenario: &str, name: &str| {
            check(scenario, &[(name.to_owned(), "1".to_owned())]).unwrap_err().to_string()
        };
        let said = refused("burst", "RTAE");
        assert!(said.contains("RTAE") && said.contains("RATE, VUS") && said.contains("SECONDS"), "{said}");
        assert!(refused("soak", "SECONDS").contains("DURATION"));
        assert!(refused("burst", "DURATION").contains("SECONDS"));
        assert!(refused("ramp", "TRACE").contains("--trace"));
        assert!(check("soak", &[("CANCELS".to_owned(), "0".to_owned())]).is_ok());
    }

    #[test]
    fn help_of_each_scenario_says_everything_about_its_options() {
        let mut command = Scenario::augment_subcommands(clap::Command::new("load"));
        for scenario in SCENARIOS {
            let help = command.find_subcommand_mut(scenario).unwrap().render_long_help().to_string();
            // As one line: where lines are broken is of no account.
            let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
            for said in ["cargo xtask up", "left running", "target/load", "Exit code: 0", "--trace <FILE>"] {
                assert!(help.contains(said), "{scenario} does not say {said}: {help}");
            }
            for name in known(scenario) {
                assert!(help.contains(name), "{scenario} does not name {name}: {help}");
            }
        }
    }
}
