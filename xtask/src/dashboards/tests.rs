//! The check, against a real Prometheus that reads real services, first without servers of ours and then with them.

use testkit::{Monitoring, Place, ServerProcess, ServerSpec, WatchedServer, binaries, free_port, shared};

use super::question::Expects;
use super::*;

/// How long it may take until every service has told all: rates need a few scrapes, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// Whether only our servers can answer.
fn is_of_our_servers(expression: &str) -> bool {
    ["dovetail", "-server"].iter().any(|word| expression.contains(word))
}

#[tokio::test]
async fn what_services_tell_is_found_and_what_our_servers_would_tell_is_missed() {
    let stack = shared::stack().await.unwrap();
    let programs = std::env::current_exe().unwrap();
    let starting = Monitoring::start(&Place::Temporary, None, stack, programs.parent().unwrap());
    let monitoring = starting.await.unwrap();
    let port = monitoring.port();
    let start = promql::now(port).await.unwrap();
    let (ours, theirs): (Vec<Question>, Vec<Question>) =
        questions().unwrap().into_iter().partition(|question| is_of_our_servers(&question.expression));
    assert!(ours.len() > 50 && theirs.len() > 30, "{} and {}", ours.len(), theirs.len());

    let ask = async |questions: &[Question]| -> anyhow::Result<Vec<Vec<String>>> {
        let mut answers: Vec<Answer> = questions.iter().map(|_| Answer::default()).collect();
        ask_all(questions, &mut answers, port, (start, promql::now(port).await?)).await;
        let known = promql::metric_names(port).await?.into_iter().collect();
        Ok(questions.iter().zip(&answers).map(|(question, answer)| answer.faults(question, &known)).collect())
    };
    let are_found = async || Ok(ask(&theirs).await?.concat().is_empty());
    if let Err(error) = until("the services tell what is asked of them", PATIENCE, are_found).await {
        panic!("{error:#}: {:#?}", ask(&theirs).await.unwrap().concat());
    }
    let not_missed: Vec<&Question> = ours
        .iter()
        .zip(ask(&ours).await.unwrap())
        .filter(|(_, faults)| faults.is_empty())
        .map(|(question, _)| question)
        .collect();
    assert!(not_missed.is_empty(), "nobody tells of these, and they are not at fault: {not_missed:#?}");

    // $shard is chosen by what our servers tell, also where RabbitMQ is asked.
    let (ours, theirs): (Vec<Choice>, Vec<Choice>) =
        choices().unwrap().into_iter().partition(|choice| is_of_our_servers(&choice.values));
    assert!(ours.len() > 20 && theirs.len() > 10, "{} and {}", ours.len(), theirs.len());
    let between = (start, promql::now(port).await.unwrap());
    let wrong = choice::faults(port, &theirs, between).await.unwrap();
    assert!(wrong.iter().all(Vec::is_empty), "{wrong:#?}");
    let missed = choice::faults(port, &ours, between).await.unwrap();
    for (choice, faults) in ours.iter().zip(&missed) {
        assert_eq!(faults.len(), usize::from(choice.expects == Expects::Data), "{choice:?}: {faults:?}");
    }
}

/// A server on the shared services.
async fn start_server(
    job: &'static str,
    program: &std::path::Path,
    database: &str,
    own: &[&str],
) -> (ServerProcess, WatchedServer) {
    let stack = shared::stack().await.unwrap();
    let admin_port = free_port().unwrap();
    let (admin, amqp) = (format!("127.0.0.1:{admin_port}"), stack.rabbit.amqp_urls().join(","));
    let shared = ["--admin", &admin, "--database", database, "--amqp", &amqp, "--redis", &stack.redis.url()]
        .map(Into::into);
    let spec = ServerSpec {
        name: format!("{job}-1"),
        program: program.to_owned(),
        args: shared.into_iter().chain(own.iter().map(Into::into)).collect(),
        envs: Vec::new(),
        admin_port,
    };
    let server = ServerProcess::start(&Place::Temporary, &spec, PATIENCE).await.unwrap();
    (server, WatchedServer { job, instance: spec.name, admin_port })
}

#[tokio::test]
async fn with_servers_and_people_every_panel_variable_and_rule_is_in_order() {
    let stack = shared::stack().await.unwrap();
    let programs = binaries().await.unwrap();
    let database = stack.postgres.new_database("dashboards").await.unwrap();
    let folder = programs.main_server.parent().unwrap();
    let monitoring = Monitoring::start(&Place::Temporary, None, stack, folder).await.unwrap();
    let port = free_port().unwrap();
    let listen = format!("127.0.0.1:{port}");
    let flags = ["--listen", &listen, "--auth", "dev"];
    let (main, main_watched) = start_server("main-server", &programs.main_server, &database, &flags).await;
    let (matching, matching_watched) =
        start_server("matching-server", &programs.matching_server, &database, &[]).await;
    monitoring.set_servers(&[main_watched, matching_watched]).unwrap();
    let running = Running {
        main_urls: vec![format!("http://{listen}")],
        matching_admin_ports: vec![matching.admin_port()],
        rabbitmq_ports: Vec::new(),
        prometheus_port: monitoring.port(),
        jwt_secret_file: None,
        programs: Vec::new(),
    };
    let player = Player::with(programs.replay.clone()).unwrap();
    let verdict = check(&questions().unwrap(), &choices().unwrap(), &running, Some(&player)).await.unwrap();
    assert_eq!(verdict, Verdict::Good, "the faults are listed above");
    for server in [main, matching] {
        assert_eq!(server.stop(PATIENCE).await.unwrap(), 0);
    }
}
