//! Services that the tests of one program share. They are started by whoever asks first, and end with the program.
//!
//! A test takes a database of its own ([`Postgres::new_database`]). One that breaks a service starts its own.

use tokio::sync::OnceCell;

use crate::{Place, Postgres, Stack};

/// The Postgres of this test program.
///
/// # Errors
/// When it cannot be started.
pub async fn postgres() -> anyhow::Result<&'static Postgres> {
    static POSTGRES: OnceCell<Postgres> = OnceCell::const_new();
    POSTGRES.get_or_try_init(|| Postgres::start(&Place::Temporary, None)).await
}

/// All three services of this test program. Their Postgres is another one than [`postgres`]'s.
///
/// # Errors
/// When one cannot be started.
pub async fn stack() -> anyhow::Result<&'static Stack> {
    static STACK: OnceCell<Stack> = OnceCell::const_new();
    STACK.get_or_try_init(|| Stack::start(&Place::Temporary, None)).await
}
