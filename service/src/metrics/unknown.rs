//! What is no longer known is not shown.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

/// The value of a gauge of which nothing is known: the page leaves such a gauge out.
///
/// A gauge keeps its last value for ever. Of a store that is away, or a shard that another server serves by now, that would
/// be a lie; and 0 would be one that looks like good news. Of a series that is not on the page Prometheus knows from the next
/// scrape on that it has ended: it is in no sum and no maximum, and a graph shows a gap.
pub const UNKNOWN: f64 = f64::NAN;

/// How long an answer may take before what the last one said is no longer shown.
const STALE_AFTER: Duration = Duration::from_secs(3);

/// Waits for an answer that gauges show. When it takes longer than 3 s, or is an error, calls `forget`, which should set
/// them to [`UNKNOWN`]; the answer is waited for all the same.
pub async fn answer_or_forget<T, E>(
    asking: impl Future<Output = Result<T, E>>,
    forget: impl Fn(),
) -> Result<T, E> {
    let mut asking = pin!(asking);
    let answer = match tokio::time::timeout(STALE_AFTER, &mut asking).await {
        Ok(answer) => answer,
        Err(_) => {
            forget();
            asking.await
        }
    };
    if answer.is_err() {
        forget();
    }
    answer
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// How often it was forgotten when the answer came, and the answer.
    async fn ask(after: Duration, answer: Result<u8, u8>) -> (u32, Result<u8, u8>) {
        let forgotten = Cell::new(0);
        let asking = async {
            tokio::time::sleep(after).await;
            answer
        };
        let answer = answer_or_forget(asking, || forgotten.set(forgotten.get() + 1)).await;
        (forgotten.get(), answer)
    }

    #[tokio::test(start_paused = true)]
    async fn late_answers_and_errors_are_forgotten_about_at_once() {
        let second = Duration::from_secs(1);
        assert_eq!(ask(second, Ok(1)).await, (0, Ok(1)));
        assert_eq!(ask(second, Err(1)).await, (1, Err(1)));
        assert_eq!(ask(4 * second, Ok(1)).await, (1, Ok(1)), "late, and an answer all the same");
    }
}
