//! A shard that this process holds: its engine, its reconciliation, and the queue it is told by.

use std::time::Duration;

use matching_engine::InvalidPolicy;
use proto::ShardId;
use service::amqp::Consumers;
use service::lifecycle::Tasks;

use crate::settler::Settler;
use crate::{Deps, intake, reconcile, shard};

/// How long each stage of letting go may take: longer than a settlement in flight while the store answers at all.
const STAGE_DEADLINE: Duration = Duration::from_secs(5);

/// What runs for one shard. Ended by [`Held::let_go`].
pub(crate) struct Held {
    shard: ShardId,
    /// Stopped first: what was consumed is still taken by the engine.
    intake: Tasks,
    engine: Tasks,
}

impl Held {
    /// Starts to serve a shard. Without consumers it lives by reconciliation alone.
    pub(crate) fn take(
        tasks: &Tasks,
        deps: &Deps,
        shard: ShardId,
        settler: Settler,
        consumers: Option<&Consumers>,
    ) -> Result<Self, InvalidPolicy> {
        let (intake, engine) = (tasks.subgroup(), tasks.subgroup());
        let inbox = shard::start(&engine, deps, shard, settler)?;
        reconcile::start(&intake, deps, shard, inbox.clone());
        if let Some(consumers) = consumers {
            intake.spawn("intake", intake::run(consumers.clone(), shard, inbox, intake.stop_token()));
        }
        Ok(Self { shard, intake, engine })
    }

    /// Stops consuming, then finishes the settlements in flight, and answers which shard may go to another owner.
    pub(crate) async fn let_go(self) -> ShardId {
        let Self { shard, intake, engine } = self;
        if !intake.stop(STAGE_DEADLINE).await {
            tracing::warn!(
                shard = shard.0,
                "consuming did not stop in time; the broker hands out again what is left"
            );
        }
        if !engine.stop(STAGE_DEADLINE).await {
            tracing::warn!(
                shard = shard.0,
                "settling did not finish in time; the store decides, whoever proposes"
            );
        }
        shard
    }
}
