//! Who calls: the user id comes from the token, never from the body.

mod args;
mod dev;
mod jwt;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use proto::{ProblemType, UserId};

use crate::Api;
use crate::problem::Refusal;

pub use args::{AuthArgs, AuthMode};

/// Tells who sent a request.
#[derive(Debug)]
pub struct Authenticator(Kind);

#[derive(Debug)]
enum Kind {
    Dev,
    Jwt(Box<jwt::Checker>),
}

impl Authenticator {
    /// What operators must know, if anything.
    pub fn warning(&self) -> Option<&'static str> {
        match self.0 {
            Kind::Dev => Some("--auth dev: anybody who reaches this address is who they say they are"),
            Kind::Jwt(_) => None,
        }
    }

    /// Refuses an address that this must not listen on.
    ///
    /// # Errors
    /// When callers are not checked and the address can be reached from another machine.
    pub fn check_listen(&self, listen: SocketAddr) -> Result<(), String> {
        match self.0 {
            Kind::Dev if !listen.ip().is_loopback() => Err(format!(
                "--auth dev lets anybody be anybody, so it only listens on a loopback address such as 127.0.0.1, not on {listen}"
            )),
            Kind::Dev | Kind::Jwt(_) => Ok(()),
        }
    }

    fn user(&self, parts: &Parts) -> Result<UserId, Refusal> {
        let mut values = parts.headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(unauthorized(&format!("send one Authorization header: Bearer {}", self.form())));
        };
        let text =
            std::str::from_utf8(value.as_bytes()).map_err(|_| unauthorized("the token is not UTF-8"))?;
        let token = text.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let token = token.map(|(_, token)| token.trim_start_matches(' '));
        let token = token
            .ok_or_else(|| unauthorized(&format!("the header must have the form: Bearer {}", self.form())))?;
        let user = match &self.0 {
            Kind::Dev => dev::user(token),
            Kind::Jwt(checker) => checker.user(token),
        };
        user.map_err(|why| unauthorized(&why))
    }

    /// What follows `Bearer`.
    fn form(&self) -> &'static str {
        match self.0 {
            Kind::Dev => dev::FORM,
            Kind::Jwt(_) => "<token>",
        }
    }
}

/// The user who sent a request.
pub(crate) struct Caller(pub(crate) UserId);

impl FromRequestParts<Arc<Api>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        api.auth.user(parts).map(Caller)
    }
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
        let dev = Authenticator(Kind::Dev);
        assert!(dev.check_listen("127.0.0.1:8080".parse().unwrap()).is_ok());
        assert!(dev.check_listen("[::1]:8080".parse().unwrap()).is_ok());
        for open in ["0.0.0.0:8080", "10.0.0.1:80", "[::]:8080"] {
            assert!(dev.check_listen(open.parse().unwrap()).is_err(), "{open}");
        }
    }
}
