//! A small real server that pairs whoever comes first, and errs where it is told to.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use proto::{MatchId, TicketId};
use serde_json::{Value, json};
use tokio::sync::{Barrier, watch};
use tokio::task::JoinSet;

/// Where the server errs. Users are named as in the trace.
#[derive(Debug, Default)]
pub struct Errs {
    /// These are refused with this status and problem type, each once for every time it is named.
    pub refuse: Vec<(&'static str, u16, &'static str)>,
    /// Commits this user's first ticket, then breaks the connection instead of answering.
    pub lose_answer_to: Option<&'static str>,
    /// Tells this user that the ticket expired, though it was matched.
    pub hide_match_from: Option<&'static str>,
    /// Answers no POST before this many came.
    pub hold_posts_until: Option<usize>,
}

/// A running server.
pub struct Fifo {
    /// Its listeners; all serve the same tickets.
    pub addresses: Vec<SocketAddr>,
    /// What it did.
    pub log: Arc<Mutex<Log>>,
    /// How many calls came that were not refused.
    pub calls: watch::Receiver<usize>,
    _serving: JoinSet<()>,
}

/// What a server did.
#[derive(Debug, Default)]
pub struct Log {
    /// Tickets made, with their users.
    pub made: Vec<(TicketId, String)>,
    /// For each call: listener, method, and the ticket it was about.
    pub calls: Vec<(usize, &'static str, TicketId)>,
    /// The idempotency keys seen.
    pub keys: Vec<String>,
}

struct World {
    errs: Mutex<Errs>,
    barrier: Option<Barrier>,
    log: Arc<Mutex<Log>>,
    calls: watch::Sender<usize>,
    tickets: Mutex<Vec<Ticket>>,
    changed: watch::Sender<()>,
}

struct Ticket {
    user: String,
    body: Value,
    /// The match's number and the partner.
    matched: Option<(u128, String)>,
}

type Shared = (usize, Arc<World>);

impl Fifo {
    pub async fn start(listeners: usize, errs: Errs) -> Self {
        let log = Arc::default();
        let world = Arc::new(World {
            barrier: errs.hold_posts_until.map(Barrier::new),
            errs: Mutex::new(errs),
            log: Arc::clone(&log),
            calls: watch::Sender::new(0),
            tickets: Mutex::default(),
            changed: watch::Sender::new(()),
        });
        let mut addresses = Vec::new();
        let mut serving = JoinSet::new();
        for n in 0..listeners {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            addresses.push(listener.local_addr().unwrap());
            let router = Router::new()
                .route("/v1/tickets", post(submit))
                .route("/v1/tickets/{id}", get(poll))
                .with_state((n, Arc::clone(&world)));
            serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
        }
        Self { addresses, log, calls: world.calls.subscribe(), _serving: serving }
    }
}

/// The caller, with the prefix of the run and without.
fn caller(headers: &HeaderMap) -> (String, String) {
    let token = headers["authorization"].to_str().unwrap();
    let user = token.strip_prefix("Bearer dev.").unwrap();
    let (prefix, name) = user.split_once('-').unwrap();
    assert_eq!((prefix.len(), &prefix[..1]), (9, "r"), "{user} has no prefix");
    (user.to_owned(), name.to_owned())
}

fn problem(status: u16, kind: &str, ticket: Option<Value>) -> Response {
    let mut body = json!({"type": format!("/problems/{kind}"), "title": "", "status": status, "detail": ""});
    if let Some(ticket) = ticket {
        body["ticket"] = ticket;
    }
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

async fn submit(
    State((listener, world)): State<Shared>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let (user, name) = caller(&headers);
    if let Some(barrier) = &world.barrier {
        barrier.wait().await;
    }
    if let Some(key) = headers.get("idempotency-key") {
        world.log.lock().unwrap().keys.push(key.to_str().unwrap().to_owned());
    }
    let refused = {
        let refuse = &mut world.errs.lock().unwrap().refuse;
        refuse.iter().position(|(refused, ..)| *refused == name).map(|at| refuse.remove(at))
    };
    if let Some((_, status, kind)) = refused {
        return problem(status, kind, None);
    }
    let (status, n) = world.take(&user, &body);
    world.note(listener, "POST", id_of(n));
    if world.errs.lock().unwrap().lose_answer_to.take_if(|lost| *lost == name).is_some() {
        let broken = futures::stream::once(async { Err::<String, _>(std::io::Error::other("cut")) });
        return Body::from_stream(broken).into_response();
    }
    let ticket = world.show(n);
    if status == 409 { problem(409, "ticket-exists", Some(ticket)) } else { answer(status, ticket) }
}

async fn poll(
    State((listener, world)): State<Shared>,
    headers: HeaderMap,
    Path(id): Path<TicketId>,
) -> Response {
    let (user, name) = caller(&headers);
    let n = usize::try_from(id.as_u128()).unwrap();
    world.note(listener, "GET", id);
    let mut changed = world.changed.subscribe();
    loop {
        {
            let tickets = world.tickets.lock().unwrap();
            assert_eq!(tickets[n].user, user, "a phone asks for its own ticket");
            if tickets[n].matched.is_some() {
                break;
            }
        }
        changed.changed().await.unwrap();
    }
    let mut ticket = world.show(n);
    if world.errs.lock().unwrap().hide_match_from.is_some_and(|hidden| hidden == name) {
        ticket["state"] = "expired".into();
        ticket["match"] = Value::Null;
    }
    answer(200, ticket)
}

fn answer(status: u16, ticket: Value) -> Response {
    (StatusCode::from_u16(status).unwrap(), Json(ticket)).into_response()
}

fn id_of(n: usize) -> TicketId {
    TicketId::from_u128(n as u128)
}

impl World {
    fn note(&self, listener: usize, method: &'static str, id: TicketId) {
        self.log.lock().unwrap().calls.push((listener, method, id));
        self.calls.send_modify(|calls| *calls += 1);
    }

    /// Makes a ticket and pairs it with one that waits, or finds the one that its user has waiting.
    fn take(&self, user: &str, body: &Value) -> (u16, usize) {
        let mut tickets = self.tickets.lock().unwrap();
        let mut waiting: HashMap<bool, usize> = HashMap::new();
        for (n, ticket) in tickets.iter().enumerate().filter(|(_, ticket)| ticket.matched.is_none()) {
            waiting.entry(ticket.user == user).or_insert(n);
        }
        if let Some(own) = waiting.get(&true) {
            return (if tickets[*own].body == *body { 200 } else { 409 }, *own);
        }
        let n = tickets.len();
        tickets.push(Ticket { user: user.to_owned(), body: body.clone(), matched: None });
        self.log.lock().unwrap().made.push((id_of(n), user.to_owned()));
        if let Some(&other) = waiting.get(&false) {
            let partner = tickets[other].user.clone();
            tickets[n].matched = Some((n as u128, partner));
            tickets[other].matched = Some((n as u128, user.to_owned()));
            self.changed.send_replace(());
        }
        (201, n)
    }

    fn show(&self, n: usize) -> Value {
        let ticket = &self.tickets.lock().unwrap()[n];
        let made = ticket.matched.as_ref().map(|(id, partner)| {
            json!({"id": MatchId::from_u128(*id), "partner": {"user": partner}, "shared_interests": ["lies"],
                "similarity": 1.0, "region": "kr", "made_at": "2026-01-01T00:00:00.000Z"})
        });
        let state = if made.is_some() { "matched" } else { "waiting" };
        json!({"id": id_of(n), "state": state, "region": ticket.body["region"],
            "interests": ticket.body["interests"], "created_at": "2026-01-01T00:00:00.000Z",
            "expires_at": "2026-01-01T00:01:00.000Z", "match": made})
    }
}
