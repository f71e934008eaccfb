//! The latest tastes of a region, and how many of them are how similar to a given one.
//!
//! Owns a bounded ring of tastes, turned on its side: for each interest, one bit a place in the ring. So a taste is compared
//! with hundreds of others in a few hundred word operations. Nobody may be asked about one by one: that is what made an
//! appraisal slow.

use std::collections::HashMap;

use crate::rule::Similarity;

/// One bit a place in the ring.
type Places = Box<[u64]>;

/// The latest tastes, a bounded number.
#[derive(Debug)]
pub(crate) struct Sample {
    /// By place. Once all are taken, the oldest is at `next`.
    tastes: Vec<Box<[u32]>>,
    next: usize,
    most: usize,
    /// Who holds an interest. The map keeps std's keyed hasher, since strangers choose the interests.
    holders: HashMap<u32, Holders>,
    /// Who has so many interests, the fewest first.
    sizes: Vec<(u32, Places)>,
}

/// Most interests of a stranger's making are held once; they must not cost a bit for everybody.
#[derive(Debug)]
enum Holders {
    One(u16),
    Some(Places),
}

/// Memory that comparisons use again.
#[derive(Debug, Default)]
pub(crate) struct Comparer {
    /// How many interests each place shares, in binary: all lowest digits, then all second digits, and so on.
    digits: Vec<u64>,
    carry: Vec<u64>,
}

