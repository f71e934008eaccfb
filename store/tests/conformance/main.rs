//! What every store must do, said once and run on each of them.
//!
//! A backend joins by adding a `Backend` and a line to `on_every_backend!`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod accepting;
mod announcing;
mod blocking;
mod databases;
mod expiring;
mod members;
mod opening;
mod opening_postgres;
mod reading;
mod settling;
mod widening;
mod world;

/// Runs each named check of a module on each backend.
macro_rules! on_every_backend {
    ($module:ident: $($check:ident),* $(,)?) => {
        mod sqlite_file { $crate::checks!($crate::world::Backend::SqliteFile, $module: $($check),*); }
        mod postgres { $crate::checks!($crate::world::Backend::Postgres, $module: $($check),*); }
        mod sqlite_memory { $crate::checks!($crate::world::Backend::SqliteMemory, $module: $($check),*); }
    };
}
pub(crate) use on_every_backend;

macro_rules! checks {
    ($backend:expr, $module:ident: $($check:ident),*) => {
        $(
            #[tokio::test]
            async fn $check() {
                let world = $crate::world::World::new($backend).await;
                $crate::$module::$check(&world).await;
            }
        )*
    };
}
pub(crate) use checks;
