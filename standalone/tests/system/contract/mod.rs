//! What the API promises to a phone.

mod cancelling;
mod expiring;
mod matches;
mod pressing;
mod privacy;
mod reading;
mod streaming;
