//! A bare axum server that answers the API's requests with nothing behind them: no store, no engine, no checks, no
//! metrics. What it costs is what axum costs; `cargo xtask load` measures a Dovetail server against it.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use clap::Parser;
use proto::{InterestSet, Match, MatchId, Partner, Region, Ticket, TicketId, TicketState, Timestamp, UserId};
use serde::Deserialize;

/// A bare axum server that answers POST and GET of tickets at once, with nothing behind them.
#[derive(Parser)]
struct Args {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// How long a GET is held before it is answered, as a long poll is: the same phones then hold as many connections
    #[arg(long, default_value = "0s", value_parser = humantime::parse_duration)]
    hold: Duration,
}

#[derive(Deserialize)]
struct Wish {
    region: Region,
    interests: InterestSet,
}

fn ticket(region: Region, interests: InterestSet, r#match: Option<Match>) -> Ticket {
    let state = if r#match.is_some() { TicketState::Matched } else { TicketState::Waiting };
    Ticket {
        id: service::ids::new_ticket_id(),
        state,
        region,
        interests,
        created_at: Timestamp::from_millis(1_800_000_000_000),
        expires_at: Timestamp::from_millis(1_800_000_060_000),
        r#match,
    }
}

async fn create(headers: HeaderMap, Json(wish): Json<Wish>) -> impl IntoResponse {
    let known =
        headers.get(header::AUTHORIZATION).is_some_and(|value| value.as_bytes().starts_with(b"Bearer dev."));
    let ticket = ticket(wish.region, wish.interests, None);
    let status = if known { StatusCode::CREATED } else { StatusCode::UNAUTHORIZED };
    (status, [(header::LOCATION, format!("/v1/tickets/{}", ticket.id))], Json(ticket))
}

async fn read(State(hold): State<Duration>, Path(id): Path<TicketId>) -> impl IntoResponse {
    if !hold.is_zero() {
        tokio::time::sleep(hold).await;
    }
    let region: Region = "kr.gyeonggi".parse().expect("a region");
    let interests = InterestSet::new(&["dance", "electro", "pop", "rap-hip-hop", "rock"]).expect("interests");
    let matched = Match {
        id: MatchId::from_u128(id.as_u128()),
        partner: Partner { user: UserId::new("0123456789hu42186").expect("a user id") },
        shared_interests: vec!["dance".to_owned(), "pop".to_owned(), "rock".to_owned()],
        similarity: 0.6,
        region: region.clone(),
        made_at: Timestamp::from_millis(1_800_000_000_700),
    };
    Json(Ticket { id, ..ticket(region, interests, Some(matched)) })
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let args = Args::parse();
    let listener = service::http::bind("--listen", args.listen).map_err(std::io::Error::other)?;
    let address = listener.local_addr()?;
    #[allow(clippy::print_stdout, reason = "whoever starts it reads where it is")]
    {
        println!("bare axum listens on http://{address}");
    }
    let router = Router::new()
        .route("/v1/tickets", post(create))
        .route("/v1/tickets/{id}", get(read))
        .with_state(args.hold);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await
}
