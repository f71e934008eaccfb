//! Messages that come late, twice, or as nonsense.

use std::time::Duration;

use proto::{Hint, TicketState, encode, topology};
use service::amqp::{AmqpUrls, Outgoing, Publisher};
use service::lifecycle::Tasks;
use store::Store as _;
use testkit::until;

use crate::phone::Phone;
use crate::world::Cluster;

const DEADLINE: Duration = Duration::from_secs(30);

async fn publish(cluster: &Cluster, messages: Vec<(String, Vec<u8>)>) {
    let tasks = Tasks::new();
    let urls: AmqpUrls = cluster.stack.rabbit.amqp_urls().join(",").parse().unwrap();
    let publisher = Publisher::start(&tasks, &urls, "test");
    for (queue, body) in messages {
        publisher.publish(Outgoing::to_queue(queue, body)).await.unwrap();
    }
    assert!(tasks.stop(DEADLINE).await);
}

#[tokio::test]
async fn a_late_hint_for_a_settled_ticket_pairs_nobody() {
    let cluster = Cluster::start(1, 1).await;
    let phone = |user| Phone { user, port: cluster.mains[0].port };
    let (ana, bo) = (phone("ana"), phone("bo"));
    let anas = ana.press_match("kr.seoul", &["jazz"]).await.ticket();
    let pool = cluster.store.pool_tickets(&[anas.id]).await.unwrap();
    let shard = cluster.store.rules().shard_of(&anas.region);
    assert_eq!(ana.cancel(&anas).await.ticket().state, TicketState::Cancelled);
    // As one that was delayed by the broker, twice, after the ticket was withdrawn.
    let late = encode(&Hint { shard, waiting: pool, withdrawn: Vec::new() });
    let queue = topology::shard_queue(shard);
    publish(&cluster, vec![(queue.clone(), late.clone()), (queue, late)]).await;
    let bos = bo.press_match("kr.seoul", &["jazz"]).await.ticket();
    let cem = phone("cem");
    let cems = cem.press_match("kr.seoul", &["jazz"]).await.ticket();
    let matched = bo.wait_for(&bos, 20).await.r#match.expect("bo is matched");
    assert_eq!(matched.partner.user.as_str(), "cem", "and not with a ticket that was cancelled");
    assert_eq!(cem.wait_for(&cems, 20).await.r#match.map(|made| made.id), Some(matched.id));
    let kept = &cluster.store.tickets(&[anas.id]).await.unwrap()[0].ticket;
    assert_eq!((kept.state, &kept.r#match), (TicketState::Cancelled, &None));
    cluster.stop().await;
}

#[tokio::test]
async fn an_undecodable_message_is_put_aside_alone_and_its_neighbours_are_heard() {
    let cluster = Cluster::start(1, 1).await;
    let dead = async || {
        let depths = cluster.stack.rabbit.queue_depths().await?;
        Ok::<_, anyhow::Error>(depths.get(topology::DEAD_QUEUE).map_or(0, |depth| depth.ready))
    };
    let before = dead().await.unwrap();
    let shard = cluster.store.rules().shard_of(&"kr.seoul".parse().unwrap());
    let queue = topology::shard_queue(shard);
    let elsewhere = encode(&Hint { shard: proto::ShardId(11), waiting: Vec::new(), withdrawn: Vec::new() });
    let nonsense = [b"\xff\x00 no message".to_vec(), elsewhere];
    publish(&cluster, nonsense.into_iter().map(|body| (queue.clone(), body)).collect()).await;
    let phone = |user| Phone { user, port: cluster.mains[0].port };
    let (ana, bo) = (phone("ana"), phone("bo"));
    let anas = ana.press_match("kr.seoul", &["jazz"]).await.ticket();
    bo.press_match("kr.seoul", &["jazz"]).await;
    assert_eq!(ana.wait_for(&anas, 20).await.state, TicketState::Matched);
    until("both were put aside", DEADLINE, async || Ok(dead().await? == before + 2)).await.unwrap();
    cluster.stop().await;
}
