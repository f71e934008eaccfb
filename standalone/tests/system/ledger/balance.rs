//! Whether the accounts balance.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::account::{Entry, Reviewed};
use crate::user::{Match, Ticket};

/// How many tickets came to which end.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) told: usize,
    pub(crate) matched: usize,
    pub(crate) cancelled: usize,
    pub(crate) expired: usize,
    pub(crate) matches: usize,
    pub(crate) retried: usize,
    pub(crate) slowest: Duration,
}

/// What the accounts come to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) totals: Totals,
    pub(crate) violations: Vec<String>,
}

impl Outcome {
    fn check(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(otherwise());
        }
    }
}

/// Holds all accounts against each other. Whoever waited was told of the end `settled_within` the answer.
pub(crate) fn balance(accounts: &[Reviewed], settled_within: Duration) -> Outcome {
    let mut outcome = Outcome::default();
    for reviewed in accounts {
        outcome.violations.extend(reviewed.changed.iter().cloned());
        outcome.totals.retried += reviewed.account.retried;
        for entry in &reviewed.account.entries {
            check_ticket(&mut outcome, entry, &reviewed.matches, settled_within);
        }
        check_person(&mut outcome, reviewed);
    }
    check_both_sides(&mut outcome, accounts);
    outcome
}

/// It settled in time, and a match of it is one that its user has.
fn check_ticket(outcome: &mut Outcome, entry: &Entry, matches: &[Match], settled_within: Duration) {
    outcome.totals.told += 1;
    // The review has named those without an end.
    let Some(settled) = &entry.settled else { return };
    let told_after = entry.told_after.unwrap_or_default();
    outcome.totals.slowest = outcome.totals.slowest.max(told_after);
    outcome.check(told_after <= settled_within, || format!("told after {told_after:?}: {settled:?}"));
    match settled.state.as_str() {
        "matched" => outcome.totals.matched += 1,
        "cancelled" => outcome.totals.cancelled += 1,
        "expired" => outcome.totals.expired += 1,
        _ => outcome.check(false, || format!("never settled: {settled:?}")),
    }
    outcome.check((settled.state == "matched") == settled.r#match.is_some(), || format!("{settled:?}"));
    let Some(made) = &settled.r#match else { return };
    outcome.check(matches.contains(made), || format!("told, but not among the matches: {made:?}"));
    outcome.check(made.made_at <= settled.expires_at, || format!("past the deadline: {settled:?}"));
    outcome.check(!made.shared_interests.is_empty(), || format!("nothing in common: {settled:?}"));
    outcome.check(settled.region.starts_with(&made.region), || format!("elsewhere: {settled:?}"));
}

/// One waiting ticket at a time, a match a ticket, nobody twice, never themselves.
fn check_person(outcome: &mut Outcome, reviewed: &Reviewed) {
    let (name, matches) = (&reviewed.account.user.name, &reviewed.matches);
    let mut tickets: Vec<&Ticket> =
        reviewed.account.entries.iter().filter_map(|entry| entry.settled.as_ref()).collect();
    tickets.sort_by_key(|ticket| ticket.created_at);
    for pair in tickets.windows(2) {
        let left_at = pair[0].r#match.as_ref().map_or(pair[0].expires_at, |made| made.made_at);
        let one_by_one = pair[0].state == "cancelled" || left_at <= pair[1].created_at;
        outcome.check(one_by_one, || format!("{name} waited twice at once: {pair:?}"));
    }
    let told: Vec<&str> =
        tickets.iter().filter_map(|ticket| Some(ticket.r#match.as_ref()?.id.as_str())).collect();
    let different: HashSet<_> = told.iter().collect();
    outcome
        .check(different.len() == told.len(), || format!("{name} has one match for two tickets: {told:?}"));
    let partners: HashSet<_> = matches.iter().map(|made| &made.partner.user).collect();
    outcome.check(partners.len() == matches.len(), || format!("{name} met somebody twice: {matches:?}"));
    outcome.check(!partners.contains(name), || format!("{name} met themselves: {matches:?}"));
}

/// Every match is had by exactly two, who are each other's partner.
fn check_both_sides(outcome: &mut Outcome, accounts: &[Reviewed]) {
    let mut sides: HashMap<&str, Vec<(&str, &Match)>> = HashMap::new();
    for reviewed in accounts {
        for made in &reviewed.matches {
            sides.entry(&made.id).or_default().push((&reviewed.account.user.name, made));
        }
    }
    outcome.totals.matches = sides.len();
    for (id, sides) in sides {
        let [(a, of_a), (b, of_b)] = sides.as_slice() else {
            outcome.check(false, || format!("match {id} is not had by two: {sides:?}"));
            continue;
        };
        let crossed = of_a.partner.user == *b && of_b.partner.user == *a;
        let same = of_a.made_at == of_b.made_at && of_a.shared_interests == of_b.shared_interests;
        outcome.check(crossed && same, || format!("match {id} differs: {sides:?}"));
    }
}
