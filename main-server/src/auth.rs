//! Who calls: the user id comes from the token, never from the body.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use proto::{ProblemType, UserId};

use crate::Api;
use crate::problem::Refusal;

/// How callers are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum AuthMode {
    /// Anybody is who they say: `Authorization: Bearer dev.<user>`. Only on a loopback address.
    Dev,
}

/// Refuses an address that an authentication mode must not listen on.
///
/// # Errors
/// When callers are not checked and the address can be reached from another machine.
pub fn check_listen(auth: AuthMode, listen: SocketAddr) -> Result<(), String> {
    match auth {
        AuthMode::Dev if !listen.ip().is_loopback() => Err(format!(
            "--auth dev lets anybody be anybody, so it only listens on a loopback address such as 127.0.0.1, not on {listen}"
        )),
        AuthMode::Dev => Ok(()),
    }
}

/// The user who sent a request.
pub(crate) struct Caller(pub(crate) UserId);

impl FromRequestParts<Arc<Api>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        match api.auth {
            AuthMode::Dev => dev_caller(parts),
        }
    }
}

fn dev_caller(parts: &Parts) -> Result<Caller, Refusal> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(unauthorized("send one Authorization header: Bearer dev.<user>"));
    };
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| unauthorized("the token is not UTF-8"))?;
    let token = text.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let user = token.and_then(|(_, token)| token.trim_start_matches(' ').strip_prefix("dev."));
    let user = user.ok_or_else(|| unauthorized("the token must have the form: Bearer dev.<user>"))?;
    UserId::new(user).map(Caller).map_err(|error| unauthorized(&error.to_string()))
}

fn unauthorized(message: &str) -> Refusal {
    let refusal =
        Refusal::new(ProblemType::Unauthorized, "The request does not say who you are in a way we accept.");
    Refusal(refusal.0.with_error("Authorization", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dev_stays_on_loopback() {
        assert!(check_listen(AuthMode::Dev, "127.0.0.1:8080".parse().unwrap()).is_ok());
        assert!(check_listen(AuthMode::Dev, "[::1]:8080".parse().unwrap()).is_ok());
        for open in ["0.0.0.0:8080", "10.0.0.1:80", "[::]:8080"] {
            assert!(check_listen(AuthMode::Dev, open.parse().unwrap()).is_err(), "{open}");
        }
    }
}
