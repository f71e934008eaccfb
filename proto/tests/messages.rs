//! Messages on the wire: golden files, what is refused, and that nothing sent can break a reader.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::fmt::Debug;

use proptest::prelude::*;
use proto::{
    Hint, InterestSet, MatchId, MatchMade, MatchedTicket, MatchesMade, Message, PoolTicket, ShardId,
    TicketId, Timestamp, Undecodable, UserId, Wakeup, decode, encode,
};
use serde_json::{Value, json};

fn user(name: &str) -> UserId {
    UserId::new(name).unwrap()
}

fn ticket(id: u128) -> TicketId {
    TicketId::from_u128(0x0192_f3c1_7b4e_7c3a_9d1e_5f60_7182_9300 + id)
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_796_158_800_000 + seconds * 1_000)
}

fn hint() -> Hint {
    let waiting = PoolTicket {
        id: ticket(1),
        user: user("ana"),
        region: "kr.seoul".parse().unwrap(),
        interests: InterestSet::new(&["jazz", "보드게임"]).unwrap(),
        created_at: at(0),
        expires_at: at(60),
        avoid: vec![user("eve")],
    };
    Hint { shard: ShardId(6), waiting: vec![waiting], withdrawn: vec![(ticket(2), at(59))] }
}

fn wakeup() -> Wakeup {
    Wakeup { tickets: vec![ticket(1), ticket(2)] }
}

fn matches_made() -> MatchesMade {
    let made = MatchMade {
        id: MatchId::from_u128(0x0192_f3c1_8000_7000_8000_0000_0000_0001),
        tickets: [
            MatchedTicket { id: ticket(1), user: user("ana") },
            MatchedTicket { id: ticket(2), user: user("bo") },
        ],
        shared_interests: vec!["jazz".to_owned()],
        similarity: 1.0 / 3.0,
        region: "kr.seoul".parse().unwrap(),
        made_at: at(1),
    };
    MatchesMade { matches: vec![made] }
}

/// Every version that was ever written stays readable, and this version is written as it always was.
fn agrees_with<M: Message + PartialEq + Debug>(golden: &str, message: &M) {
    assert_eq!(decode::<M>(golden.as_bytes()).as_ref(), Ok(message), "reading");
    let [golden, written] =
        [golden.as_bytes(), &encode(message)].map(|bytes| serde_json::from_slice::<Value>(bytes).unwrap());
    assert_eq!(written, golden, "writing: a change of what is written needs a new version, or a new member");
}

#[test]
fn golden_files() {
    agrees_with(include_str!("golden/hint.1.json"), &hint());
    agrees_with(include_str!("golden/wakeup.1.json"), &wakeup());
    agrees_with(include_str!("golden/matches-made.1.json"), &matches_made());
}

/// A good hint with one change.
fn changed(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut message: Value = serde_json::from_slice(&encode(&hint())).unwrap();
    change(&mut message);
    serde_json::to_vec(&message).unwrap()
}

#[test]
fn unknown_members_are_ignored() {
    let bytes = changed(|message| {
        message["sent_by"] = json!("a newer server");
        message["body"]["priority"] = json!(7);
        message["body"]["waiting"][0]["mood"] = json!({ "as": ["good"] });
    });
    assert_eq!(decode(&bytes), Ok(hint()));
}

