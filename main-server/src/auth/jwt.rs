//! Mode `jwt`: JSON Web Tokens (RFC 7519) signed with HS256. The user is the claim `sub`.

use std::fmt;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use proto::UserId;
use serde::Deserialize;

/// The shortest secret, in bytes: as long as the hash (RFC 7518, section 3.2).
pub(super) const MIN_SECRET: usize = 32;
/// How far, in seconds, the clocks of whoever makes tokens and of this machine may lie apart.
const LEEWAY_SECONDS: u64 = 30;

/// Checks tokens.
pub(super) struct Checker {
    key: DecodingKey,
    validation: Validation,
}

impl fmt::Debug for Checker {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").field("validation", &self.validation).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
}

impl Checker {
    /// Accepts tokens signed with a secret; with this issuer and audience when they are given.
    pub(super) fn new(secret: &[u8], issuer: Option<&str>, audience: Option<&str>) -> Result<Self, String> {
        if secret.len() < MIN_SECRET {
            return Err(format!(
                "the secret for tokens has {} bytes; HS256 needs {MIN_SECRET} or more (openssl rand -base64 48)",
                secret.len()
            ));
        }
        // This one algorithm: a token does not choose how it is checked.
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        validation.validate_aud = audience.is_some();
        let mut required = vec!["exp", "sub"];
        if let Some(issuer) = issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        if let Some(audience) = audience {
            validation.set_audience(&[audience]);
            // Otherwise a token without the claim would pass.
            required.push("aud");
        }
        validation.set_required_spec_claims(&required);
        let key = DecodingKey::from_secret(secret)
            .map_err(|error| format!("the secret for tokens cannot be used: {error}"))?;
        Ok(Self { key, validation })
    }

    /// Whose token it is, or what is wrong with it.
    pub(super) fn user(&self, token: &str) -> Result<UserId, String> {
        let token =
            decode::<Claims>(token, &self.key, &self.validation).map_err(|error| explain(error.kind()))?;
        UserId::new(&token.claims.sub).map_err(|error| format!("the token's claim sub: {error}"))
    }
}

/// What a caller is told. Nothing of the key.
fn explain(kind: &ErrorKind) -> String {
    let why = match kind {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidSignature => "the token's signature is not valid",
        ErrorKind::InvalidIssuer => "the token's issuer (iss) is not the one expected here",
        ErrorKind::InvalidAudience => "the token's audience (aud) is not the one expected here",
        ErrorKind::InvalidAlgorithm => "the token must be signed with HS256",
        ErrorKind::MissingRequiredClaim(claim) => {
            return format!("the token has no claim {claim} that can be used");
        }
        _ => "the token is not a valid JSON Web Token with the claims sub and exp",
    };
    why.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::{EncodingKey, Header, encode, get_current_timestamp};
    use serde_json::{Value, json};

    const SECRET: &[u8] = b"a secret of thirty-two bytes, or more";

    fn in_an_hour() -> u64 {
        get_current_timestamp() + 3_600
    }

    fn sign(algorithm: Algorithm, secret: &[u8], claims: &Value) -> String {
        encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret).unwrap()).unwrap()
    }

    fn checker() -> Checker {
        Checker::new(SECRET, Some("app"), Some("dovetail")).unwrap()
    }

    #[test]
    fn a_good_token_names_its_user() {
        let claims = json!({ "sub": "ana", "exp": in_an_hour(), "iss": "app", "aud": ["x", "dovetail"] });
        assert_eq!(checker().user(&sign(Algorithm::HS256, SECRET, &claims)).unwrap().as_str(), "ana");
        let bare = json!({ "sub": "보라", "exp": in_an_hour() });
        let user =
            Checker::new(SECRET, None, None).unwrap().user(&sign(Algorithm::HS256, SECRET, &bare)).unwrap();
        assert_eq!(user.as_str(), "보라");
    }

    #[test]
    fn every_bad_token_is_refused_with_its_reason() {
        let exp = in_an_hour();
        let good = json!({ "sub": "ana", "exp": exp, "iss": "app", "aud": "dovetail" });
        let with = |name: &str, value: Value| {
            let mut claims = good.clone();
            claims[name] = value;
            sign(Algorithm::HS256, SECRET, &claims)
        };
        let without = |name: &str| {
            let mut claims = good.clone();
            claims.as_object_mut().unwrap().remove(name);
            sign(Algorithm::HS256, SECRET, &claims)
        };
        // {"alg":"none"} in base64url.
        let unsigned = without("none").split_once('.').unwrap().1.to_owned();
        let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", unsigned.split_once('.').unwrap().0);
        for (token, named) in [
            (with("exp", json!(get_current_timestamp() - 60)), "expired"),
            (with("nbf", json!(exp)), "not valid yet"),
            (with("iss", json!("else")), "issuer"),
            (with("aud", json!("else")), "audience"),
            (with("sub", json!("")), "sub"),
            (with("sub", json!(7)), "JSON Web Token"),
            (without("exp"), "exp"),
            (without("iss"), "iss"),
            (without("aud"), "aud"),
            (without("sub"), "sub"),
            (sign(Algorithm::HS256, b"another secret of thirty-two bytes!!", &good), "signature"),
            (sign(Algorithm::HS512, SECRET, &good), "HS256"),
            (unsigned, "JSON Web Token"),
            ("dev.ana".to_owned(), "JSON Web Token"),
            (String::new(), "JSON Web Token"),
        ] {
            let why = checker().user(&token).unwrap_err();
            assert!(why.contains(named), "{token}: {why}");
        }
    }

    #[test]
    fn short_secrets_and_printed_secrets_do_not_happen() {
        assert!(Checker::new(&SECRET[..31], None, None).unwrap_err().contains("32"));
        assert!(!format!("{:?}", checker()).contains("secret of"));
    }
}
