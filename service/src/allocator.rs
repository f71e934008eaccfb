//! The allocator of every server. A quarter of what a main-server did under load was the C library's; this one does the same
//! in a third of the time, and gives memory back after a burst.

/// Replaces the C library's in every program that links this crate.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
