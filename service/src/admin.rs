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
    metrics_process::Collector::default().collect();
    // Moves recorded samples into their buckets, which otherwise grow between two scrapes.
    admin.metrics.run_upkeep();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], admin.metrics.render())
}

/// Keeps the recorder's buffers small when nobody scrapes.
pub async fn keep_metrics(metrics: PrometheusHandle) {
    let mut tick = tokio::time::interval(Duration::from_secs(5));
    loop {
        tick.tick().await;
        metrics.run_upkeep();
    }
}