impl Sample {
    /// An empty one, for at most so many tastes.
    pub(crate) fn new(most: u16) -> Self {
        Self {
            tastes: Vec::new(),
            next: 0,
            most: usize::from(most),
            holders: HashMap::new(),
            sizes: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tastes.len()
    }

    /// Takes a taste in, each interest once, instead of the oldest one when it is full.
    pub(crate) fn push(&mut self, taste: &[u32]) {
        let place = self.next;
        self.next = (place + 1) % self.most;
        if place < self.tastes.len() {
            self.forget(place);
            // Most often as long as the one before, so that nothing is allocated.
            if self.tastes[place].len() == taste.len() {
                self.tastes[place].copy_from_slice(taste);
            } else {
                self.tastes[place] = taste.into();
            }
        } else {
            self.tastes.push(taste.into());
        }
        let (word, bit) = word_and_bit(place);
        let words = self.words();
        let as_u16 = u16::try_from(place).expect("a sample is counted in u16");
        for &interest in taste {
            let holders = self.holders.entry(interest).or_insert(Holders::One(as_u16));
            match holders {
                Holders::Some(places) => places[word] |= bit,
                &mut Holders::One(first) if first != as_u16 => {
                    let mut places = vec![0; words].into_boxed_slice();
                    let (first_word, first_bit) = word_and_bit(usize::from(first));
                    places[first_word] |= first_bit;
                    places[word] |= bit;
                    *holders = Holders::Some(places);
                }
                Holders::One(_) => {}
            }
        }
        let size = size(taste);
        let at = self.sizes.binary_search_by_key(&size, |(size, _)| *size).unwrap_or_else(|at| {
            self.sizes.insert(at, (size, vec![0; words].into_boxed_slice()));
            at
        });
        self.sizes[at].1[word] |= bit;
    }

    fn forget(&mut self, place: usize) {
        let taste = &self.tastes[place];
        let (word, bit) = word_and_bit(place);
        for interest in taste {
            let nobody = match self.holders.get_mut(interest) {
                Some(Holders::Some(places)) => {
                    places[word] &= !bit;
                    places[word] == 0 && places.iter().all(|&word| word == 0)
                }
                Some(Holders::One(_)) => true,
                None => false,
            };
            if nobody {
                self.holders.remove(interest);
            }
        }
        let size = size(taste);
        if let Ok(at) = self.sizes.binary_search_by_key(&size, |(size, _)| *size) {
            self.sizes[at].1[word] &= !bit;
        }
    }

    fn words(&self) -> usize {
        self.most.div_ceil(64)
    }

    /// Shows how many tastes have which similarity with this one, for similarities above 0, those that share most first, of
    /// these the smallest first. `show` says below which similarity nothing interests it any more.
    pub(crate) fn compare(
        &self,
        taste: &[u32],
        comparer: &mut Comparer,
        mut show: impl FnMut(Similarity, u32) -> f64,
    ) {
        if self.tastes.is_empty() {
            return;
        }
        let words = self.tastes.len().div_ceil(64);
        self.count_shared(taste, comparer, words);
        let size = size(taste);
        let mut least = 0.0;
        for shared in (1..=size).rev() {
            if Similarity::of(shared, size, shared).as_f64() <= least {
                return;
            }
            let sharing = &mut comparer.carry[..words];
            mark_equal(&comparer.digits, shared, sharing);
            let mut left: u32 = sharing.iter().map(|word| word.count_ones()).sum();
            let first = self.sizes.partition_point(|(other, _)| *other < shared);
            for (other, places) in &self.sizes[first..] {
                let similarity = Similarity::of(shared, size, *other);
                if left == 0 || similarity.as_f64() <= least {
                    break;
                }
                let count = sharing.iter().zip(places).map(|(a, b)| (a & b).count_ones()).sum();
                if count > 0 {
                    left -= count;
                    least = show(similarity, count);
                }
            }
        }
    }

    /// Adds up, for all places at once, how many of these interests each holds.
    fn count_shared(&self, taste: &[u32], comparer: &mut Comparer, words: usize) {
        let Comparer { digits, carry } = comparer;
        let most_digits = digits_of(size(taste));
        digits.clear();
        digits.resize(most_digits * words, 0);
        carry.clear();
        carry.resize(words, 0);
        for (interest, added) in taste.iter().zip(1..) {
            match self.holders.get(interest) {
                None => continue,
                Some(Holders::Some(places)) => carry.copy_from_slice(&places[..words]),
                Some(&Holders::One(place)) => {
                    let (word, bit) = word_and_bit(usize::from(place));
                    carry.fill(0);
                    carry[word] = bit;
                }
            }
            for digit in digits.chunks_exact_mut(words).take(digits_of(added)) {
                for (digit, carry) in digit.iter_mut().zip(&mut *carry) {
                    let both = *digit & *carry;
                    *digit ^= *carry;
                    *carry = both;
                }
            }
        }
    }
}

/// Marks the places whose number, of which each has one digit in each row, is this.
fn mark_equal(digits: &[u64], number: u32, marks: &mut [u64]) {
    marks.fill(u64::MAX);
    for (row, digit) in digits.chunks_exact(marks.len().max(1)).enumerate() {
        let flip = if number >> row & 1 == 1 { 0 } else { u64::MAX };
        for (mark, digit) in marks.iter_mut().zip(digit) {
            *mark &= digit ^ flip;
        }
    }
}

/// How many binary digits a number has.
fn digits_of(number: u32) -> usize {
    (u32::BITS - number.leading_zeros()) as usize
}

fn word_and_bit(place: usize) -> (usize, u64) {
    (place / 64, 1 << (place % 64))
}

fn size(taste: &[u32]) -> u32 {
    u32::try_from(taste.len()).expect("an interest set is counted in u32")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::count_shared;
    use std::collections::BTreeMap;

    /// Numbers that look random, always the same.
    fn numbers() -> impl Iterator<Item = u32> {
        std::iter::successors(Some(1_u64), |n| {
            Some(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
        })
        .map(|n| (n >> 33) as u32)
    }

    fn tastes() -> impl Iterator<Item = Vec<u32>> {
        let mut numbers = numbers();
        std::iter::from_fn(move || {
            let count = numbers.next()? % 9;
            // Some are common; one in eight is as good as new.
            let mut taste: Vec<u32> =
                numbers.by_ref().take(count as usize).map(|n| if n % 8 == 0 { n } else { n % 12 }).collect();
            taste.sort_unstable();
            taste.dedup();
            Some(taste)
        })
    }

    #[test]
    fn it_counts_what_comparing_one_by_one_counts() {
        for most in [1, 5, 64, 65, 200] {
            let mut sample = Sample::new(most);
            let mut kept: Vec<Vec<u32>> = Vec::new();
            let mut comparer = Comparer::default();
            for taste in tastes().take(700) {
                let mut expected = BTreeMap::new();
                for other in kept.iter().rev().take(usize::from(most)) {
                    let shared = count_shared(&taste, other);
                    if shared > 0 {
                        *expected
                            .entry((shared, other.len() + taste.len() - shared as usize))
                            .or_default() += 1;
                    }
                }
                let mut counted = BTreeMap::new();
                sample.compare(&taste, &mut comparer, |similarity, count| {
                    let before = counted.insert((similarity.shared, similarity.union as usize), count);
                    assert_eq!(before, None, "shown twice");
                    0.0
                });
                assert_eq!(counted, expected, "{taste:?}");
                sample.push(&taste);
                kept.push(taste);
            }
            let held: std::collections::BTreeSet<_> = sample.tastes.iter().flatten().collect();
            assert_eq!(sample.holders.len(), held.len(), "an interest stayed that nobody holds");
        }
    }

    #[test]
    fn what_is_not_worth_a_look_is_left_out() {
        let mut sample = Sample::new(64);
        for taste in [&[1, 2, 3, 4][..], &[1, 2, 3], &[1, 2], &[1], &[9]] {
            sample.push(taste);
        }
        let mut shown = Vec::new();
        sample.compare(&[1, 2, 3, 4], &mut Comparer::default(), |similarity, count| {
            shown.push((similarity.shared, similarity.union, count));
            0.6
        });
        assert_eq!(shown, [(4, 4, 1), (3, 4, 1)]);
    }
}
