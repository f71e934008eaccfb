//! Metrics for Prometheus: what there is ([`catalogue`]), how recording starts, and the page that is scraped.
//!
//! What must never happen here: a label that a caller chooses, and a gauge that goes on showing what is no longer known.

pub mod catalogue;
mod log_events;
mod page;
mod process;
mod start;
mod unknown;

pub(crate) use log_events::CountLogEvents;
pub(crate) use page::render;
pub use start::start;
pub use unknown::{UNKNOWN, answer_or_forget};
