//! Services that the tests of one program share. They are started by whoever asks first, and end with the program.

use tokio::sync::OnceCell;

use crate::{Place, Postgres};

/// The Postgres of this test program. Each test takes a database of its own ([`Postgres::new_database`]); a test that kills
/// or pauses it starts another one.
///
/// # Errors
/// When it cannot be started.
pub async fn postgres() -> anyhow::Result<&'static Postgres> {
    static POSTGRES: OnceCell<Postgres> = OnceCell::const_new();
    POSTGRES.get_or_try_init(|| Postgres::start(&Place::Temporary, None)).await
}