#[test]
fn what_is_wrong_is_said_without_repeating_it() {
    let wrong_kind = decode::<Wakeup>(&encode(&hint()));
    assert_eq!(wrong_kind, Err(Undecodable::WrongKind { expected: "wakeup" }));
    let newer = decode::<Hint>(&changed(|message| message["version"] = json!(2)));
    assert_eq!(newer, Err(Undecodable::Newer { kind: "hint", version: 2, known: 1 }));
    for bytes in [&b""[..], b"hint", b"[]", b"{}", b"\xff\xfe", br#"{"kind":"hint"}"#, br#"{"version":1}"#] {
        assert_eq!(decode::<Hint>(bytes), Err(Undecodable::NotAnEnvelope), "{bytes:?}");
    }
    let bad = changed(|message| message["body"]["shard"] = json!("secret taste"));
    let error = decode::<Hint>(&bad).unwrap_err();
    assert!(matches!(error, Undecodable::InvalidBody { kind: "hint", version: 1, .. }), "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn reading_checks_as_the_types_do() {
    let refused = |what: &str, change: fn(&mut Value)| {
        let read = decode::<Hint>(&changed(change));
        assert!(matches!(read, Err(Undecodable::InvalidBody { .. })), "{what}: {read:?}");
    };
    refused("a region", |m| m["body"]["waiting"][0]["region"] = json!("Seoul!"));
    refused("no interests", |m| m["body"]["waiting"][0]["interests"] = json!([]));
    refused("an empty user", |m| m["body"]["waiting"][0]["user"] = json!(""));
    refused("a control in an avoided user", |m| m["body"]["waiting"][0]["avoid"] = json!(["a\u{0}b"]));
    refused("a moment", |m| m["body"]["waiting"][0]["expires_at"] = json!("tomorrow"));
    refused("an id", |m| m["body"]["withdrawn"][0][0] = json!("1"));
    refused("no body", |m| drop(m.as_object_mut().unwrap().remove("body")));
    refused("a null body", |m| m["body"] = Value::Null);
}

prop_compose! {
    fn any_user()(name in "[^\\p{Cc}]{1,128}") -> UserId { UserId::new(&name).unwrap() }
}

prop_compose! {
    fn any_ticket()(
        id: u128,
        user in any_user(),
        region in "[a-z0-9-]{1,32}(\\.[a-z0-9-]{1,32}){0,3}",
        interests in prop::collection::vec("[a-zA-Z0-9가-힣é+# ]{0,20}[a-z]", 1..8),
        created in 0_u64..4_000_000_000_000,
        lasts in 0_u64..100_000,
        avoid in prop::collection::vec(any_user(), 0..4),
    ) -> PoolTicket {
        PoolTicket {
            id: TicketId::from_u128(id),
            user,
            region: region.parse().unwrap(),
            interests: InterestSet::new(&interests).unwrap(),
            created_at: Timestamp::from_millis(created),
            expires_at: Timestamp::from_millis(created + lasts),
            avoid,
        }
    }
}

prop_compose! {
    fn any_hint()(
        shard: u16,
        waiting in prop::collection::vec(any_ticket(), 0..4),
        withdrawn in prop::collection::vec((any::<u128>(), 0_u64..4_000_000_000_000), 0..4),
    ) -> Hint {
        let withdrawn = withdrawn.into_iter().map(|(id, ms)| (TicketId::from_u128(id), Timestamp::from_millis(ms)));
        Hint { shard: ShardId(shard), waiting, withdrawn: withdrawn.collect() }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(hint in any_hint()) {
        prop_assert_eq!(decode(&encode(&hint)), Ok(hint));
    }

    /// Every similarity that two tickets can have arrives as it was sent.
    #[test]
    fn similarities_arrive_whole((union, shared) in (1_u32..=128).prop_flat_map(|union| (Just(union), 0..=union))) {
        let mut made = matches_made();
        made.matches[0].similarity = f64::from(shared) / f64::from(union);
        prop_assert_eq!(decode(&encode(&made)), Ok(made));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = decode::<Hint>(&bytes);
        let _ = decode::<Wakeup>(&bytes);
        let _ = decode::<MatchesMade>(&bytes);
    }

    /// A message with some bytes changed, cut or repeated: closer to what a bug sends than noise.
    #[test]
    fn damaged_messages_are_read_or_refused(
        hint in any_hint(),
        at: prop::sample::Index,
        until: prop::sample::Index,
        put in prop::collection::vec(any::<u8>(), 0..6),
    ) {
        let mut bytes = encode(&hint);
        let (a, b) = (at.index(bytes.len()), until.index(bytes.len()));
        bytes.splice(a.min(b)..a.max(b), put);
        let _ = decode::<Hint>(&bytes);
    }
}
