//! The account that a service runs as: Postgres refuses to run as root.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

/// An account of this machine, by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    user: u32,
    group: u32,
}

/// Others may enter a folder.
const OTHERS_MAY_ENTER: u32 = 0o001;

impl Account {
    /// Whom Postgres is to run as; `None` when that is whoever runs this.
    pub(crate) fn for_postgres() -> anyhow::Result<Option<Self>> {
        if !is_root() {
            return Ok(None);
        }
        let accounts = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
        let account = find(&accounts, "postgres").or_else(|| find(&accounts, "nobody"));
        account.map(Some).context("there is no account `postgres` and no `nobody` that Postgres could run as")
    }

    /// Gives a folder to this account.
    pub(crate) fn own(self, folder: &Path) -> anyhow::Result<()> {
        chown(folder, Some(self.user), Some(self.group))
            .with_context(|| format!("cannot give {} away", folder.display()))
    }

    /// A program that will run as this account and can reach `folder`, wherever that lies.
    pub(crate) fn command(self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={}", self.user)).arg(format!("--regid={}", self.group));
        command.arg("--clear-groups");
        if !everybody_reaches(folder) {
            // A repository in root's home, say. The account may pass, and yet is not root.
            command.args(["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]);
        }
        command.arg("--").arg(program);
        command
    }
}

/// Whether this process is root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// An account in the text of /etc/passwd.
fn find(accounts: &str, name: &str) -> Option<Account> {
    let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some(Account { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}

fn everybody_reaches(folder: &Path) -> bool {
    let may_enter =
        |folder: &Path| fs::metadata(folder).is_ok_and(|found| found.mode() & OTHERS_MAY_ENTER != 0);
    folder.ancestors().skip(1).all(may_enter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts =
            "root:x:0:0:root:/:/bin/sh\npostgres2:x:9:9::/:/bin/sh\npostgres:x:101:104:,,,:/var:/bin/sh\n";
        assert_eq!(find(accounts, "postgres"), Some(Account { user: 101, group: 104 }));
        assert_eq!(find(accounts, "nobody"), None);
    }
}
