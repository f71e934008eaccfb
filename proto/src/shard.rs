//! Shards: which slice of regions a ticket belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Region;

/// How many shards there are unless the store says otherwise. Recorded in the store at first start.
pub const DEFAULT_SHARD_COUNT: u16 = 12;

/// A fixed slice of regions, 0 to shard count - 1. One engine serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShardId(pub u16);

impl fmt::Display for ShardId {
    /// Two digits, as in queue names and metric labels.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}", self.0)
    }
}

/// How many labels of a scope decide its shard.
const SHARD_LABELS: usize = 2;

/// The shard of a region: FNV-1a (64 bit) of its first two labels, modulo the shard count.
///
/// Every process of every version must agree on this, so it never changes; golden values are tested.
///
/// # Panics
/// When `shard_count` is 0.
pub fn shard_of(region: &Region, shard_count: u16) -> ShardId {
    assert!(shard_count > 0, "there is at least one shard");
    // Offset basis and prime: http://www.isthe.com/chongo/tech/comp/fnv/
    let hash = region.prefix(SHARD_LABELS).bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let shard = hash % u64::from(shard_count);
    ShardId(u16::try_from(shard).expect("below a u16"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values() {
        let golden =
            [("kr", 0), ("kr.seoul", 6), ("kr.busan", 3), ("kr.gyeonggi", 9), ("kr.sejong", 6), ("us.ca", 1)];
        for (text, shard) in golden {
            assert_eq!(shard_of(&text.parse().unwrap(), DEFAULT_SHARD_COUNT), ShardId(shard), "{text}");
        }
    }

    #[test]
    fn only_the_first_two_labels_count() {
        let at = |text: &str| shard_of(&text.parse().unwrap(), 97);
        assert_eq!(at("kr.seoul"), at("kr.seoul.gangnam.yeoksam"));
        assert_ne!(at("kr.seoul"), at("kr.busan"));
    }
}
