//! Waiting until every shard has an owner, and the owners have fair shares.

use std::time::Duration;

use anyhow::Context as _;
use testkit::http::{get, metric_sum};
use testkit::{shard_count, until};

use super::Kind;
use super::state::State;

/// How long the shards may take to move: a lease lasts seconds, also that of a server that was killed.
const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until every shard has an owner and no matching server holds two more than another.
pub(super) async fn until_shared(state: &State) -> anyhow::Result<()> {
    let admin_ports: Vec<u16> = state.of_kind(Kind::MatchingServer).map(|server| server.admin_port).collect();
    if admin_ports.is_empty() {
        println!("no matching server runs: tickets are accepted and wait");
        return Ok(());
    }
    let mut owned = Vec::new();
    let is_shared = async || {
        let mut shares = Vec::new();
        for port in &admin_ports {
            let (_, metrics) = get(*port, "/metrics").await?;
            let owned = metric_sum(&metrics, "dovetail_shards_owned");
            let unowned = metric_sum(&metrics, "dovetail_shards_unowned");
            shares.push(owned.zip(unowned));
        }
        Ok(are_fair(&shares))
    };
    until("every shard has an owner", DEADLINE, is_shared).await?;
    for port in &admin_ports {
        let (_, metrics) = get(*port, "/metrics").await?;
        owned.push(
            metric_sum(&metrics, "dovetail_shards_owned").context("no dovetail_shards_owned")?.to_string(),
        );
    }
    println!("the matching servers own {} shards", owned.join(" + "));
    Ok(())
}

/// Of each matching server how many shards it owns, and how many it thinks that nobody owns; `None` while it does not say.
fn are_fair(shares: &[Option<(f64, f64)>]) -> bool {
    let Some(shares) = shares.iter().copied().collect::<Option<Vec<_>>>() else { return false };
    let least = shares.iter().map(|(owned, _)| *owned).fold(f64::INFINITY, f64::min);
    let most = shares.iter().map(|(owned, _)| *owned).fold(0.0, f64::max);
    // What a server says of shards that nobody owns is up to two seconds old: just after an owner has left it knows of none.
    let owned: f64 = shares.iter().map(|(owned, _)| *owned).sum();
    let all_is_owned = (owned - f64::from(shard_count())).abs() < 0.5;
    all_is_owned && shares.iter().all(|(_, unowned)| *unowned == 0.0) && most - least < 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair_when_all_is_owned_and_none_has_two_more() {
        assert!(are_fair(&[Some((6.0, 0.0)), Some((6.0, 0.0))]));
        assert!(are_fair(&[Some((4.0, 0.0)), Some((4.0, 0.0)), Some((4.0, 0.0))]));
        assert!(are_fair(&[
            Some((3.0, 0.0)),
            Some((2.0, 0.0)),
            Some((2.0, 0.0)),
            Some((3.0, 0.0)),
            Some((2.0, 0.0))
        ]));
        assert!(!are_fair(&[Some((4.0, 0.0))]), "those of a server that has just left are missing");
        assert!(!are_fair(&[Some((7.0, 0.0)), Some((5.0, 0.0))]));
        assert!(!are_fair(&[Some((6.0, 0.0)), Some((5.0, 1.0))]));
        assert!(!are_fair(&[Some((6.0, 0.0)), None]), "one has not said anything yet");
        assert!(!are_fair(&[Some((0.0, 0.0))]));
    }
}
