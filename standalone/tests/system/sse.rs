//! Server-sent events, as a phone reads them.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Response, StatusCode};

use crate::user::Ticket;
use crate::wait::until;

/// An open stream.
pub(crate) struct Events {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    unread: String,
}

impl Events {
    pub(crate) fn new(response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status, headers: head.headers, body, unread: String::new() }
    }

    /// The next `ticket` event; `None` at the end of the stream. Comments are passed over.
    pub(crate) async fn next(&mut self) -> Option<Ticket> {
        loop {
            while let Some((block, rest)) = self.unread.split_once("\n\n") {
                let event = read_event(block);
                self.unread = rest.to_owned();
                if event.is_some() {
                    return event;
                }
            }
            let frame = until("an event, or the end of the stream", self.body.frame()).await;
            let Some(frame) = frame else {
                assert_eq!(self.unread, "", "the stream ends within an event");
                return None;
            };
            let data = frame.expect("the stream breaks off").into_data().unwrap();
            self.unread.push_str(std::str::from_utf8(&data).unwrap());
        }
    }
}

fn read_event(block: &str) -> Option<Ticket> {
    let (mut name, mut data) = (None, None);
    for line in block.lines().filter(|line| !line.starts_with(':')) {
        match line.split_once(": ") {
            Some(("event", value)) => name = Some(value),
            Some(("data", value)) => data = Some(value),
            _ => panic!("not a line of an event: {line:?}"),
        }
    }
    let data = data?;
    assert_eq!(name, Some("ticket"));
    Some(serde_json::from_str(data).unwrap())
}
