//! A phone's HTTP: requests, and replies read to their end.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;

use crate::app::Place;
use crate::wait::{PATIENCE, within};

/// Sends requests to wherever the app listens now.
#[derive(Clone)]
pub(crate) struct Client {
    http: legacy::Client<HttpConnector, Full<Bytes>>,
    place: watch::Receiver<Place>,
}

/// The connection was lost before the answer was complete.
#[derive(Debug)]
pub(crate) struct Lost;

/// A reply, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Client {
    pub(crate) fn new(place: watch::Receiver<Place>) -> Self {
        let http = legacy::Client::builder(TokioExecutor::new()).build_http();
        Self { http, place }
    }

    /// Where the app listens, as it changes from start to start.
    pub(crate) fn place(&self) -> watch::Receiver<Place> {
        self.place.clone()
    }

    /// Sends a request to the API and answers as soon as the head of the reply is there.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response<Incoming>, Lost> {
        let api = self.place.borrow().api;
        let mut request = Request::builder().method(method).uri(format!("http://{api}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        self.http.request(request).await.map_err(|_| Lost)
    }

    pub(crate) async fn admin(&self, path: &str) -> Reply {
        let admin = self.place.borrow().admin;
        let answer = self.http.get(format!("http://{admin}{path}").parse().unwrap());
        let answer = within(PATIENCE, path, answer).await.unwrap();
        Reply::read(answer).await.unwrap()
    }
}

impl Reply {
    pub(crate) async fn read(response: Response<Incoming>) -> Result<Self, Lost> {
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|_| Lost)?.to_bytes();
        Ok(Self { status: head.status, headers: head.headers, body })
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        self.parse()
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The body, when the status is this one.
    #[track_caller]
    pub(crate) fn expect<T: DeserializeOwned>(&self, status: u16) -> T {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        assert_eq!(self.header("content-type"), "application/json", "{self:?}");
        self.parse()
    }

    /// The problem document, when it is of this status and type.
    #[track_caller]
    pub(crate) fn expect_problem(&self, status: u16, slug: &str) -> Value {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        let problem = self.json();
        assert_eq!(problem["type"], format!("/problems/{slug}"), "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
        problem
    }
}
