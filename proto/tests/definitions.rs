//! What RabbitMQ is told agrees with what the code relies on.

use std::time::Duration;

use proto::topology::{
    DEAD_QUEUE, DEAD_QUEUE_MAX_LENGTH, DEAD_QUEUE_OVERFLOW, DEAD_TTL, DELIVERY_LIMIT, HINT_TTL,
    LEADER_LOCATOR, MATCHES_EXCHANGE, MATCHES_EXCHANGE_KIND, MATCHES_QUEUE_MAX_LENGTH,
    MATCHES_QUEUE_OVERFLOW, MATCHES_QUEUE_PREFIX, MATCHES_TTL, QUEUE_TYPE, SHARD_QUEUE_MAX_BYTES,
    SHARD_QUEUE_MAX_LENGTH, SHARD_QUEUE_OVERFLOW, SHARD_QUEUE_PREFIX, VIRTUAL_HOST, shard_queue,
};
use proto::{DEFAULT_SHARD_COUNT, ShardId};
use serde_json::{Value, json};

fn definitions() -> Value {
    serde_json::from_str(include_str!("../../rabbitmq/definitions.json")).expect("JSON")
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("a few days")
}

#[test]
fn the_queues_are_those_of_the_code() {
    let queue = |name: String| {
        let (argument, value) = QUEUE_TYPE;
        json!({
            "name": name, "vhost": VIRTUAL_HOST, "durable": true, "auto_delete": false,
            "arguments": { argument: value },
        })
    };
    let mut queues: Vec<Value> =
        (0..DEFAULT_SHARD_COUNT).map(|shard| queue(shard_queue(ShardId(shard)))).collect();
    queues.push(queue(DEAD_QUEUE.to_owned()));
    assert_eq!(definitions()["queues"], Value::Array(queues));
}

#[test]
fn the_exchange_is_that_of_the_code() {
    let exchange = json!({
        "name": MATCHES_EXCHANGE, "vhost": VIRTUAL_HOST, "type": MATCHES_EXCHANGE_KIND, "durable": true,
        "auto_delete": false, "internal": false, "arguments": {},
    });
    assert_eq!(definitions()["exchanges"], json!([exchange]));
}

#[test]
fn the_policies_are_those_of_the_code() {
    let policy = |name: &str, pattern: String, definition: Value| {
        json!({
            "vhost": VIRTUAL_HOST, "name": name, "pattern": pattern, "apply-to": "queues", "priority": 0,
            "definition": definition,
        })
    };
    // No dead-letter exchange anywhere: the broker would move what expired, and count it as undecodable.
    let shards = json!({
        "message-ttl": millis(HINT_TTL), "max-length": SHARD_QUEUE_MAX_LENGTH,
        "max-length-bytes": SHARD_QUEUE_MAX_BYTES, "overflow": SHARD_QUEUE_OVERFLOW,
        "delivery-limit": DELIVERY_LIMIT, "queue-leader-locator": LEADER_LOCATOR,
    });
    let dead = json!({
        "message-ttl": millis(DEAD_TTL), "max-length": DEAD_QUEUE_MAX_LENGTH, "overflow": DEAD_QUEUE_OVERFLOW,
        "delivery-limit": DELIVERY_LIMIT, "queue-leader-locator": LEADER_LOCATOR,
    });
    let matches = json!({
        "message-ttl": millis(MATCHES_TTL), "max-length": MATCHES_QUEUE_MAX_LENGTH,
        "overflow": MATCHES_QUEUE_OVERFLOW, "delivery-limit": DELIVERY_LIMIT,
        "queue-leader-locator": LEADER_LOCATOR,
    });
    let expected = [
        policy("shards", format!("^{}", SHARD_QUEUE_PREFIX.replace('.', r"\.")), shards),
        policy("dead", format!("^{}$", DEAD_QUEUE.replace('.', r"\.")), dead),
        policy("matches", format!("^{}", MATCHES_QUEUE_PREFIX.replace('.', r"\.")), matches),
    ];
    assert_eq!(definitions()["policies"], json!(expected));
}

#[test]
fn no_user_and_no_password_is_in_the_file() {
    let file = definitions();
    for section in ["users", "permissions"] {
        assert!(file.get(section).is_none(), "{section}: each installation has its own");
    }
}
