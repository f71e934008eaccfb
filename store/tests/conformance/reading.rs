//! What users and engines read back.

use proto::{ShardId, TicketId, TicketState};
use store::MatchCursor;

use crate::world::{World, until, user};

crate::on_every_backend!(
    reading:
    current_is_the_waiting_ticket_else_the_last_settled,
    matches_are_paged_newest_first,
    a_match_is_its_two_peoples_business,
    an_engine_reads_what_waits_in_its_shard,
    loads_count_what_waits,
    unknown_ids_are_left_out,
    settled_tickets_leave_out_what_waits,
);

pub async fn current_is_the_waiting_ticket_else_the_last_settled(world: &World) {
    assert_eq!(world.store.current_ticket(&user("ana")).await.unwrap(), None);
    let first = world.press_match("ana", &["a"]).await;
    assert_eq!(world.store.current_ticket(&user("ana")).await.unwrap(), Some(first.clone()));
    world.store.cancel(&user("ana"), first.id).await.unwrap();
    let current = world.store.current_ticket(&user("ana")).await.unwrap().unwrap();
    assert_eq!((current.id, current.state), (first.id, TicketState::Cancelled));
    let second = world.press_match("ana", &["b"]).await;
    assert_eq!(world.store.current_ticket(&user("ana")).await.unwrap(), Some(second));
}

pub async fn matches_are_paged_newest_first(world: &World) {
    let mut made = Vec::new();
    for n in 0..5 {
        let ana = world.press_match("ana", &["a"]).await;
        let other = world.press_match(&format!("u{n}"), &["a"]).await;
        world.settle_one(ana.id, other.id).await;
        made.push(world.ticket(ana.id).await.r#match.unwrap());
    }
    // Matches of one millisecond are ordered by id; here ids grow.
    made.reverse();
    let mut read = Vec::new();
    let mut cursor = None;
    loop {
        let page = world.store.matches(&user("ana"), cursor, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        cursor = Some(MatchCursor::from(last));
        read.extend(page);
    }
    assert_eq!(read, made);
    assert_eq!(world.store.matches(&user("nobody"), None, 2).await.unwrap(), []);
}

pub async fn a_match_is_its_two_peoples_business(world: &World) {
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    world.settle_one(ana.id, bo.id).await;
    let id = world.ticket(ana.id).await.r#match.unwrap().id;
    let of = async |name: &str| world.store.match_by_id(&user(name), id).await.unwrap();
    assert_eq!(of("ana").await.unwrap().partner.user, user("bo"));
    assert_eq!(of("bo").await.unwrap().partner.user, user("ana"));
    assert_eq!(of("cy").await, None);
}

pub async fn an_engine_reads_what_waits_in_its_shard(world: &World) {
    let early = world.press_match("early", &["a"]).await;
    until(async || (world.store.now().await.unwrap() > early.created_at).then_some(())).await;
    let wishes: Vec<_> = (0..4).map(|n| world.wish(&format!("u{n}"), "kr.seoul", &["b", "A"])).collect();
    world.store.accept(&wishes).await.unwrap();
    world.accept_one(world.wish("far", "kr.busan", &["a"])).await;
    let shard = world.store.rules().shard_of(&wishes[0].region);
    assert_ne!(shard, world.store.rules().shard_of(&"kr.busan".parse().unwrap()));
    world.store.cancel(&user("u3"), wishes[3].id).await.unwrap();

    let since = async |moment| world.store.waiting_ids(shard, moment).await.unwrap();
    let late: Vec<TicketId> = wishes[..3].iter().map(|wish| wish.id).collect();
    assert_eq!(since(early.created_at.plus(std::time::Duration::from_millis(1))).await, late);
    let all = since(early.created_at).await;
    assert_eq!((all[0], &all[1..]), (early.id, &late[..]));

    let asked: Vec<TicketId> = wishes.iter().map(|wish| wish.id).collect();
    let mut read = world.store.pool_tickets(&asked).await.unwrap();
    read.sort_by_key(|ticket| ticket.id);
    assert_eq!(
        read.iter().map(|ticket| ticket.id).collect::<Vec<_>>(),
        late,
        "the cancelled one is left out"
    );
    assert_eq!(read[0].interests.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(read[0].user, user("u0"));
}

pub async fn loads_count_what_waits(world: &World) {
    assert_eq!(world.store.waiting_by_shard().await.unwrap(), []);
    let wishes: Vec<_> = (0..3).map(|n| world.wish(&format!("u{n}"), "kr.seoul", &["a"])).collect();
    world.store.accept(&wishes).await.unwrap();
    world.accept_one(world.wish("far", "kr.busan", &["a"])).await;
    let mut loads = world.store.waiting_by_shard().await.unwrap();
    loads.sort_by_key(|load| load.waiting);
    assert_eq!(loads.iter().map(|load| load.waiting).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(loads[1].shard, world.store.rules().shard_of(&wishes[0].region));
    assert_ne!(loads[0].shard, ShardId(u16::MAX));
}

pub async fn unknown_ids_are_left_out(world: &World) {
    let ana = world.press_match("ana", &["a"]).await;
    let read = world.store.tickets(&[TicketId::from_u128(9_999), ana.id]).await.unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!((read[0].ticket.clone(), read[0].user.clone()), (ana, user("ana")));
    assert_eq!(world.store.tickets(&[]).await.unwrap(), []);
}

pub async fn settled_tickets_leave_out_what_waits(world: &World) {
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    let (cy, di) = (world.press_match("cy", &["a"]).await, world.press_match("di", &["a"]).await);
    world.settle_one(ana.id, bo.id).await;
    world.store.cancel(&user("cy"), cy.id).await.unwrap();
    let mut settled = world.store.settled_tickets(&[ana.id, bo.id, cy.id, di.id]).await.unwrap();
    settled.sort_by_key(|owned| owned.ticket.id);
    assert_eq!(settled.iter().map(|owned| owned.ticket.id).collect::<Vec<_>>(), [ana.id, bo.id, cy.id]);
    assert_eq!(settled[0].ticket, world.ticket(ana.id).await);
}
