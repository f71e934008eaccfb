//! Requests byte by byte, for what no proper client would send.

use std::net::SocketAddr;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http::Reply;
use crate::wait::until;

/// The bytes of a request.
pub(crate) fn request(line: &str, headers: &[(&str, &[u8])], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{line} HTTP/1.1\r\nHost: dovetail\r\nConnection: close\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    bytes
}

/// Sends bytes and reads one reply. With `half_close`, says that nothing more will come.
pub(crate) async fn exchange(address: SocketAddr, bytes: &[u8], half_close: bool) -> Reply {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(bytes).await;
    if half_close {
        let _ = stream.shutdown().await;
    }
    until("a reply", read_reply(&mut stream)).await
}

async fn read_reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    loop {
        if let Some(reply) = parse_reply(&bytes) {
            return reply;
        }
        let read = stream.read_buf(&mut bytes).await;
        let so_far = String::from_utf8_lossy(&bytes);
        assert!(matches!(read, Ok(1..)), "no complete reply ({read:?}): {so_far:?}");
    }
}

/// The reply, when all of it is there.
fn parse_reply(bytes: &[u8]) -> Option<Reply> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let body = &bytes[end + 4..];
    let (first, rest) = head.split_once("\r\n").unwrap();
    let status = StatusCode::from_bytes(first.split(' ').nth(1).unwrap().as_bytes()).unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in rest.lines().map(|line| line.split_once(':').unwrap()) {
        headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value.trim()).unwrap());
    }
    let length: usize =
        headers.get("content-length").map_or(0, |value| value.to_str().unwrap().parse().unwrap());
    let body = body.get(..length)?;
    Some(Reply { status, headers, body: Bytes::copy_from_slice(body) })
}
