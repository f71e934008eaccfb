//! One user's phone: posts a ticket at its moment, then long-polls it until its state is final.
//!
//! It never gives up on a ticket that it has: only the end of the run stops it.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{Method, StatusCode};
use proto::{MatchId, Problem, ProblemType, TicketId, TicketState};
use serde::Deserialize;
use serde_json::json;
use service::backoff::Backoff;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::outcome::{Ending, Posted, Seen};
use crate::server::Server;
use crate::token::Tokens;
use crate::trace::Trace;
use crate::wire::{Answer, Call, Lost, Wire};

/// What all phones of a run share.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) trace: Trace,
    /// Whether request `n` shares its user with another request.
    pub(crate) shares_user: Vec<bool>,
    pub(crate) servers: Vec<Server>,
    pub(crate) wire: Wire,
    /// Before each user id, so that this run's people are nobody else's.
    pub(crate) prefix: String,
    /// How each phone says who its user is.
    pub(crate) tokens: Tokens,
    pub(crate) idempotency_keys: bool,
}

/// How often a ticket is posted at most. With the pauses between it takes 4 to 8 s of refused connections.
const MAX_POSTS: u32 = 8;
/// How many wrong answers a phone takes before it leaves its ticket unsettled.
const MAX_WRONG_ANSWERS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A longer `Retry-After` is cut to this.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(10);
const POST_WITHIN: Duration = Duration::from_secs(15);
/// The server answers a poll within 25 s; the rest is for a slow network.
const POLL_WITHIN: Duration = Duration::from_secs(35);
const POLL_QUERY: &str = "?wait=25";
/// A server that answers polls at once is not asked more often than this.
const POLL_EVERY: Duration = Duration::from_millis(250);

/// Lives one request's life until its state is final or `stop` is cancelled.
pub(crate) async fn live(stage: &Stage, n: usize, scheduled: Instant, stop: &CancellationToken) -> Seen {
    let mut phone = Phone { stage, n, scheduled, asks: n, seen: Seen::default() };
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = phone.press_match() => {}
    }
    phone.seen
}

struct Phone<'s> {
    stage: &'s Stage,
    n: usize,
    scheduled: Instant,
    /// The server that it asks, counted round and round.
    asks: usize,
    seen: Seen,
}

/// A ticket as a phone needs it. Other members are not looked at.
#[derive(Deserialize)]
struct TicketAnswer {
    id: TicketId,
    state: TicketState,
    r#match: Option<MatchAnswer>,
}

#[derive(Deserialize)]
struct MatchAnswer {
    id: MatchId,
    partner: PartnerAnswer,
}

#[derive(Deserialize)]
struct PartnerAnswer {
    user: Box<str>,
}

/// What an answer to the POST means.
enum Judged {
    Ticket(TicketId),
    Rejected,
    /// The server does not know whether there is a ticket.
    Unknown,
    /// No server should answer this.
    Wrong(String),
}

