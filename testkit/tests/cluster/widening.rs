//! Scopes that widen beyond a shard: the ticket is in two pools then, and settles once.

use proto::{TicketState, shard_of};

use crate::phone::Phone;
use crate::world::Cluster;

const POLICY: &str =
    "expire_after = \"40s\"\n[threshold]\nfall = \"500ms\"\n[widen]\nafter = \"6s\"\nmin_labels = 1\n";

#[tokio::test]
async fn a_widened_pair_whose_wide_owner_dies_is_made_by_the_next_owner() {
    let mut cluster = Cluster::start_with(POLICY, 1, 2).await;
    let phone = |user| Phone { user, port: cluster.mains[0].port };
    let (ana, bo) = (phone("ana"), phone("bo"));
    let anas = ana.press_match("kr.seoul", &["jazz"]).await.ticket();
    let bos = bo.press_match("kr.busan", &["jazz"]).await.ticket();
    // Where both will be once they accept all of `kr`.
    let wide = shard_of(&"kr".parse().unwrap(), proto::DEFAULT_SHARD_COUNT);
    let leases = cluster.leases().await;
    let owner = leases.iter().find(|lease| lease.shard == wide).unwrap().owner;
    // Servers are named in logs alone; the one that owns it says so there.
    let place = cluster
        .matching
        .iter()
        .position(|process| std::fs::read_to_string(process.log()).unwrap().contains(&owner.to_string()));
    cluster.matching.remove(place.unwrap()).kill().await.unwrap();
    let matched = ana.wait_for(&anas, 30).await;
    assert_eq!(matched.state, TicketState::Matched, "{matched:?}");
    let made = matched.r#match.unwrap();
    assert_eq!(made.region.as_str(), "kr");
    assert_eq!(bo.wait_for(&bos, 5).await.r#match.map(|other| other.id), Some(made.id));
    cluster.stop().await;
}
