//! Idempotency keys whose life is over.

use sqlx::Executor;
use store::{Accepted, Store};

use crate::servers::Servers;
use crate::world::user;

#[tokio::test]
async fn a_key_past_its_life_is_as_new() {
    let servers = Servers::start().await;
    let wish = |name: &str| {
        let mut wish = servers.wish(name);
        wish.key = Some("k".to_owned());
        wish
    };
    let (ana, bo) = (wish("ana"), wish("bo"));
    servers.one.accept(&[ana.clone(), bo.clone()]).await.unwrap();
    servers.one.cancel(&ana.user, ana.id).await.unwrap();
    servers
        .connect()
        .await
        .execute("UPDATE ticket_keys SET created_at = created_at - 86400000")
        .await
        .unwrap();
    assert_eq!(servers.one.keyed_ticket(&user("ana"), "k").await.unwrap(), None);
    let again = wish("ana");
    let answer = servers.one.accept(std::slice::from_ref(&again)).await.unwrap().remove(0);
    assert!(matches!(answer, Accepted::Created { .. }), "{answer:?}");
    let named = servers.one.keyed_ticket(&user("ana"), "k").await.unwrap().map(|ticket| ticket.id);
    assert_eq!(named, Some(again.id));
    assert_eq!(servers.one.forget_old_keys(10).await.unwrap(), 1, "bo's is left");
    assert_eq!(servers.one.forget_old_keys(10).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_press_on_two_servers_is_one_ticket() {
    let servers = Servers::start().await;
    for round in 0..40 {
        let wish = || {
            let mut wish = servers.wish(&format!("ana {round}"));
            wish.key = Some("k".to_owned());
            wish
        };
        let (one, two) = ([wish()], [wish()]);
        let (one, two) = tokio::join!(servers.one.accept(&one), servers.two.accept(&two));
        let mut ids = Vec::new();
        let mut created = 0;
        for answer in [one.unwrap().remove(0), two.unwrap().remove(0)] {
            created += usize::from(matches!(answer, Accepted::Created { .. }));
            match answer {
                Accepted::Created { ticket, .. } | Accepted::Keyed(ticket) => ids.push(ticket.id),
                Accepted::Waiting(ticket) => panic!("its key names it: {ticket:?}"),
            }
        }
        assert_eq!((ids[0], created), (ids[1], 1));
    }
}
