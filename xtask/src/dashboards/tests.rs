//! The check, against a real Prometheus that reads real services and none of our servers.

use testkit::{Monitoring, Place, shared};

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
