//! One HTTP call: sent, answered within a time, or lost. Pooled connections that are kept alive.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::server::Server;

/// Makes calls.
#[derive(Debug)]
pub(crate) struct Wire(Client<HttpConnector, Full<Bytes>>);

/// What to ask.
pub(crate) struct Call<'c> {
    pub(crate) method: Method,
    pub(crate) server: &'c Server,
    /// Path and query.
    pub(crate) path: &'c str,
    /// The value of `Authorization`.
    pub(crate) token: &'c HeaderValue,
    pub(crate) idempotency_key: Option<&'c str>,
    /// JSON; empty for none.
    pub(crate) body: Bytes,
    /// How long to wait for the whole answer.
    pub(crate) within: Duration,
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

/// No whole answer came: whether the call took effect is unknown.
pub(crate) struct Lost;

/// Far larger than any ticket.
const MAX_BODY_BYTES: usize = 1 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Shorter than servers keep a connection, so that few calls meet one that is being closed.
const POOL_IDLE: Duration = Duration::from_secs(20);

impl Wire {
    pub(crate) fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let mut builder = Client::builder(TokioExecutor::new());
        Self(builder.pool_idle_timeout(POOL_IDLE).pool_timer(TokioTimer::new()).build(connector))
    }

    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Answer, Lost> {
        let within = call.within;
        tokio::time::timeout(within, self.exchange(call)).await.unwrap_or(Err(Lost))
    }

    async fn exchange(&self, call: Call<'_>) -> Result<Answer, Lost> {
        let uri = Uri::builder()
            .scheme("http")
            .authority(call.server.address.clone())
            .path_and_query(call.path)
            .build()
            .map_err(|_| Lost)?;
        let mut request = Request::builder()
            .method(call.method)
            .uri(uri)
            .header(HOST, call.server.host.as_str())
            .header(AUTHORIZATION, call.token);
        if !call.body.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(key) = call.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::new(call.body)).map_err(|_| Lost)?;

        let (head, body) = self.0.request(request).await.map_err(|_| Lost)?.into_parts();
        let seconds = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = Limited::new(body, MAX_BODY_BYTES).collect().await.map_err(|_| Lost)?.to_bytes();
        Ok(Answer { status: head.status, retry_after: seconds.map(Duration::from_secs), body })
    }
}
