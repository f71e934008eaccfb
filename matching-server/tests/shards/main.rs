//! Several matching servers share the shards: by leases in one store, each with its own engines, without a broker.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use matching_engine::Policy;
use matching_server::{Cluster, Deps, start_leased};
use proto::{InterestSet, OwnerId, TicketId, TicketState, UserId};
use service::clock::StoreClock;
use service::ids::{new_owner_id, new_ticket_id};
use service::lifecycle::Tasks;
use store::{Accepted, Member, MemberKind, Members, NewTicket, Rules, SqliteLocation, SqliteStore, Store};

const SHARDS: u16 = 12;
/// Generous: leases live for three seconds.
const DEADLINE: Duration = Duration::from_secs(20);

/// A store that several servers share, and somebody who looks at it.
struct World {
    store: Arc<SqliteStore>,
    clock: Arc<StoreClock>,
    spectator: Member,
}

/// A matching server.
struct Server {
    owner: OwnerId,
    tasks: Tasks,
}

fn member(kind: MemberKind) -> Member {
    Member { owner: new_owner_id(), kind, connections: 1 }
}

impl World {
    async fn new() -> Self {
        let rules = Rules {
            shard_count: SHARDS,
            expire_after: Duration::from_secs(60),
            no_rematch_for: Duration::ZERO,
            same_press_within: Duration::ZERO,
            wide: None,
        };
        let store = Arc::new(SqliteStore::open(&SqliteLocation::Memory, rules).await.unwrap());
        let clock = Arc::new(StoreClock::new(&*store).await.unwrap());
        Self { store, clock, spectator: member(MemberKind::MainServer) }
    }

    fn start_server(&self) -> Server {
        let (tasks, member) = (Tasks::new(), member(MemberKind::MatchingServer));
        let owner = member.owner;
        let deps = Deps {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            policy: Policy::default(),
            wakeups: None,
        };
        let cluster = Cluster { members: self.store.clone(), member, consumers: None, publisher: None };
        start_leased(&tasks, &deps, cluster).unwrap();
        Server { owner, tasks }
    }

    /// How many shards each owner holds.
    async fn shares(&self) -> BTreeMap<OwnerId, usize> {
        let mut shares = BTreeMap::new();
        for lease in self.store.renew(&self.spectator).await.unwrap().leases {
            *shares.entry(lease.owner).or_default() += 1;
        }
        shares
    }

    async fn until_shares_are(&self, wanted: &[(OwnerId, usize)]) {
        let wanted: BTreeMap<OwnerId, usize> = wanted.iter().copied().collect();
        until(|| async { self.shares().await == wanted }).await;
    }

    async fn press_match(&self, name: &str, region: &str) -> TicketId {
        let wish = NewTicket {
            id: new_ticket_id(),
            user: UserId::new(name).unwrap(),
            region: region.parse().unwrap(),
            interests: InterestSet::new(&["jazz"]).unwrap(),
            key: None,
        };
        match self.store.accept(&[wish]).await.unwrap().pop().unwrap() {
            Accepted::Created { ticket, .. } => ticket.id,
            other => panic!("{name} has a ticket already: {other:?}"),
        }
    }

    async fn until_matched(&self, ids: &[TicketId]) {
        until(|| async {
            let tickets = self.store.tickets(ids).await.unwrap();
            tickets.iter().all(|owned| owned.ticket.state == TicketState::Matched)
        })
        .await;
    }

    /// Two people of each of some regions, which together have tickets in every shard.
    async fn press_everywhere(&self, when: &str) -> Vec<TicketId> {
        let mut ids = Vec::new();
        for n in 0..40 {
            for who in ["a", "b"] {
                ids.push(self.press_match(&format!("{who}-{n}-{when}"), &format!("kr.city-{n}")).await);
            }
        }
        ids
    }
}

impl Server {
    async fn stop(self) {
        assert!(self.tasks.stop(DEADLINE).await, "it stops in time");
        assert!(!self.tasks.has_failed());
    }
}

async fn until<F: Future<Output = bool>>(mut holds: impl FnMut() -> F) {
    let waiting = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, waiting).await.expect("it happened in time");
}

#[tokio::test]
async fn one_alone_holds_all_and_newcomers_get_their_exact_share() {
    let world = World::new().await;
    let first = world.start_server();
    world.until_shares_are(&[(first.owner, 12)]).await;
    let second = world.start_server();
    world.until_shares_are(&[(first.owner, 6), (second.owner, 6)]).await;
    let third = world.start_server();
    let fourth = world.start_server();
    let fifth = world.start_server();
    let owners = [first.owner, second.owner, third.owner, fourth.owner, fifth.owner];
    world.until_shares_are(&owners.into_iter().zip([3, 3, 2, 2, 2]).collect::<Vec<_>>()).await;
    for server in [first, second, third, fourth] {
        server.stop().await;
    }
    world.until_shares_are(&[(fifth.owner, 12)]).await;
    fifth.stop().await;
    assert!(world.shares().await.is_empty(), "the last one gave everything back");
}

#[tokio::test]
async fn a_newcomer_that_owns_nothing_yet_matches_nobody_and_disturbs_nobody() {
    let world = World::new().await;
    let first = world.start_server();
    world.until_shares_are(&[(first.owner, 12)]).await;
    let newcomer = world.start_server();
    let tickets = world.press_everywhere("at once").await;
    world.until_matched(&tickets).await;
    world.until_shares_are(&[(first.owner, 6), (newcomer.owner, 6)]).await;
    let tickets = world.press_everywhere("afterwards").await;
    world.until_matched(&tickets).await;
    first.stop().await;
    newcomer.stop().await;
}

#[tokio::test]
async fn who_waits_when_a_shard_is_handed_over_is_found_by_the_next_owner() {
    let world = World::new().await;
    let first = world.start_server();
    world.until_shares_are(&[(first.owner, 12)]).await;
    let mut early = Vec::new();
    for n in 0..40 {
        early.push(world.press_match(&format!("early-{n}"), &format!("kr.city-{n}")).await);
    }
    let second = world.start_server();
    first.stop().await;
    world.until_shares_are(&[(second.owner, 12)]).await;
    for n in 0..40 {
        early.push(world.press_match(&format!("late-{n}"), &format!("kr.city-{n}")).await);
    }
    world.until_matched(&early).await;
    second.stop().await;
}

#[tokio::test]
async fn leases_taken_away_are_noticed_and_leases_of_the_dead_run_out() {
    let world = World::new().await;
    // Says that it runs once and never again.
    let dead = member(MemberKind::MatchingServer);
    world.store.renew(&dead).await.unwrap();
    assert_eq!(world.store.take_shards(dead.owner, SHARDS).await.unwrap().len(), 12);
    let server = world.start_server();
    world.until_shares_are(&[(server.owner, 12)]).await;
    // Somebody else's lease on one of them: as after a long pause of this process.
    let robber = member(MemberKind::MatchingServer);
    world.store.renew(&robber).await.unwrap();
    let robbed = world.store.renew(&world.spectator).await.unwrap().leases[0].shard;
    world.store.release_shards(server.owner, &[robbed]).await.unwrap();
    world.store.take_shards(robber.owner, 1).await.unwrap();
    let tickets = world.press_everywhere("after the robbery").await;
    world.until_matched(&tickets).await;
    server.stop().await;
}
