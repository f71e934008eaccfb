//! How long to wait before the next try: twice as long each time, up to a limit.

use std::time::Duration;

/// The waits between tries. Doubles from the first to the longest; `reset` after a success.
#[derive(Debug, Clone)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Starts at `first` and stays at `longest` once it is reached.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// The wait before the next try.
    pub fn next_wait(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(self.longest);
        wait
    }

    /// The same, shortened by chance to between half and all of it. For what many processes try again together, such as
    /// connecting to a server that came back.
    pub fn next_jittered(&mut self) -> Duration {
        self.next_wait().mul_f64(rand::random_range(0.5..=1.0))
    }

    /// Starts over.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(350));
        let waits: Vec<_> = (0..4).map(|_| backoff.next_wait().as_millis()).collect();
        assert_eq!(waits, [100, 200, 350, 350]);
        backoff.reset();
        assert_eq!(backoff.next_wait().as_millis(), 100);
    }

    #[test]
    fn chance_only_shortens_and_never_below_half() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_millis(400));
        let mut waits = Vec::new();
        for _ in 0..100 {
            let mut backoff = Backoff::new(first, longest);
            for bound in [100, 200, 400, 400_u128] {
                let wait = backoff.next_jittered();
                assert!((bound / 2..=bound).contains(&wait.as_millis()), "{wait:?} of {bound} ms");
                waits.push(wait);
            }
        }
        waits.sort();
        waits.dedup();
        assert!(waits.len() > 100, "processes spread out");
    }
}
