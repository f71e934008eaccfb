//! Two servers that settle at once put a ticket into one match.

use std::collections::HashMap;

use proto::{MatchId, TicketId, TicketState};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use store::{Proposal, Settlement, Store};

use crate::servers::Servers;
use crate::world::matched;

#[tokio::test]
async fn two_proposals_that_share_a_ticket_in_one_batch() {
    let servers = Servers::start().await;
    let [ana, bo, cy] = servers.press_match(["ana", "bo", "cy"]).await;
    let batch = [servers.propose(ana, bo), servers.propose(cy, bo)];
    let answers = servers.one.settle(&batch).await.unwrap();
    assert!(matched(&answers[0]));
    assert_eq!(answers[1], Settlement::Gone { a: false, b: true });
    assert_eq!(servers.ticket(cy).await.state, TicketState::Waiting);
    assert_eq!(servers.count("SELECT count(*) FROM match_participants").await, 2);
    assert_eq!(servers.count("SELECT count(*) FROM matches").await, 1);
}

const ROUNDS: usize = 40;
const TICKETS: usize = 12;
const PROPOSALS: usize = 8;

/// Proposals among some tickets, as two owners of one shard might make them.
fn proposals(servers: &Servers, tickets: &[TicketId], random: &mut ChaCha8Rng) -> Vec<Proposal> {
    let mut pick = || tickets[random.random_range(0..tickets.len())];
    let mut batch = Vec::new();
    while batch.len() < PROPOSALS {
        let (a, b) = (pick(), pick());
        if a != b {
            batch.push(servers.propose(a, b));
        }
    }
    batch
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_settling_overlapping_proposals_at_once() {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let servers = Servers::start().await;
    for round in 0..ROUNDS {
        let names: [String; TICKETS] = std::array::from_fn(|n| format!("u{round}-{n}"));
        let tickets = servers.press_match(names.each_ref().map(String::as_str)).await;
        let batches: [Vec<Proposal>; 4] = std::array::from_fn(|_| proposals(&servers, &tickets, &mut random));
        let answers = tokio::join!(
            servers.one.settle(&batches[0]),
            servers.two.settle(&batches[1]),
            servers.one.settle(&batches[2]),
            servers.two.settle(&batches[3]),
        );
        let answers = [answers.0, answers.1, answers.2, answers.3].map(Result::unwrap);
        check_round(&servers, &batches, &answers).await;
    }
}

/// What each server said is what is there: both tickets of a match are in it, and in no other.
async fn check_round(servers: &Servers, batches: &[Vec<Proposal>], answers: &[Vec<Settlement>]) {
    let mut match_of: HashMap<TicketId, MatchId> = HashMap::new();
    for (proposal, answer) in batches.iter().flatten().zip(answers.iter().flatten()) {
        if !matched(answer) {
            assert!(matches!(answer, Settlement::Gone { .. }), "{answer:?}");
            continue;
        }
        for ticket in [proposal.a, proposal.b] {
            assert_eq!(match_of.insert(ticket, proposal.match_id), None, "{ticket} is in two matches");
        }
    }
    assert!(!match_of.is_empty(), "somebody was matched");
    let everybody: Vec<TicketId> = batches.iter().flatten().flat_map(|pair| [pair.a, pair.b]).collect();
    for owned in servers.one.tickets(&everybody).await.unwrap() {
        let made = owned.ticket.r#match.map(|made| made.id);
        assert_eq!(made, match_of.get(&owned.ticket.id).copied(), "{}", owned.ticket.id);
    }
}
