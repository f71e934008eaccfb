//! Asking a server on loopback, and reading what it says of itself.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long a server may take to answer.
const DEADLINE: Duration = Duration::from_secs(10);

/// The status and body of `GET path` on a port of 127.0.0.1.
///
/// # Errors
/// When nobody answers in time, or not in HTTP.
pub async fn get(port: u16, path: &str) -> anyhow::Result<(u16, String)> {
    let asking = async {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        // HTTP/1.0: the answer comes in one piece and ends with the connection.
        stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let Ok(answer) = tokio::time::timeout(DEADLINE, asking).await else {
        bail!("port {port} does not answer GET {path} within {DEADLINE:?}");
    };
    let answer = answer.with_context(|| format!("cannot GET {path} from port {port}"))?;
    read(&String::from_utf8_lossy(&answer)).with_context(|| format!("port {port} does not speak HTTP"))
}

fn read(answer: &str) -> Option<(u16, String)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}

/// The sum of a metric over all its labels, in what Prometheus would read; `None` when it is not there.
#[must_use]
pub fn metric_sum(text: &str, name: &str) -> Option<f64> {
    let values = text.lines().filter_map(|line| {
        let rest = line.strip_prefix(name)?;
        let value = match rest.strip_prefix('{') {
            Some(labelled) => labelled.rsplit_once('}')?.1,
            None => rest.strip_prefix(' ')?,
        };
        value.split_whitespace().next()?.parse::<f64>().ok()
    });
    values.reduce(|sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_summed_over_its_labels_and_no_other() {
        let text = "# TYPE a gauge\na{s=\"1\"} 2\na{s=\"x} y\"} 3.5 1700000000\na_total 9\nab 8\nb 4\n";
        assert_eq!(metric_sum(text, "a"), Some(5.5));
        assert_eq!(metric_sum(text, "b"), Some(4.0));
        assert_eq!(metric_sum(text, "c"), None);
    }

    #[test]
    fn an_answer_has_a_status_and_a_body() {
        assert_eq!(
            read("HTTP/1.1 503 Busy\r\na: b\r\n\r\nno\r\n\r\nmore"),
            Some((503, "no\r\n\r\nmore".to_owned()))
        );
        assert_eq!(read("220 smtp\r\n\r\n"), None);
    }
}
