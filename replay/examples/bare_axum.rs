//! A bare axum server that answers the API's requests with nothing behind them: no store, no engine, no checks, no
//! metrics. What it costs is what axum costs; `cargo xtask load` measures a Dovetail server against it.
//!
//! It does what no server of this API can leave out: headers, path and JSON read, JSON of the same shape and size
//! written, on the same runtime. Interests are plain text here: reading more into them is Dovetail's own work.

use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use clap::Parser;
use proto::TicketId;
use serde::{Deserialize, Serialize};

/// A bare axum server that answers POST and GET of tickets at once, with nothing behind them.
#[derive(Parser)]
struct Args {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "IP:PORT")]
    listen: SocketAddr,
    /// How long a GET is held before it is answered, as a long poll is: the same phones then hold as many connections
    #[arg(long, default_value = "0s", value_parser = humantime::parse_duration, value_name = "TIME")]
    hold: Duration,
}

#[derive(Deserialize)]
struct Wish {
    region: String,
    interests: Vec<String>,
}

/// Holds the members of [`proto::Ticket`], in its order.
#[derive(Serialize)]
struct Ticket {
    id: TicketId,
    state: &'static str,
    region: String,
    interests: Vec<String>,
    created_at: &'static str,
    expires_at: &'static str,
    r#match: Option<Match>,
}

/// Holds the members of [`proto::Match`], in its order.
#[derive(Serialize)]
struct Match {
    id: TicketId,
    partner: Partner,
    shared_interests: [&'static str; 3],
    similarity: f64,
    region: &'static str,
    made_at: &'static str,
}

#[derive(Serialize)]
struct Partner {
    user: &'static str,
}

const CREATED_AT: &str = "2027-01-15T08:00:00.123Z";
const EXPIRES_AT: &str = "2027-01-15T08:01:00.123Z";
const MADE_AT: &str = "2027-01-15T08:00:00.876Z";
/// As many interests as the mean ticket of the traces has.
const INTERESTS: [&str; 6] = ["dance", "electro", "pop", "rap-hip-hop", "rock", "singer-songwriter"];

static TICKETS: AtomicU64 = AtomicU64::new(1);

fn is_known(headers: &HeaderMap) -> bool {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.strip_prefix("Bearer dev.")).is_some_and(|user| !user.is_empty())
}

async fn create_ticket(headers: HeaderMap, Json(wish): Json<Wish>) -> Response {
    if !is_known(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let ticket = Ticket {
        id: TicketId::from_u128(u128::from(TICKETS.fetch_add(1, Ordering::Relaxed))),
        state: "waiting",
        region: wish.region,
        interests: wish.interests,
        created_at: CREATED_AT,
        expires_at: EXPIRES_AT,
        r#match: None,
    };
    let location = format!("/v1/tickets/{}", ticket.id);
    (StatusCode::CREATED, [(header::LOCATION, location)], Json(ticket)).into_response()
}

async fn read_ticket(State(hold): State<Duration>, headers: HeaderMap, Path(id): Path<TicketId>) -> Response {
    if !is_known(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if !hold.is_zero() {
        tokio::time::sleep(hold).await;
    }
    let matched = Match {
        id,
        partner: Partner { user: "r0123abcd-hu42186" },
        shared_interests: ["dance", "pop", "rock"],
        similarity: 0.428_571_428_571_428_55,
        region: "kr.gyeonggi",
        made_at: MADE_AT,
    };
    let ticket = Ticket {
        id,
        state: "matched",
        region: "kr.gyeonggi".to_owned(),
        interests: INTERESTS.map(str::to_owned).into(),
        created_at: CREATED_AT,
        expires_at: EXPIRES_AT,
        r#match: Some(matched),
    };
    Json(ticket).into_response()
}

fn main() -> std::io::Result<()> {
    let args = Args::parse();
    // As many threads as `standalone` has for HTTP: more would only cost this server more.
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get).saturating_sub(1).max(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    runtime.block_on(serve(&args))
}

async fn serve(args: &Args) -> std::io::Result<()> {
    service::http::raise_open_files();
    let listener = service::http::bind("--listen", args.listen).map_err(std::io::Error::other)?;
    #[allow(clippy::print_stdout, reason = "whoever starts it reads where it is")]
    {
        println!("bare axum listens on http://{}", listener.local_addr()?);
    }
    let router = Router::new()
        .route("/v1/tickets", post(create_ticket))
        .route("/v1/tickets/{id}", get(read_ticket))
        .with_state(args.hold);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await
}
