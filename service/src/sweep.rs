//! The sweep: every server settles overdue tickets each second, whoever else is alive.

use std::time::Duration;

use proto::TicketId;
use store::Store;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

/// How often overdue tickets are settled. Half the two seconds that a ticket may be late.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// The most tickets settled by one statement; a full one is followed by the next at once.
const SWEEP_BATCH: u32 = 1_000;
/// Every how many sweeps old idempotency keys are forgotten: they have lived a day.
const KEYS_EVERY: u64 = 60;
/// The most idempotency keys forgotten by one statement; a full one is followed by the next at once.
const KEY_BATCH: u32 = 1_000;

/// Settles overdue tickets for ever and tells whoever holds their phones.
pub async fn sweep_overdue(store: &dyn Store, wakeups: Option<&mpsc::Sender<Vec<TicketId>>>) {
    let mut tick = tokio::time::interval(SWEEP_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for sweep in 0_u64.. {
        tick.tick().await;
        let forget_keys = sweep.is_multiple_of(KEYS_EVERY);
        if let Err(error) = sweep_once(store, wakeups, forget_keys).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "cannot settle overdue tickets; trying again"
            );
        }
    }
}

async fn sweep_once(
    store: &dyn Store,
    wakeups: Option<&mpsc::Sender<Vec<TicketId>>>,
    forget_keys: bool,
) -> store::Result<()> {
    loop {
        let expired = store.expire_overdue(SWEEP_BATCH).await?;
        metrics::counter!("dovetail_tickets_settled_total", "outcome" => "expired")
            .increment(expired.len() as u64);
        let full = expired.len() == SWEEP_BATCH as usize;
        if let Some(wakeups) = wakeups.filter(|_| !expired.is_empty()) {
            // A lost wake-up costs a second: the phones' holder also asks by itself.
            let _ = wakeups.try_send(expired);
        }
        if !full {
            break;
        }
    }
    while forget_keys && store.forget_old_keys(KEY_BATCH).await? == u64::from(KEY_BATCH) {}
    Ok(())
}
