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
    until_some(what, deadline, || {
        let looking = condition();
        async { Ok(looking.await?.then_some(())) }
    })
    .await
}

/// Asks until there is an answer. It fails at once when asking does.
///
/// # Errors
/// When there is none within `deadline`; `what` says what was waited for.
pub async fn until_some<F, T>(what: &str, deadline: Duration, mut ask: impl FnMut() -> F) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<Option<T>>>,
{
    let waiting = async {
        loop {
            if let Some(answer) = ask().await? {
                return Ok(answer);
            }
            tokio::time::sleep(INTERVAL).await;
        }
    };
    match tokio::time::timeout(deadline, waiting).await {
        Ok(outcome) => outcome,
        Err(_) => bail!("{what}: not within {deadline:?}"),
    }
}

/// Whether somebody accepts connections on this port of 127.0.0.1.
pub(crate) async fn listens(port: u16) -> bool {
    tokio::net::TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, port)).await.is_ok()
}
