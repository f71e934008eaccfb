//! The real services as child processes, for tests and for `cargo xtask up`.
