//! Mode `dev`: anybody is who they say.

use proto::UserId;

/// What follows `Bearer`.
pub(super) const FORM: &str = "dev.<user>";

pub(super) fn user(token: &str) -> Result<UserId, String> {
    let user = token.strip_prefix("dev.").ok_or("the token must have the form: Bearer dev.<user>")?;
    UserId::new(user).map_err(|error| error.to_string())
}
