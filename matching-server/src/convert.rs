//! Between the contract's words and the engine's.

use matching_engine::{Ticket, TicketId, Time};
use proto::{Interest, PoolTicket, Timestamp};

pub(crate) fn time_of(moment: Timestamp) -> Time {
    Time::from_millis(moment.as_millis())
}

pub(crate) fn moment_of(time: Time) -> Timestamp {
    Timestamp::from_millis(time.as_millis())
}

pub(crate) fn engine_id(id: proto::TicketId) -> TicketId {
    TicketId(id.as_u128())
}

pub(crate) fn contract_id(id: TicketId) -> proto::TicketId {
    proto::TicketId::from_u128(id.0)
}

pub(crate) fn engine_ticket(ticket: &PoolTicket) -> Ticket {
    Ticket {
        id: engine_id(ticket.id),
        user: ticket.user.as_str().into(),
        region: ticket.region.as_str().into(),
        interests: ticket.interests.iter().map(Interest::shared_key).collect(),
        created_at: time_of(ticket.created_at),
        expires_at: time_of(ticket.expires_at),
        avoid: ticket.avoid.iter().map(|user| user.as_str().into()).collect(),
    }
}
