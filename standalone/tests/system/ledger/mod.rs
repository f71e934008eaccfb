//! The ledger: whatever the program goes through, every ticket that was answered settles exactly once, and both
//! people of a match learn the same one.
//!
//! A crowd presses match while the program is killed and started again on the same data. Each person keeps an account
//! of what they were told; afterwards the accounts must balance, with each other and with what is read later.

mod account;
mod balance;
mod person;

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::task::JoinSet;
use tokio::time::interval;

use self::account::{Account, Reviewed};
use self::person::Person;
use crate::app::App;
use crate::wait::within;

/// Put a printed seed here to see its run again (as far as the machine's timing repeats).
const SEED: Option<u64> = None;
const PEOPLE: usize = 1_500;
/// How long they take to come.
const COMING: Duration = Duration::from_secs(4);
const EXPIRE_AFTER: Duration = Duration::from_secs(5);
/// How late a ticket may settle after its deadline.
const LATE: Duration = Duration::from_secs(2);
/// How often it is killed while they come. Once more when all have come, and once more before the last review.
const KILLS: usize = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accounts_balance_though_it_is_killed_under_load() {
    let seed = SEED.unwrap_or_else(rand::random);
    println!("seed: {seed}");
    // Every phone that waits holds a connection.
    rlimit::increase_nofile_limit(u64::MAX).unwrap();
    let mut app = App::with_policy(&format!("expire_after = \"{}s\"", EXPIRE_AFTER.as_secs())).await;

    let (lives, down) = let_them_come(&mut app, seed).await;
    let settled_within = EXPIRE_AFTER + LATE + down;
    let accounts = within(Duration::from_secs(40), "everybody's tickets settle", lives.join_all()).await;
    let reviewed = review(accounts, settled_within).await;
    app.kill();
    app.start_again().await;
    for account in &reviewed {
        account.assert_unchanged().await;
    }

    let outcome = balance::balance(&reviewed, settled_within);
    println!("down for {down:?}; {:?}", outcome.totals);
    assert!(outcome.violations.is_empty(), "seed {seed}:\n{}", outcome.violations.join("\n"));
    let totals = outcome.totals;
    assert!(totals.matched > PEOPLE / 2, "seed {seed}: {totals:?}");
    assert!(totals.cancelled > 0 && totals.expired > 0 && totals.retried > 0, "seed {seed}: {totals:?}");
}

/// People come one after the other; the program is killed at moments that the seed chose. Answers their lives and how
/// long the program was down in all.
async fn let_them_come(app: &mut App, seed: u64) -> (JoinSet<Account>, Duration) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut kills: Vec<usize> = (0..KILLS).map(|_| rng.random_range(PEOPLE / 10..PEOPLE)).collect();
    kills.push(PEOPLE - 1);
    let mut lives = JoinSet::new();
    let mut down = Duration::ZERO;
    let mut pace = interval(COMING / u32::try_from(PEOPLE).unwrap());
    for n in 0..PEOPLE {
        pace.tick().await;
        lives.spawn(Person::new(app.user(&format!("person-{n}")), seed, n).live());
        for _ in kills.iter().filter(|at| **at == n) {
            let start = Instant::now();
            app.kill();
            app.start_again().await;
            down += start.elapsed();
        }
    }
    (lives, down)
}

/// Everybody reads all their tickets and matches once more.
async fn review(accounts: Vec<Account>, settled_within: Duration) -> Vec<Reviewed> {
    let mut reviews = JoinSet::new();
    for account in accounts {
        reviews.spawn(account.review(settled_within));
    }
    within(Duration::from_secs(40), "everybody reviews", reviews.join_all()).await
}
