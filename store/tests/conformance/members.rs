//! Who runs, and who holds which shard.

use proto::{OwnerId, ShardId};
use store::{Lease, Member, MemberKind, Roster};

use crate::world::{World, until};

crate::on_every_backend!(
    members:
    the_roster_names_matching_servers_in_id_order,
    a_shard_has_one_owner,
    a_released_shard_is_free,
    only_its_owner_releases_a_shard,
    whoever_leaves_is_gone_at_once,
    a_silent_member_loses_its_shards,
    a_late_owner_keeps_what_nobody_took,
);

pub fn matching_server(owner: u128) -> Member {
    Member { owner: OwnerId::from_u128(owner), kind: MemberKind::MatchingServer, connections: 4 }
}

async fn renew(world: &World, owner: u128) -> Roster {
    world.members.renew(&matching_server(owner)).await.unwrap()
}

async fn take(world: &World, owner: u128, limit: u16) -> Vec<ShardId> {
    world.members.take_shards(OwnerId::from_u128(owner), limit).await.unwrap()
}

async fn shards_of(world: &World, reader: u128, owner: u128) -> Vec<ShardId> {
    let leases = renew(world, reader).await.leases;
    leases
        .into_iter()
        .filter(|lease| lease.owner == OwnerId::from_u128(owner))
        .map(|lease| lease.shard)
        .collect()
}

fn shards(ids: std::ops::Range<u16>) -> Vec<ShardId> {
    ids.map(ShardId).collect()
}

pub async fn the_roster_names_matching_servers_in_id_order(world: &World) {
    assert_eq!(renew(world, 7).await.matching_servers, [OwnerId::from_u128(7)]);
    renew(world, 3).await;
    let main_server = Member { owner: OwnerId::from_u128(5), kind: MemberKind::MainServer, connections: 8 };
    let roster = world.members.renew(&main_server).await.unwrap();
    assert_eq!(roster.matching_servers, [3, 7].map(OwnerId::from_u128));
    assert_eq!(renew(world, 7).await, roster, "saying so again adds nobody");
}

pub async fn a_shard_has_one_owner(world: &World) {
    renew(world, 1).await;
    renew(world, 2).await;
    assert_eq!(take(world, 1, 0).await, []);
    let first = take(world, 1, 6).await;
    let second = take(world, 2, 12).await;
    let mut both = [first.clone(), second.clone()].concat();
    both.sort_unstable();
    assert_eq!((first.len(), both), (6, shards(0..12)));
    assert_eq!(take(world, 1, 12).await, [], "none is left");
    let roster = renew(world, 1).await;
    let lease = |shard| {
        let owner = if first.contains(&shard) { 1 } else { 2 };
        Lease { shard, owner: OwnerId::from_u128(owner) }
    };
    assert_eq!(roster.leases, shards(0..12).into_iter().map(lease).collect::<Vec<_>>());
}

pub async fn a_released_shard_is_free(world: &World) {
    renew(world, 1).await;
    take(world, 1, 12).await;
    world.members.release_shards(OwnerId::from_u128(1), &[ShardId(4), ShardId(9)]).await.unwrap();
    assert_eq!(shards_of(world, 1, 1).await.len(), 10);
    assert_eq!(take(world, 2, 12).await, [ShardId(4), ShardId(9)]);
}

pub async fn only_its_owner_releases_a_shard(world: &World) {
    renew(world, 1).await;
    take(world, 1, 12).await;
    world.members.release_shards(OwnerId::from_u128(2), &shards(0..12)).await.unwrap();
    world.members.release_shards(OwnerId::from_u128(1), &[]).await.unwrap();
    assert_eq!(shards_of(world, 1, 1).await, shards(0..12));
}

pub async fn whoever_leaves_is_gone_at_once(world: &World) {
    renew(world, 1).await;
    take(world, 1, 12).await;
    world.members.leave(OwnerId::from_u128(1)).await.unwrap();
    world.members.leave(OwnerId::from_u128(1)).await.unwrap();
    let roster = renew(world, 2).await;
    assert_eq!((roster.matching_servers, roster.leases), (vec![OwnerId::from_u128(2)], vec![]));
    assert_eq!(take(world, 2, 12).await.len(), 12);
}

pub async fn a_silent_member_loses_its_shards(world: &World) {
    renew(world, 1).await;
    take(world, 1, 12).await;
    let alone = Roster { matching_servers: vec![OwnerId::from_u128(2)], leases: vec![] };
    until(async || (renew(world, 2).await == alone).then_some(())).await;
    assert_eq!(take(world, 2, 12).await.len(), 12);
    assert_eq!(shards_of(world, 1, 1).await, [], "what was taken stays taken");
}

pub async fn a_late_owner_keeps_what_nobody_took(world: &World) {
    renew(world, 1).await;
    take(world, 1, 12).await;
    until(async || (renew(world, 2).await.leases.is_empty()).then_some(())).await;
    assert_eq!(take(world, 2, 5).await, shards(0..5));
    assert_eq!(shards_of(world, 1, 1).await, shards(5..12));
}
