//! A person with a phone.

use std::time::Duration;

use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::{Client, Lost, Reply};
use crate::sse::Events;
use crate::wait::{PATIENCE, until, within};

/// A ticket as a phone sees it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Ticket {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) region: String,
    pub(crate) interests: Vec<String>,
    pub(crate) created_at: proto::Timestamp,
    pub(crate) expires_at: proto::Timestamp,
    pub(crate) r#match: Option<Match>,
}

/// A match as a phone sees it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Match {
    pub(crate) id: String,
    pub(crate) partner: Partner,
    pub(crate) shared_interests: Vec<String>,
    pub(crate) similarity: f64,
    pub(crate) region: String,
    pub(crate) made_at: proto::Timestamp,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Partner {
    pub(crate) user: String,
}

/// A user. Clones are more phones of the same user.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) name: String,
    client: Client,
}

/// The body that asks for a ticket.
pub(crate) fn wish(region: &str, interests: &[&str]) -> Value {
    json!({ "region": region, "interests": interests })
}

impl User {
    pub(crate) fn new(client: Client, name: &str) -> Self {
        Self { name: name.to_owned(), client }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn token(&self) -> String {
        format!("Bearer dev.{}", self.name)
    }

    /// Sends a request as this user; `Err` when the connection is lost.
    pub(crate) async fn try_send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Reply, Lost> {
        let token = self.token();
        let mut all = vec![("authorization", token.as_str())];
        all.extend(headers);
        Reply::read(self.client.send(method, path, &all, body).await?).await
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        // Long polls end by themselves after at most 50 s.
        let answer = self.try_send(method, path, headers, body);
        within(PATIENCE + Duration::from_secs(50), path, answer).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], b"").await
    }

    /// Presses match, whatever the answer.
    pub(crate) async fn press(&self, body: &Value) -> Reply {
        self.press_with(&[], body).await
    }

    pub(crate) async fn press_with(&self, headers: &[(&str, &str)], body: &Value) -> Reply {
        let mut all = vec![("content-type", "application/json")];
        all.extend(headers);
        self.send(Method::POST, "/v1/tickets", &all, body.to_string().as_bytes()).await
    }

    /// Presses match and gets a new ticket.
    pub(crate) async fn press_match(&self, region: &str, interests: &[&str]) -> Ticket {
        self.press(&wish(region, interests)).await.expect(201)
    }

    pub(crate) async fn read(&self, id: &str) -> Ticket {
        self.get(&format!("/v1/tickets/{id}")).await.expect(200)
    }

    pub(crate) async fn read_waiting(&self, id: &str, seconds: u32) -> Ticket {
        self.get(&format!("/v1/tickets/{id}?wait={seconds}")).await.expect(200)
    }

    pub(crate) async fn until_settled(&self, ticket: &Ticket) -> Ticket {
        let settled = async {
            loop {
                let now = self.read_waiting(&ticket.id, 10).await;
                if now.state != "waiting" {
                    return now;
                }
            }
        };
        until("the ticket settles", settled).await
    }

    pub(crate) async fn until_matched(&self, ticket: &Ticket) -> Match {
        let settled = self.until_settled(ticket).await;
        assert_eq!(settled.state, "matched", "{settled:?}");
        settled.r#match.unwrap()
    }

    pub(crate) async fn cancel(&self, id: &str) -> Reply {
        self.send(Method::DELETE, &format!("/v1/tickets/{id}"), &[], b"").await
    }

    pub(crate) async fn current(&self) -> Reply {
        self.get("/v1/tickets/current").await
    }

    /// All matches, newest first, page by page.
    pub(crate) async fn matches(&self) -> Vec<Match> {
        let (mut all, mut path) = (Vec::new(), "/v1/matches".to_owned());
        loop {
            let page: Value = self.get(&path).await.expect(200);
            all.extend(serde_json::from_value::<Vec<Match>>(page["items"].clone()).unwrap());
            match page["next_cursor"].as_str() {
                Some(cursor) => path = format!("/v1/matches?cursor={cursor}"),
                None => return all,
            }
        }
    }

    /// Opens the stream of a ticket's events.
    pub(crate) async fn events(&self, id: &str) -> Events {
        let (path, token) = (format!("/v1/tickets/{id}/events"), self.token());
        let headers = [("authorization", token.as_str())];
        Events::new(
            until("the stream opens", self.client.send(Method::GET, &path, &headers, b"")).await.unwrap(),
        )
    }
}
