//! The check, against a real Prometheus that reads real services and none of our servers.

use testkit::{Monitoring, Place, shared};

use super::*;

/// How long it may take until every service has told all: rates need a few scrapes, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// Whether only our servers can answer.
fn is_of_our_servers(question: &Question) -> bool {
    ["dovetail", "-server"].iter().any(|word| question.expression.contains(word))
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
        questions().unwrap().into_iter().partition(is_of_our_servers);
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
}
