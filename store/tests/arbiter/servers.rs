//! Two servers on one database, and a connection that gets in their way.

use std::sync::atomic::{AtomicU64, Ordering};

use proto::{InterestSet, MatchId, Ticket, TicketId};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use store::{Accepted, NewTicket, PostgresStore, Proposal, Store};

use crate::databases::new_database;
use crate::world::{postgres_config, rules, until, user};

pub struct Servers {
    pub one: PostgresStore,
    pub two: PostgresStore,
    url: String,
    next_id: AtomicU64,
}

impl Servers {
    pub async fn start() -> Self {
        let url = new_database().await;
        let open = async || PostgresStore::open(&postgres_config(&url), rules()).await.unwrap();
        let (one, two) = (open().await, open().await);
        Self { one, two, url, next_id: AtomicU64::new(1) }
    }

    /// A connection of neither server.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    fn next_id(&self) -> u128 {
        self.next_id.fetch_add(1, Ordering::Relaxed).into()
    }

    pub fn wish(&self, name: &str) -> NewTicket {
        NewTicket {
            id: TicketId::from_u128(self.next_id()),
            user: user(name),
            region: "kr.seoul".parse().unwrap(),
            interests: InterestSet::new(&["jazz"]).unwrap(),
            key: None,
        }
    }

    /// The tickets of people who press match at once.
    pub async fn press_match<const N: usize>(&self, names: [&str; N]) -> [TicketId; N] {
        let wishes = names.map(|name| self.wish(name));
        let answers = self.one.accept(&wishes).await.unwrap();
        assert!(answers.iter().all(|answer| matches!(answer, Accepted::Created { .. })), "{answers:?}");
        wishes.map(|wish| wish.id)
    }

    pub fn propose(&self, a: TicketId, b: TicketId) -> Proposal {
        Proposal { match_id: MatchId::from_u128(self.next_id()), a, b }
    }

    pub async fn ticket(&self, id: TicketId) -> Ticket {
        self.one.tickets(&[id]).await.unwrap().pop().expect("the ticket is there").ticket
    }

    /// A number that the database is asked for.
    pub async fn count(&self, question: &str) -> i64 {
        let mut connection = self.connect().await;
        connection.fetch_one(AssertSqlSafe(question.to_owned())).await.unwrap().get(0)
    }

    /// Waits until a statement with these words waits for another transaction's lock.
    pub async fn until_locked_out(&self, words: &str) {
        let mut connection = self.connect().await;
        let question = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
             AND wait_event_type = 'Lock' AND query LIKE '%{words}%' AND pid <> pg_backend_pid()"
        );
        let mut locked_out = async || {
            let row = connection.fetch_one(AssertSqlSafe(question.clone())).await.unwrap();
            row.get::<i64, _>(0) > 0
        };
        // Not `until`: the question borrows the connection.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !locked_out().await {
            assert!(std::time::Instant::now() < deadline, "{words}: nobody waits for a lock");
        }
    }

    /// Asks the database until a number is at least 1.
    pub async fn until_counted(&self, question: &str) {
        until(async || (self.count(question).await > 0).then_some(())).await;
    }
}
