//! Traces in, report out: how well would people be paired, and how fast?
//!
//! Owns the trace format, the synthetic traces, the simulation, the load generator and the report that all
//! share. A report is made from what clients saw ([`outcome::Seen`]) and from the trace; nothing that a server
//! says about itself is believed.

pub mod bound;
pub mod cli;
mod columns;
mod compare;
pub mod drive;
pub mod generate;
mod genres;
pub mod groups;
mod numbering;
pub mod outcome;
pub mod output;
pub mod pairs;
mod phone;
mod progress;
pub mod report;
pub mod run;
pub mod scene;
pub mod server;
pub mod simulate;
pub mod stats;
pub mod sweep;
pub mod table;
mod tickets;
pub mod token;
pub mod trace;
mod wire;
