//! How a phone says who its user is: `dev` tokens, or JSON Web Tokens signed with the servers' secret.

use std::fmt;
use std::path::Path;

use anyhow::{Context, ensure};
use jsonwebtoken::{EncodingKey, Header, encode, get_current_timestamp};
use serde::Serialize;

/// How long a token is valid: longer than any run.
const VALID_SECONDS: u64 = 24 * 3_600;
/// The shortest secret that servers take, in bytes (RFC 7518, section 3.2).
const MIN_SECRET: usize = 32;

/// Makes tokens.
#[derive(Clone)]
pub enum Tokens {
    /// `dev.<user>`, for servers with `--auth dev`.
    Dev,
    /// HS256, for servers with `--auth jwt`.
    Jwt(Box<EncodingKey>),
}

impl fmt::Debug for Tokens {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dev => "Dev",
            Self::Jwt(_) => "Jwt",
        })
    }
}

#[derive(Serialize)]
struct Claims<'a> {
    sub: &'a str,
    exp: u64,
}

impl Tokens {
    /// Signs with the secret in a file, `dev` tokens when there is none. White space at the secret's ends is not part of it.
    ///
    /// # Errors
    /// When the file cannot be read or no server would take its secret.
    pub fn from_file(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::Dev) };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let secret = text.trim();
        ensure!(
            secret.len() >= MIN_SECRET,
            "the secret in {} has fewer than {MIN_SECRET} bytes",
            path.display()
        );
        Ok(Self::Jwt(Box::new(EncodingKey::from_secret(secret.as_bytes())?)))
    }

    /// The value of a user's `Authorization` header.
    ///
    /// # Errors
    /// When signing fails.
    pub(crate) fn bearer(&self, user: &str) -> anyhow::Result<String> {
        match self {
            Self::Dev => Ok(format!("Bearer dev.{user}")),
            Self::Jwt(key) => {
                let claims = Claims { sub: user, exp: get_current_timestamp() + VALID_SECONDS };
                Ok(format!("Bearer {}", encode(&Header::default(), &claims, key)?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::{DecodingKey, Validation, decode};

    #[test]
    fn tokens_are_signed_with_the_secret_in_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let secret = "a secret of more than thirty-two bytes";
        std::fs::write(file.path(), format!("{secret}\n")).unwrap();
        let bearer = Tokens::from_file(Some(file.path())).unwrap().bearer("ana").unwrap();
        let key = DecodingKey::from_secret(secret.as_bytes()).unwrap();
        let token = bearer.strip_prefix("Bearer ").unwrap();
        let claims = decode::<serde_json::Value>(token, &key, &Validation::default()).unwrap().claims;
        assert_eq!(claims["sub"], "ana");
    }

    #[test]
    fn what_no_server_takes_is_refused_at_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "short").unwrap();
        assert!(Tokens::from_file(Some(file.path())).unwrap_err().to_string().contains("32"));
        assert!(Tokens::from_file(Some(Path::new("no/such/file"))).is_err());
        assert_eq!(Tokens::from_file(None).unwrap().bearer("ana").unwrap(), "Bearer dev.ana");
    }
}
