//! Prometheus reads the services, and follows servers as they come and go.

use testkit::http::get;
use testkit::promql::query;
use testkit::{Monitoring, Place, WatchedServer, free_port, shared, until};

use crate::PATIENCE;

/// What an expression gives now, a number for each series.
async fn values(monitoring: &Monitoring, expression: &str) -> Vec<f64> {
    let series = query(monitoring.port(), expression).await.unwrap();
    series.into_iter().map(|series| series.values[0].1).collect()
}

async fn until_it_gives(monitoring: &Monitoring, expression: &str, expected: &[f64]) {
    let is_so = async || Ok(values(monitoring, expression).await == expected);
    let waited = until(expression, PATIENCE, is_so).await;
    waited.unwrap_or_else(|error| panic!("{error:#}; it ends with {expression:?}"));
}

#[tokio::test]
async fn prometheus_reads_every_service_and_follows_the_servers() {
    let stack = shared::stack().await.unwrap();
    let programs = std::env::current_exe().unwrap();
    let start = Monitoring::start(&Place::Temporary, None, stack, programs.parent().unwrap());
    let monitoring = start.await.unwrap();

    // Three nodes twice, three exporters, Prometheus itself.
    until_it_gives(&monitoring, "count(up == 1)", &[10.0]).await;
    until_it_gives(&monitoring, "pg_up + on () redis_up", &[2.0]).await;
    let queues = r#"count(count by (queue) (rabbitmq_detailed_queue_messages_ready{queue=~"tickets[.].+"}))"#;
    until_it_gives(&monitoring, queues, &[13.0]).await;
    // This stack's processes alone: others of the same names may run on this machine.
    until_it_gives(&monitoring, r#"namedprocess_namegroup_num_procs{groupname="redis"}"#, &[1.0]).await;
    // Nodes and connections are many, and what they started counts too.
    let with_children = r#"count(namedprocess_namegroup_num_procs{groupname=~"rabbitmq|postgres"} > 2)"#;
    until_it_gives(&monitoring, with_children, &[2.0]).await;
    until_it_gives(&monitoring, "count(up == 0) or vector(0)", &[0.0]).await;

    let server = |number: u32| WatchedServer {
        job: "main-server",
        instance: format!("main-server-{number}"),
        admin_port: free_port().unwrap(),
    };
    // Nobody listens there, and Prometheus says so.
    monitoring.set_servers(&[server(1), server(2)]).unwrap();
    until_it_gives(&monitoring, r#"up{instance="main-server-2",job="main-server"}"#, &[0.0]).await;
    monitoring.set_servers(&[server(1)]).unwrap();
    until_it_gives(&monitoring, r#"count(up{job="main-server"})"#, &[1.0]).await;

    let (status, rules) = get(monitoring.port(), "/api/v1/rules").await.unwrap();
    assert_eq!((status, rules.contains("TargetDown")), (200, true), "{rules}");
    let refused = query(monitoring.port(), "sum(").await.unwrap_err();
    assert!(format!("{refused:#}").contains("parse error"), "{refused:#}");
}
