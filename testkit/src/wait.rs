//! Waiting for a condition, with a deadline.

use std::time::Duration;

use anyhow::bail;

/// How often a condition that cannot be waited for is looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// Looks at `condition` until it holds. It fails at once when the condition does.
///
/// # Errors
/// When it does not hold within `deadline`; `what` says what was waited for.
pub async fn until<F>(what: &str, deadline: Duration, mut condition: impl FnMut() -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<bool>>,
{
    let waiting = async {
        while !condition().await? {
            tokio::time::sleep(INTERVAL).await;
        }
        Ok(())
    };
    match tokio::time::timeout(deadline, waiting).await {
        Ok(outcome) => outcome,
        Err(_) => bail!("{what}: not within {deadline:?}"),
    }
}
