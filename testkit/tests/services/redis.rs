//! Redis comes back on its port, with nothing.

use testkit::{Place, Redis, until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::PATIENCE;

async fn ask(redis: &Redis, command: &str, answer: &str) {
    let mut connection = TcpStream::connect(("127.0.0.1", redis.port())).await.unwrap();
    connection.write_all(format!("{command}\r\n").as_bytes()).await.unwrap();
    let mut got = vec![0; answer.len()];
    connection.read_exact(&mut got).await.unwrap();
    assert_eq!(String::from_utf8(got).unwrap(), answer, "{command}");
}

#[tokio::test]
async fn it_forgets_when_killed_and_waits_when_paused() {
    let redis = Redis::start(&Place::Temporary, None).await.unwrap();
    ask(&redis, "SET a b", "+OK").await;
    ask(&redis, "GET a", "$1\r\nb").await;
    redis.kill().await.unwrap();
    assert!(TcpStream::connect(("127.0.0.1", redis.port())).await.is_err());
    redis.restart().await.unwrap();
    ask(&redis, "GET a", "$-1").await;

    redis.pause().unwrap();
    let process = redis.process().unwrap();
    until("it is paused", PATIENCE, async || Ok(process.is_paused())).await.unwrap();
    let mut connection = TcpStream::connect(("127.0.0.1", redis.port())).await.unwrap();
    connection.write_all(b"PING\r\n").await.unwrap();
    redis.resume().unwrap();
    let mut answer = [0; 5];
    connection.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"+PONG");

    redis.stop().await.unwrap();
    assert!(!redis.process().unwrap().is_alive());
}
