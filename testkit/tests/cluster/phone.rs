//! One phone by hand: a request and what came of it.

use std::net::Ipv4Addr;
use std::time::Duration;

use proto::Ticket;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long an answer may take: the longest poll, and a margin.
const DEADLINE: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn ticket(&self) -> Ticket {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Somebody with a phone, and the API server it asks.
#[derive(Debug, Clone)]
pub struct Phone {
    pub user: &'static str,
    pub port: u16,
}

impl Phone {
    pub async fn press_match(&self, region: &str, interests: &[&str]) -> Answer {
        self.send("POST", "/v1/tickets", Some(json!({ "region": region, "interests": interests }))).await
    }

    pub async fn cancel(&self, ticket: &Ticket) -> Answer {
        self.send("DELETE", &format!("/v1/tickets/{}", ticket.id), None).await
    }

    /// The ticket once it has settled, or after so many seconds.
    pub async fn wait_for(&self, ticket: &Ticket, seconds: u32) -> Ticket {
        self.send("GET", &format!("/v1/tickets/{}?wait={seconds}", ticket.id), None).await.ticket()
    }

    async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        // HTTP/1.0: the answer ends with the connection.
        let request = format!(
            "{method} {path} HTTP/1.0\r\nAuthorization: Bearer dev.{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.user,
            body.len()
        );
        let asking = async {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await?;
            stream.write_all(request.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            Ok::<_, std::io::Error>(answer)
        };
        let answer = tokio::time::timeout(DEADLINE, asking).await.expect("an answer in time").unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }
}
