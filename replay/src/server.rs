//! The servers a trace is played against: their addresses, looked up once and found to answer before the run.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail};
use hyper::Uri;
use hyper::http::uri::Authority;
use tokio::net::TcpStream;

/// Where a server is, as given: `http://host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    authority: Authority,
}

impl FromStr for BaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|why| format!("{text:?} is not a URL: {why}"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err("https is not spoken here: give the http:// address behind it".to_owned());
            }
            Some(_) | None => return Err(format!("{text:?} does not begin with http://")),
        }
        if uri.path() != "/" || uri.query().is_some() {
            return Err(format!("{text:?} has a path; give scheme, host and port only"));
        }
        let authority = uri.authority().cloned().ok_or_else(|| format!("{text:?} names no host"))?;
        Ok(Self { authority })
    }
}

/// A server that answered.
#[derive(Debug, Clone)]
pub struct Server {
    /// The address to connect to.
    pub address: Authority,
    /// The name to ask for.
    pub host: Authority,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const HTTP_PORT: u16 = 80;

/// Finds the address of a server that takes connections. A name is looked up here and not for every connection.
///
/// # Errors
/// When the name has no address, or no address takes a connection.
pub async fn find(url: &BaseUrl) -> anyhow::Result<Server> {
    let host = &url.authority;
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    let port = host.port_u16().unwrap_or(HTTP_PORT);
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host((name, port))
        .await
        .with_context(|| format!("cannot find the address of {host}"))?
        .collect();
    let mut last = None;
    for address in addresses {
        match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(_)) => {
                return Ok(Server { address: address.to_string().parse()?, host: host.clone() });
            }
            Ok(Err(error)) => last = Some(error),
            Err(_) => last = Some(std::io::ErrorKind::TimedOut.into()),
        }
    }
    match last {
        Some(error) => {
            Err(error).with_context(|| format!("http://{host} does not answer: is the server running?"))
        }
        None => bail!("{host} has no address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_are_taken() {
        assert!("http://127.0.0.1:8080".parse::<BaseUrl>().is_ok());
        assert!("http://localhost/".parse::<BaseUrl>().is_ok());
        for (text, named) in [
            ("https://x", "https is not spoken"),
            ("ftp://x", "does not begin with http://"),
            ("127.0.0.1:8080", "does not begin with http://"),
            ("http://x/api", "has a path"),
            ("", "not a URL"),
        ] {
            let why = text.parse::<BaseUrl>().unwrap_err();
            assert!(why.contains(named), "{text:?} gave {why:?}");
        }
    }
}
