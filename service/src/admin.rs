//! The admin port: `/live`, `/ready` and `/metrics`. Not for the public.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Map, Value, json};
use store::Store;

use crate::health::Health;
use crate::metrics;

/// How long `/ready` waits for the store.
const STORE_DEADLINE: Duration = Duration::from_secs(1);

/// What the admin port shows.
#[derive(Clone)]
pub struct Admin {
    store: Arc<dyn Store>,
    metrics: PrometheusHandle,
    draining: Arc<AtomicBool>,
    /// What this process can do without for a while: shown, and no reason not to be ready.
    dependencies: Arc<[Health]>,
}

impl Admin {
    /// Shows the state of this process and its store.
    pub fn new(store: Arc<dyn Store>, metrics: PrometheusHandle) -> Self {
        Self { store, metrics, draining: Arc::default(), dependencies: Arc::default() }
    }

    /// Shows these in `/ready` too.
    #[must_use]
    pub fn with_dependencies(self, dependencies: Vec<Health>) -> Self {
        Self { dependencies: dependencies.into(), ..self }
    }

    /// From now on `/ready` fails, so that no new callers are sent here.
    pub fn start_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// The routes.
    pub fn router(self) -> Router {
        Router::new()
            .route("/live", get(|| async { "ok\n" }))
            .route("/ready", get(ready))
            .route("/metrics", get(show_metrics))
            .with_state(self)
    }
}

/// 200 when this process can serve, 503 when its store does not answer or it is shutting down; with the detail. A lost
/// RabbitMQ or Redis is detail only: people are accepted and matched without.
async fn ready(State(admin): State<Admin>) -> Response {
    let draining = admin.draining.load(Ordering::Relaxed);
    let store = match tokio::time::timeout(STORE_DEADLINE, admin.store.now()).await {
        Ok(Ok(_)) => "ok",
        Ok(Err(_)) => "failing",
        Err(_) => "not answering",
    };
    let ready = !draining && store == "ok";
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let mut detail = json!({ "ready": ready, "draining": draining, "store": store });
    if !admin.dependencies.is_empty() {
        let states = admin.dependencies.iter();
        let states: Map<String, Value> =
            states.map(|health| (health.name().to_owned(), health.to_string().into())).collect();
        detail["dependencies"] = states.into();
    }
    (status, axum::Json(detail)).into_response()
}

async fn show_metrics(State(admin): State<Admin>) -> impl IntoResponse {
    let page = metrics::render(&admin.metrics, &*admin.store);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page)
}

/// Keeps the recorder's buffers small when nobody scrapes.
pub async fn keep_metrics(metrics: PrometheusHandle) {
    let mut tick = tokio::time::interval(Duration::from_secs(5));
    loop {
        tick.tick().await;
        metrics.run_upkeep();
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt as _;
    use metrics_exporter_prometheus::PrometheusBuilder;
    use store::{SqliteLocation, SqliteStore};
    use tower::ServiceExt as _;

    use super::*;
    use crate::policy::MatchPolicy;

    async fn ready(admin: &Admin) -> (StatusCode, Value) {
        let request = Request::get("/ready").body(Body::empty()).unwrap();
        let response = admin.clone().router().oneshot(request).await.unwrap();
        let (status, body) = (response.status(), response.into_body().collect().await.unwrap().to_bytes());
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn a_lost_broker_is_detail_and_no_reason_to_refuse_people() {
        let rules = MatchPolicy::load_or_default(None).unwrap().rules();
        let store = SqliteStore::open(&SqliteLocation::Memory, rules).await.unwrap();
        let (broker, redis) = (Health::new("amqp-publish"), Health::new("redis-tell"));
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        let admin =
            Admin::new(Arc::new(store), metrics).with_dependencies(vec![broker.clone(), redis.clone()]);
        broker.set_up();
        redis.set_up();
        broker.set_away("connection refused");
        let (status, detail) = ready(&admin).await;
        assert_eq!(status, StatusCode::OK);
        let states = json!({ "amqp-publish": "away for 0 s: connection refused", "redis-tell": "ok" });
        assert_eq!(detail["dependencies"], states);
        admin.start_draining();
        assert_eq!(ready(&admin).await.0, StatusCode::SERVICE_UNAVAILABLE);
    }
}
