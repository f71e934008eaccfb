//! How many shards each matching server holds.

use proto::OwnerId;

/// The share of one of the running servers, all of them in id order: as many shards as there are for each, one more for
/// the first ones while some are left over. 0 for one who is not among them.
pub(crate) fn fair_share(running: &[OwnerId], owner: OwnerId, shards: u16) -> usize {
    let shards = usize::from(shards);
    let Some(place) = running.iter().position(|other| *other == owner) else { return 0 };
    shards / running.len() + usize::from(place < shards % running.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_differ_by_one_at_most_and_use_up_all_shards() {
        for count in 1..=20 {
            let running: Vec<OwnerId> = (0..count).map(OwnerId::from_u128).collect();
            for shards in 1..=40 {
                let shares: Vec<usize> =
                    running.iter().map(|owner| fair_share(&running, *owner, shards)).collect();
                assert_eq!(shares.iter().sum::<usize>(), usize::from(shards));
                assert!(shares.is_sorted_by(|a, b| a >= b) && shares[0] - shares[shares.len() - 1] <= 1);
            }
        }
    }

    #[test]
    fn a_stranger_has_no_share() {
        assert_eq!(fair_share(&[OwnerId::from_u128(1)], OwnerId::from_u128(2), 12), 0);
    }
}