impl Phone<'_> {
    async fn press_match(&mut self) {
        let user = format!("{}{}", self.stage.prefix, self.stage.trace.requests()[self.n].user);
        let token = self.stage.tokens.bearer(&user).ok().and_then(|text| HeaderValue::try_from(text).ok());
        // Not every user id fits in a header; that is the trace's fault, and shown.
        let Some(token) = token else {
            return self.give_up("POST user id does not fit in a header");
        };
        if let Some(id) = self.submit(&token).await {
            self.asks += 1;
            self.follow(id, &token).await;
        }
    }

    async fn submit(&mut self, token: &HeaderValue) -> Option<TicketId> {
        let request = &self.stage.trace.requests()[self.n];
        let body = Bytes::from(json!({"region": request.region, "interests": request.interests}).to_string());
        let key = self.stage.idempotency_keys.then(|| format!("{}{}", self.stage.prefix, self.n));
        let mut pauses = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        self.seen.posted = Posted::Unanswered;
        self.seen.send_lag_ms = Some(self.since_scheduled());
        for post in 1..=MAX_POSTS {
            let call = Call {
                method: Method::POST,
                server: self.server(),
                path: "/v1/tickets",
                token,
                idempotency_key: key.as_deref(),
                body: body.clone(),
                within: POST_WITHIN,
            };
            let mut asked_for = None;
            match self.stage.wire.send(call).await {
                Ok(answer) => match self.judge(&answer) {
                    Judged::Ticket(id) => {
                        self.seen.accept_ms = Some(self.since_scheduled());
                        self.seen.posted = Posted::Ticket(id);
                        return Some(id);
                    }
                    Judged::Rejected => {
                        self.seen.posted = Posted::Rejected;
                        return None;
                    }
                    Judged::Unknown => asked_for = answer.retry_after,
                    Judged::Wrong(kind) => {
                        self.give_up(&kind);
                        return None;
                    }
                },
                Err(Lost) => self.asks += 1,
            }
            if post < MAX_POSTS {
                self.pause(&mut pauses, asked_for).await;
            }
        }
        self.give_up("POST no answer");
        None
    }

    fn judge(&self, answer: &Answer) -> Judged {
        let wrong = || Judged::Wrong(format!("POST {}", answer.status.as_u16()));
        match answer.status {
            StatusCode::CREATED | StatusCode::OK => {
                match serde_json::from_slice::<TicketAnswer>(&answer.body) {
                    Ok(ticket) => Judged::Ticket(ticket.id),
                    Err(_) => Judged::Wrong("POST unreadable ticket".to_owned()),
                }
            }
            StatusCode::CONFLICT if self.stage.shares_user[self.n] => {
                let problem = serde_json::from_slice::<Problem>(&answer.body).ok();
                problem
                    .and_then(|problem| problem.ticket)
                    .map_or_else(wrong, |ticket| Judged::Ticket(ticket.id))
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                let problem = serde_json::from_slice::<Problem>(&answer.body);
                let unknown = problem.is_ok_and(|problem| problem.kind == ProblemType::OutcomeUnknown);
                if unknown { Judged::Unknown } else { Judged::Rejected }
            }
            _ => wrong(),
        }
    }

    async fn follow(&mut self, id: TicketId, token: &HeaderValue) {
        let path = format!("/v1/tickets/{id}{POLL_QUERY}");
        let mut pauses = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        let mut wrong_answers = 0;
        while wrong_answers < MAX_WRONG_ANSWERS {
            let asked = Instant::now();
            let call = Call {
                method: Method::GET,
                server: self.server(),
                path: &path,
                token,
                idempotency_key: None,
                body: Bytes::new(),
                within: POLL_WITHIN,
            };
            match self.stage.wire.send(call).await {
                Ok(answer) if answer.status == StatusCode::OK => match self.read(id, &answer) {
                    Some(Ending::Unsettled) => {
                        pauses.reset();
                        tokio::time::sleep_until(asked + POLL_EVERY).await;
                        continue;
                    }
                    Some(ending) => {
                        self.seen.wait_ms = Some(self.since_scheduled());
                        self.seen.ending = ending;
                        return;
                    }
                    None => {
                        wrong_answers += 1;
                        self.seen.errors.push("GET unreadable ticket".to_owned());
                    }
                },
                Ok(Answer {
                    status: StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE,
                    retry_after,
                    ..
                }) => {
                    self.asks += 1;
                    self.pause(&mut pauses, retry_after).await;
                    continue;
                }
                Ok(answer) => {
                    wrong_answers += 1;
                    self.seen.errors.push(format!("GET {}", answer.status.as_u16()));
                }
                Err(Lost) => {}
            }
            self.asks += 1;
            self.pause(&mut pauses, None).await;
        }
    }

    /// The state in an answer, or `None` when it is no answer to this question.
    fn read(&self, id: TicketId, answer: &Answer) -> Option<Ending> {
        let ticket: TicketAnswer = serde_json::from_slice(&answer.body).ok()?;
        if ticket.id != id {
            return None;
        }
        match ticket.state {
            TicketState::Waiting => Some(Ending::Unsettled),
            TicketState::Cancelled => Some(Ending::Cancelled),
            TicketState::Expired => Some(Ending::Expired),
            TicketState::Matched => {
                let MatchAnswer { id, partner } = ticket.r#match?;
                let partner = partner.user.strip_prefix(self.stage.prefix.as_str()).map(Into::into);
                Some(Ending::Matched { match_id: id, partner })
            }
        }
    }

    fn server(&self) -> &Server {
        &self.stage.servers[self.asks % self.stage.servers.len()]
    }

    fn give_up(&mut self, kind: &str) {
        self.seen.posted = Posted::Failed;
        self.seen.errors.push(kind.to_owned());
    }

    /// Waits before the next try: as long as the server asked for, else ever longer and never quite the same.
    async fn pause(&mut self, pauses: &mut Backoff, asked_for: Option<Duration>) {
        self.seen.retries += 1;
        let own = pauses.next_wait().mul_f64(rand::random_range(0.5..1.0));
        tokio::time::sleep(own.max(asked_for.unwrap_or_default().min(LONGEST_RETRY_AFTER))).await;
    }

    fn since_scheduled(&self) -> f64 {
        self.scheduled.elapsed().as_secs_f64() * 1_000.0
    }
}
