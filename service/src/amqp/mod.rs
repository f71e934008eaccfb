//! RabbitMQ: publishing with confirms, and consuming queues, over a few nodes any of which may be gone.
//!
//! A [`Publisher`] and [`Consumers`] have a connection each: a broker that is short of memory or disk blocks a connection
//! that publishes, and on a blocked one the client sends nothing, acknowledgements included. Each connection has a keeper
//! ([`keeper`]), one task that opens it at one of the nodes, watches it, and goes to the next node when it is lost.
//!
//! What must never happen here: a wait without a bound, a message that counts as published without a confirm of the
//! broker, a channel per message, a message body in a log.

mod acks;
mod consumers;
mod keeper;
mod link;
mod publisher;
mod urls;

pub use consumers::{Consumers, Verdict};
pub use publisher::{Outgoing, PublishError, Publisher};
pub use urls::{AmqpArgs, AmqpUrls, InvalidAmqpUrls};
