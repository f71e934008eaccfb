//! Every statement looks up what it needs by index, in the plan that is made while the tables are empty and then kept.

use std::collections::HashMap;

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use super::open::SESSION;
use super::{accept, announce, blocks, losers, members, read, settle};

const STATEMENTS: &[(&str, &str)] = &[
    ("insert tickets", accept::INSERT_TICKETS),
    ("expire overdue of users", accept::EXPIRE_OVERDUE_OF_USERS),
    ("forget keys past their life", accept::FORGET_KEYS_PAST_THEIR_LIFE),
    ("losers", losers::LOSERS),
    ("bind keys", losers::BIND_KEYS),
    ("lock waiting", settle::LOCK_WAITING),
    ("read pairs", settle::READ_PAIRS),
    ("write matches", settle::WRITE_MATCHES),
    ("cancel", settle::CANCEL),
    ("ticket of user", settle::TICKET_OF_USER),
    ("expire overdue", settle::EXPIRE_OVERDUE),
    ("forget old keys", settle::FORGET_OLD_KEYS),
    ("tickets by id", read::TICKETS_BY_ID),
    ("settled tickets", read::SETTLED_TICKETS),
    ("waiting of user", read::WAITING_OF_USER),
    ("last settled of user", read::LAST_SETTLED_OF_USER),
    ("keyed of user", read::KEYED_OF_USER),
    ("matches of user", read::MATCHES_OF_USER),
    ("match of user", read::MATCH_OF_USER),
    ("pool tickets", read::POOL_TICKETS),
    ("waiting ids", read::WAITING_IDS),
    ("loads", read::LOADS),
    ("unannounced", announce::UNANNOUNCED),
    ("note announced", announce::NOTE_ANNOUNCED),
    ("insert block", blocks::INSERT_BLOCK),
    ("wait for settlements", blocks::WAIT_FOR_SETTLEMENTS),
    ("delete block", blocks::DELETE_BLOCK),
    ("pool ticket of user", blocks::POOL_TICKET_OF_USER),
    ("release shards", members::RELEASE_SHARDS),
];

/// Tables with a handful of rows, which may be read whole.
const SMALL: &[&str] = &["members", "shard_leases"];
/// Statements and the indexes that hold nothing but what they ask for.
const WHOLE: &[(&str, &str)] = &[("loads", "waiting_by_shard")];

/// The first column of each index.
type Indexes = HashMap<String, String>;

/// Adds up the ways in which a plan reads more than it must.
fn find_faults(statement: &str, node: &Value, indexes: &Indexes, faults: &mut Vec<String>) {
    let text = |name: &str| node[name].as_str().unwrap_or_default();
    let (kind, relation, index, condition) =
        (text("Node Type"), text("Relation Name"), text("Index Name"), text("Index Cond"));
    if !SMALL.contains(&relation) && !WHOLE.contains(&(statement, index)) {
        if kind == "Seq Scan" || kind.contains("Hash Join") || kind.contains("Merge Join") {
            faults.push(format!("{statement}: {kind} {relation}"));
        }
        if let Some(first) = indexes.get(index) {
            // Most of those that wait have their deadline before them: searched for these, the index is read whole.
            let searched = condition.contains(&format!("({first} ")) && !condition.contains("expires_at >");
            if !searched {
                faults.push(format!("{statement}: {kind} through all of {index}"));
            }
        }
    }
    for plan in node["Plans"].as_array().into_iter().flatten() {
        find_faults(statement, plan, indexes, faults);
    }
}

async fn faults_of(
    connection: &mut PgConnection,
    name: &str,
    statement: &str,
    indexes: &Indexes,
) -> Vec<String> {
    let mut faults = Vec::new();
    find_faults(name, &plan_of(connection, statement).await[0]["Plan"], indexes, &mut faults);
    faults
}

async fn plan_of(connection: &mut PgConnection, statement: &str) -> Value {
    let parameters = (1..20).take_while(|n| statement.contains(&format!("${n}"))).count();
    let arguments =
        if parameters == 0 { String::new() } else { format!("({})", vec!["NULL"; parameters].join(", ")) };
    connection.execute(AssertSqlSafe(format!("PREPARE asked AS {statement}"))).await.unwrap();
    let explain = format!("EXPLAIN (FORMAT JSON) EXECUTE asked{arguments}");
    let row = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_one(&mut *connection).await.unwrap();
    connection.execute("DEALLOCATE asked").await.unwrap();
    serde_json::from_str(row.try_get_unchecked::<&str, _>(0).unwrap()).unwrap()
}

#[tokio::test]
async fn no_statement_reads_a_table_whole() {
    let postgres = testkit::shared::postgres().await.unwrap();
    let url = postgres.new_database("plans").await.unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    sqlx::migrate!("migrations/postgres").run(&mut connection).await.unwrap();
    for (name, value) in SESSION {
        connection.execute(AssertSqlSafe(format!("SET {name} = '{value}'"))).await.unwrap();
    }
    connection.execute("SET plan_cache_mode = force_generic_plan").await.unwrap();
    let indexes: Indexes = sqlx::query(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) FROM pg_index \
         JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'public'::regnamespace",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap()
    .iter()
    .map(|row| (row.get(0), row.get(1)))
    .collect();
    let mut faults = Vec::new();
    for (name, statement) in STATEMENTS {
        faults.extend(faults_of(&mut connection, name, statement, &indexes).await);
    }
    assert_eq!(faults, Vec::<String>::new());
    // What is searched for is found.
    for (whole, fault) in [
        ("SELECT * FROM tickets WHERE region = $1", "Seq Scan tickets"),
        ("SELECT id FROM tickets WHERE state = 'waiting' AND created_at = $1", "through all of"),
        ("SELECT id FROM tickets WHERE state = 'waiting' AND expires_at > $1", "through all of"),
    ] {
        let found = faults_of(&mut connection, "it", whole, &indexes).await;
        assert!(found.len() == 1 && found[0].contains(fault), "{found:?}");
    }
}
