//! How one person of the crowd behaves. All of it follows from the seed.

use hyper::Method;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::account::Account;
use crate::user::{Ticket, User, wish};

const REGIONS: [&str; 4] = ["kr.seoul", "kr.seoul.gangnam", "kr.busan", "jp.tokyo"];
const TAGS: usize = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Presses once and waits.
    Waits,
    /// Presses on two phones at once, with one key.
    TapsTwice,
    /// Changes their mind at once.
    Cancels,
    /// Presses and never looks again.
    Leaves,
    /// Presses again after the first ticket settled.
    ComesAgain,
}

/// Somebody who wants to be matched.
pub(crate) struct Person {
    account: Account,
    habit: Habit,
    /// Whether presses carry an idempotency key.
    keyed: bool,
    body: String,
}

impl Person {
    pub(crate) fn new(user: User, seed: u64, n: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(n as u64 + 1);
        let habit = match rng.random_range(0..100) {
            0..50 => Habit::Waits,
            50..65 => Habit::TapsTwice,
            65..77 => Habit::Cancels,
            77..87 => Habit::Leaves,
            _ => Habit::ComesAgain,
        };
        let region = match rng.random_range(0..100) {
            0..4 => format!("xx.lonely-{n}"),
            _ => REGIONS[rng.random_range(0..REGIONS.len())].to_owned(),
        };
        let tags: Vec<String> = (0..rng.random_range(1..=4)).map(|_| tag(&mut rng)).collect();
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        let keyed = habit == Habit::TapsTwice || rng.random();
        Self { account: Account::new(user), habit, keyed, body: wish(&region, &tags).to_string() }
    }

    /// Lives through the run and hands over the account.
    pub(crate) async fn live(mut self) -> Account {
        match self.habit {
            Habit::Waits => {
                let ticket = self.press("first").await;
                self.account.until_settled(ticket).await;
            }
            Habit::TapsTwice => {
                let ticket = self.tap_twice().await;
                self.account.until_settled(ticket).await;
            }
            Habit::Cancels => {
                let ticket = self.press("first").await;
                self.cancel(ticket).await;
            }
            Habit::Leaves => {
                self.press("first").await;
            }
            Habit::ComesAgain => {
                for key in ["first", "second"] {
                    let ticket = self.press(key).await;
                    self.account.until_settled(ticket).await;
                }
            }
        }
        self.account
    }

    async fn press(&mut self, key: &str) -> usize {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(self.keyed.then_some(("idempotency-key", key)));
        let reply = self.account.send(&Method::POST, "/v1/tickets", &headers, self.body.as_bytes()).await;
        assert!([200, 201].contains(&reply.status.as_u16()), "{reply:?}");
        self.account.note(reply.parse())
    }

    async fn tap_twice(&mut self) -> usize {
        let mut other_phone = Self {
            account: Account::new(self.account.user.clone()),
            habit: self.habit,
            keyed: self.keyed,
            body: self.body.clone(),
        };
        let (here, there) = tokio::join!(self.press("tap"), other_phone.press("tap"));
        let (here, there) =
            (&self.account.entries[here].ticket.id, &other_phone.account.entries[there].ticket.id);
        assert_eq!(here, there, "one key, one ticket");
        self.account.retried += other_phone.account.retried;
        0
    }

    async fn cancel(&mut self, place: usize) {
        let path = format!("/v1/tickets/{}", self.account.entries[place].ticket.id);
        let reply = self.account.send(&Method::DELETE, &path, &[], b"").await;
        let ticket: Ticket = match reply.status.as_u16() {
            200 => reply.parse(),
            409 => serde_json::from_value(reply.json()["ticket"].clone()).unwrap(),
            _ => panic!("{reply:?}"),
        };
        self.account.note_settled(place, ticket);
    }
}

/// Some tags are liked by many, most by few.
fn tag(rng: &mut ChaCha8Rng) -> String {
    let (a, b) = (rng.random_range(0..TAGS), rng.random_range(0..TAGS));
    format!("tag {}", a * b / TAGS)
}
