//! Traces in, report out.
