//! The settings of authentication.

use std::path::PathBuf;

use anyhow::Context as _;

use super::{Authenticator, Kind, jwt};

/// How callers are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum AuthMode {
    /// Anybody is who they say: `Authorization: Bearer dev.<user>`. Only on a loopback address.
    Dev,
    /// `Authorization: Bearer <JSON Web Token>` signed with HS256; the claim sub is the user, exp is required.
    Jwt,
}

/// How callers are known, and by which secrets.
#[derive(Debug, Clone, clap::Args)]
pub struct AuthArgs {
    /// How callers are known [default: dev for standalone, jwt for main-server]
    #[arg(long, env = "DOVETAIL_AUTH", value_enum)]
    auth: Option<AuthMode>,
    /// File with the secret that tokens are signed with (HS256); white space at its ends is not part of it. At least 32 bytes
    #[arg(long, env = "DOVETAIL_JWT_SECRET_FILE", value_name = "FILE")]
    jwt_secret_file: Option<PathBuf>,
    /// The secret itself, when there is no file
    #[arg(
        long,
        env = "DOVETAIL_JWT_SECRET",
        value_name = "SECRET",
        hide_env_values = true,
        conflicts_with = "jwt_secret_file"
    )]
    jwt_secret: Option<String>,
    /// The issuer (iss) that tokens must name; any when not given
    #[arg(long, env = "DOVETAIL_JWT_ISSUER", value_name = "ISS")]
    jwt_issuer: Option<String>,
    /// The audience (aud) that tokens must name; any when not given
    #[arg(long, env = "DOVETAIL_JWT_AUDIENCE", value_name = "AUD")]
    jwt_audience: Option<String>,
}

impl AuthArgs {
    /// What checks callers; `default` is the mode when none was chosen.
    ///
    /// # Errors
    /// When a secret is missing, too short, or cannot be read.
    pub fn authenticator(&self, default: AuthMode) -> anyhow::Result<Authenticator> {
        match self.auth.unwrap_or(default) {
            AuthMode::Dev => Ok(Authenticator(Kind::Dev)),
            AuthMode::Jwt => {
                let secret = self.secret()?;
                let (issuer, audience) = (self.jwt_issuer.as_deref(), self.jwt_audience.as_deref());
                let checker = jwt::Checker::new(secret.trim().as_bytes(), issuer, audience)
                    .map_err(anyhow::Error::msg)?;
                Ok(Authenticator(Kind::Jwt(Box::new(checker))))
            }
        }
    }

    fn secret(&self) -> anyhow::Result<String> {
        match (&self.jwt_secret_file, &self.jwt_secret) {
            (Some(path), _) => std::fs::read_to_string(path)
                .with_context(|| format!("cannot read --jwt-secret-file {}", path.display())),
            (None, Some(secret)) => Ok(secret.clone()),
            (None, None) => {
                anyhow::bail!(
                    "--auth jwt needs the secret of the tokens: --jwt-secret-file or DOVETAIL_JWT_SECRET"
                )
            }
        }
    }
}
