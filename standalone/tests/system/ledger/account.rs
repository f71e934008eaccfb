//! What one person was told of their tickets.

use std::time::{Duration, Instant};

use hyper::Method;

use crate::http::Reply;
use crate::user::{Match, Ticket, User};
use crate::wait::{PATIENCE, until, within};

/// One ticket that a person was told of.
pub(crate) struct Entry {
    /// As it was answered at first.
    pub(crate) ticket: Ticket,
    /// When it was answered.
    pub(crate) answered_at: Instant,
    /// As it was when it had settled.
    pub(crate) settled: Option<Ticket>,
    /// How long after the answer that was told, to somebody who waited for it.
    pub(crate) told_after: Option<Duration>,
}

/// One person's tickets, in the order in which they were told of them.
pub(crate) struct Account {
    pub(crate) user: User,
    pub(crate) entries: Vec<Entry>,
    /// How many requests had to be sent again.
    pub(crate) retried: usize,
}

/// An account whose tickets have all settled.
pub(crate) struct Reviewed {
    pub(crate) account: Account,
    pub(crate) matches: Vec<Match>,
    /// What was told and is not so any more, or should be so and is not.
    pub(crate) changed: Vec<String>,
}

impl Account {
    pub(crate) fn new(user: User) -> Self {
        Self { user, entries: Vec::new(), retried: 0 }
    }

    /// Sends until there is an answer: again when the connection is lost, once the program runs again.
    pub(crate) async fn send(
        &mut self,
        method: &Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut place = self.user.client().place();
        loop {
            place.mark_unchanged();
            let sent = self.user.try_send(method.clone(), path, headers, body);
            match within(2 * PATIENCE, path, sent).await {
                Ok(reply) => {
                    assert!(!reply.status.is_server_error(), "{method} {path}: {reply:?}");
                    return reply;
                }
                Err(_) => {
                    // A connection is lost only when the program was killed.
                    until("the program runs again", place.changed()).await.unwrap();
                    self.retried += 1;
                }
            }
        }
    }

    /// Notes a ticket that was answered; answers its place.
    pub(crate) fn note(&mut self, ticket: Ticket) -> usize {
        if let Some(known) = self.entries.iter().position(|entry| entry.ticket.id == ticket.id) {
            return known;
        }
        let settled = (ticket.state != "waiting").then(|| ticket.clone());
        self.entries.push(Entry { ticket, answered_at: Instant::now(), settled, told_after: None });
        self.entries.len() - 1
    }

    /// Notes how a ticket settled.
    pub(crate) fn note_settled(&mut self, place: usize, ticket: Ticket) {
        let entry = &mut self.entries[place];
        entry.settled = Some(ticket);
        entry.told_after = Some(entry.answered_at.elapsed());
    }

    /// Waits until a ticket has settled, as a phone does.
    pub(crate) async fn until_settled(&mut self, place: usize) {
        let path = format!("/v1/tickets/{}?wait=10", self.entries[place].ticket.id);
        loop {
            let now: Ticket = self.send(&Method::GET, &path, &[], b"").await.expect(200);
            if now.state != "waiting" {
                return self.note_settled(place, now);
            }
        }
    }

    /// Reads everything again. Those who left look for the first time: what must have settled by now is not waited for.
    pub(crate) async fn review(mut self, settled_within: Duration) -> Reviewed {
        let mut changed = Vec::new();
        for place in 0..self.entries.len() {
            let overdue = self.entries[place].answered_at.elapsed() > settled_within;
            let now = self.user.read(&self.entries[place].ticket.id).await;
            match &self.entries[place].settled {
                Some(settled) if now != *settled => changed.push(format!("told {settled:?}, now {now:?}")),
                Some(_) => {}
                None if now.state != "waiting" => self.entries[place].settled = Some(now),
                None if overdue => changed.push(format!("still not settled: {now:?}")),
                None => self.until_settled(place).await,
            }
        }
        let matches = self.user.matches().await;
        Reviewed { account: self, matches, changed }
    }
}

impl Reviewed {
    /// Everything reads as it did in the review.
    pub(crate) async fn assert_unchanged(&self) {
        let user = &self.account.user;
        for entry in &self.account.entries {
            let now = user.read(&entry.ticket.id).await;
            assert_eq!(Some(now), entry.settled, "a final state changed");
        }
        assert_eq!(user.matches().await, self.matches, "the matches of {} changed", user.name);
    }
}
