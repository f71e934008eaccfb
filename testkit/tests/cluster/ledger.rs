//! Load from a seed, and the ledger of what every phone saw of it.

use std::time::Duration;

use proto::TicketState;
use replay::drive::{Plan, drive};
use replay::generate::{Recipe, generate};
use replay::outcome::{Ending, Posted, Seen};
use replay::pairs::put_together;
use replay::report::{Mode, Report, Run};
use replay::simulate::simulate;
use replay::token::Tokens;
use replay::trace::Trace;
use service::policy::MatchPolicy;
use store::Store as _;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::world::Cluster;

/// Twelve regions over ten shards; a quarter of all people in one of them.
const REGIONS: &str = "kr.seoul=12,kr.busan=4,kr.gyeonggi=4,us.ca=4,us.ny=4,de.be=3,fr.idf=3,jp.tokyo=4,br.sp=3,in.ka=3,ng.la=2,mx.cmx=2";
/// So many fewer may be matched by chance alone, whatever the load: who is left over when it ends depends on who came first,
/// and the servers see an order of their own. In simulated time, of 400 to 1,500 people with arrivals moved by up to a second,
/// the most was 16 in 7,800 plays, the 99th percentile 14.
const LEFT_OVER: f64 = 16.0;
/// How many tickets are asked of the store at once.
const READ_BATCH: usize = 1_000;

/// Requests that arrive evenly for so long.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub users: usize,
    pub seconds: u64,
}

/// What every phone saw, once the last ticket has settled.
pub struct Ledger {
    pub report: Report,
    seen: Vec<Seen>,
    /// How many of those accepted are matched when nothing stands between them and one engine: some fit nobody, and who
    /// was refused is missed as a partner.
    could_match: usize,
}

/// Load that is being played.
pub struct Playing(JoinHandle<Ledger>);

impl Playing {
    /// Waits until every phone knows the end of its ticket.
    pub async fn ledger(self) -> Ledger {
        self.0.await.unwrap()
    }
}

impl Cluster {
    /// Plays load against all API servers: each phone submits at one and waits at the next.
    pub async fn play(&self, load: Load) -> Playing {
        let seed = rand::random::<u64>();
        println!("seed {seed}: {load:?}");
        let recipe = Recipe {
            users: load.users,
            duration_ms: load.seconds * 1_000,
            regions: REGIONS.split(',').map(|region| region.parse().unwrap()).collect(),
            districts: 0,
            seed,
        };
        let trace = generate(&recipe).unwrap();
        let mut servers = Vec::new();
        for main in &self.mains {
            let url = format!("http://127.0.0.1:{}", main.port).parse().unwrap();
            servers.push(replay::server::find(&url).await.unwrap());
        }
        // Three lives of a ticket, for what breaks meanwhile; a ledger that needs it fails on what is unsettled.
        let timeout = self.policy.expire_after * 3;
        let plan = Plan { servers, timeout, tokens: Tokens::Dev, idempotency_keys: true };
        #[allow(clippy::disallowed_methods, reason = "joined by whoever asks for the ledger")]
        Playing(tokio::spawn(play(trace, self.policy.clone(), plan)))
    }
}

async fn play(trace: Trace, policy: MatchPolicy, plan: Plan) -> Ledger {
    let seen = drive(&trace, plan, &CancellationToken::new(), |_| {}).await.unwrap();
    let requests = trace.requests().iter().zip(&seen);
    let accepted = requests.filter(|(_, seen)| ticket_of(seen).is_some()).map(|(request, _)| request.clone());
    let alone = simulate(&Trace::new(accepted.collect()).unwrap(), &policy, || {}).unwrap();
    let could_match = alone.iter().filter(|one| matches!(one.ending, Ending::Matched { .. })).count();
    let run = Run { mode: Mode::Http, elapsed_seconds: 0.0, interrupted: false, bound: None };
    let report = Report::new(&trace, &seen, &put_together(&trace, &seen), run);
    Ledger { report, seen, could_match }
}

impl Ledger {
    /// Holds that nobody was lost, matched twice, with themselves or on one side only, and that every phone was told what the
    /// store says.
    pub async fn balance(&self, cluster: &Cluster) {
        let report = &self.report;
        assert_eq!(report.faults(), 0, "{report:#?}");
        assert_eq!(
            report.accepted + report.rejected,
            report.submitted,
            "everybody was answered: {report:#?}"
        );
        assert_eq!(report.unsettled, 0, "everybody learnt how it ended: {report:#?}");
        assert_eq!(report.zero_shared_pairs, 0, "{report:#?}");
        for seen in self.seen.chunks(READ_BATCH) {
            let ids: Vec<_> = seen.iter().filter_map(ticket_of).collect();
            let kept = cluster.store.tickets(&ids).await.unwrap();
            assert_eq!(kept.len(), ids.len(), "every ticket that was answered is there");
            for one in seen {
                let Some(id) = ticket_of(one) else { continue };
                let owned = kept.iter().find(|owned| owned.ticket.id == id).unwrap();
                let (state, made) = (owned.ticket.state, owned.ticket.r#match.as_ref().map(|made| made.id));
                let told = match &one.ending {
                    Ending::Matched { match_id, .. } => (TicketState::Matched, Some(*match_id)),
                    Ending::Expired => (TicketState::Expired, None),
                    Ending::Cancelled | Ending::Unsettled => panic!("nobody cancels here: {one:?}"),
                };
                assert_eq!(told, (state, made), "what the phone of {id} was told is what the store says");
            }
        }
        assert_eq!(cluster.store.waiting_by_shard().await.unwrap(), [], "nobody waits any more");
    }

    /// As [`Self::balance`], and nobody was refused and nearly everybody matched.
    pub async fn balance_with_all_matched(&self, cluster: &Cluster) {
        self.balance(cluster).await;
        assert_eq!(self.report.rejected, 0, "{:#?}", self.report);
        self.matched_at_least(0.98);
    }

    /// Holds that so many were matched of those who would be if nothing stood in between, but for chance.
    pub fn matched_at_least(&self, share: f64) {
        let Report { matched, accepted, .. } = self.report;
        let could = self.could_match;
        println!("{matched} of {accepted} were matched; {could} in simulated time");
        assert!(matched as f64 >= share * could as f64 - LEFT_OVER, "{:#?}", self.report);
    }

    /// The longest that somebody who was matched waited.
    pub fn longest_wait(&self) -> Duration {
        Duration::from_secs_f64(self.report.wait_ms.max.unwrap_or_default() / 1_000.0)
    }
}

fn ticket_of(seen: &Seen) -> Option<proto::TicketId> {
    match seen.posted {
        Posted::Ticket(id) => Some(id),
        Posted::NotSent | Posted::Unanswered | Posted::Rejected | Posted::Failed => None,
    }
}
