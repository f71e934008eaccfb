//! Secrets that are made up for one stack, and the files they lie in.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;

/// As long as the key of HS256 should at least be (RFC 7518, section 3.2).
const SECRET_BYTES: usize = 32;

/// A new secret, in hexadecimal.
///
/// # Errors
/// When the kernel gives no random bytes.
pub fn new_secret() -> anyhow::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    let mut source = File::open("/dev/urandom").context("cannot open /dev/urandom")?;
    source.read_exact(&mut bytes).context("cannot read /dev/urandom")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes a secret into a file that only its owner can read. A file that is there already stays as it is.
///
/// # Errors
/// When it cannot be written.
pub fn write_secret(path: &Path, secret: &str) -> anyhow::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let write = || {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(secret.as_bytes())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_secret_is_another() {
        let (one, other) = (new_secret().unwrap(), new_secret().unwrap());
        assert_eq!(one.len(), 2 * SECRET_BYTES);
        assert_ne!(one, other);
    }
}
