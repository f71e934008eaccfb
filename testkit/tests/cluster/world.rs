//! A cluster: the shared services, a new database, and servers that a test may break.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proto::OwnerId;
use service::ids::new_owner_id;
use service::policy::MatchPolicy;
use store::{Lease, Member, MemberKind, Members, PostgresConfig, PostgresStore};
use testkit::{Binaries, Place, ServerProcess, ServerSpec, Stack, binaries, free_port, shared, until};
use tokio::sync::{Mutex, MutexGuard};

/// How long a server may take to be ready, and a shard to be taken: generous, since debug builds share two cores with a
/// broker of three nodes.
const DEADLINE: Duration = Duration::from_secs(60);
/// What a stopping server gets.
const STOP_DEADLINE: Duration = Duration::from_secs(30);

/// The policy of these tests: the usual one, but whom nobody fits need not be waited for a minute.
const POLICY: &str = "expire_after = \"20s\"\n";

pub struct Cluster {
    /// One at a time: they share the services and break them.
    _alone: MutexGuard<'static, ()>,
    pub stack: &'static Stack,
    pub mains: Vec<Main>,
    pub matching: Vec<ServerProcess>,
    /// Reads along, as one more member with few connections.
    pub store: Arc<PostgresStore>,
    spectator: Member,
    /// What the servers pair by.
    pub policy: MatchPolicy,
    policy_file: PathBuf,
    database: String,
    binaries: &'static Binaries,
    started: u32,
}

/// An API server and where it listens.
pub struct Main {
    pub process: ServerProcess,
    pub port: u16,
}

/// Where a server finds a service, when that is not where it is.
#[derive(Default, Clone)]
pub struct Detour {
    pub redis: Option<String>,
}

impl Cluster {
    pub async fn start(mains: usize, matching: usize) -> Self {
        Self::start_with(POLICY, mains, matching).await
    }

    pub async fn start_with(policy: &str, mains: usize, matching: usize) -> Self {
        static ALONE: Mutex<()> = Mutex::const_new(());
        static DATABASES: AtomicU32 = AtomicU32::new(0);
        let alone = ALONE.lock().await;
        let stack = shared::stack().await.unwrap();
        // Whatever the test before this one left broken.
        stack.postgres.restart().await.unwrap();
        stack.redis.restart().await.unwrap();
        stack.rabbit.start_all().await.unwrap();
        let number = DATABASES.fetch_add(1, Ordering::Relaxed);
        let database = stack.postgres.new_database(&format!("cluster_{number}")).await.unwrap();
        let file = std::env::temp_dir().join(format!("dovetail-policy-{}-{number}.toml", std::process::id()));
        std::fs::write(&file, policy).unwrap();
        let spectator = Member { owner: new_owner_id(), kind: MemberKind::MainServer, connections: 2 };
        let config = PostgresConfig {
            url: database.clone(),
            connections: spectator.connections,
            member: spectator.clone(),
        };
        let policy = policy.parse::<MatchPolicy>().unwrap();
        let store = Arc::new(PostgresStore::open(&config, policy.rules()).await.unwrap());
        let binaries = binaries().await.unwrap();
        let mut cluster = Self {
            _alone: alone,
            stack,
            mains: Vec::new(),
            matching: Vec::new(),
            store,
            spectator,
            policy,
            policy_file: file,
            database,
            binaries,
            started: 0,
        };
        for _ in 0..mains {
            cluster.add_main(&Detour::default()).await;
        }
        cluster.add_matching(matching).await;
        cluster
    }

    pub async fn add_main(&mut self, detour: &Detour) {
        let (port, admin_port) = (free_port().unwrap(), free_port().unwrap());
        let mut args = self.args(admin_port, detour);
        args.extend(["--listen".into(), format!("127.0.0.1:{port}").into(), "--auth".into(), "dev".into()]);
        let process = self.launch("main-server", self.binaries.main_server.clone(), args, admin_port).await;
        self.mains.push(Main { process, port });
    }

    /// Starts matching servers and waits until every shard is owned, each server holding its share.
    pub async fn add_matching(&mut self, count: usize) {
        for _ in 0..count {
            let admin_port = free_port().unwrap();
            let args = self.args(admin_port, &Detour::default());
            let program = self.binaries.matching_server.clone();
            let process = self.launch("matching-server", program, args, admin_port).await;
            self.matching.push(process);
        }
        if count > 0 {
            self.until_balanced(self.matching.len()).await;
        }
    }

    async fn launch(
        &mut self,
        name: &str,
        program: PathBuf,
        args: Vec<OsString>,
        admin_port: u16,
    ) -> ServerProcess {
        self.started += 1;
        let spec = ServerSpec {
            name: format!("{name}-{}", self.started),
            program,
            args,
            envs: Vec::new(),
            admin_port,
        };
        ServerProcess::start(&Place::Temporary, &spec, DEADLINE).await.unwrap()
    }

    fn args(&self, admin_port: u16, detour: &Detour) -> Vec<OsString> {
        let redis = detour.redis.clone().unwrap_or_else(|| self.stack.redis.url());
        let flags: [(&str, String); 5] = [
            ("--admin", format!("127.0.0.1:{admin_port}")),
            ("--database", self.database.clone()),
            ("--amqp", self.stack.rabbit.amqp_urls().join(",")),
            ("--redis", redis),
            ("--policy", self.policy_file.display().to_string()),
        ];
        flags.into_iter().flat_map(|(flag, value)| [flag.into(), value.into()]).collect()
    }

    /// Stops the last matching server as an operator would.
    pub async fn drain_matching(&mut self) {
        let process = self.matching.pop().unwrap();
        assert_eq!(process.stop(STOP_DEADLINE).await.unwrap(), 0, "it stops cleanly");
    }

    /// The leases that have not run out.
    pub async fn leases(&self) -> Vec<Lease> {
        self.store.renew(&self.spectator).await.unwrap().leases
    }

    /// Waits until so many servers hold all shards, in shares that differ by one at most.
    pub async fn until_balanced(&self, servers: usize) {
        let balanced = async || {
            let leases = self.leases().await;
            let mut owners: Vec<OwnerId> = leases.iter().map(|lease| lease.owner).collect();
            owners.sort_unstable();
            let shares: Vec<usize> = owners.chunk_by(|a, b| a == b).map(<[OwnerId]>::len).collect();
            let (least, most) = (shares.iter().min().copied(), shares.iter().max().copied());
            let even = most.unwrap_or_default() - least.unwrap_or_default() <= 1;
            Ok(leases.len() == usize::from(proto::DEFAULT_SHARD_COUNT) && shares.len() == servers && even)
        };
        until("the shards are shared out", DEADLINE, balanced).await.unwrap();
    }

    /// Waits until so many tickets were committed and not settled yet.
    pub async fn until_waiting(&self, tickets: u64) {
        let waiting = async || {
            let loads = store::Store::waiting_by_shard(&*self.store).await?;
            Ok(loads.iter().map(|load| load.waiting).sum::<u64>() >= tickets)
        };
        until("people wait", DEADLINE, waiting).await.unwrap();
    }

    /// The sum of a metric over all matching servers that answer.
    pub async fn matching_metric(&self, name: &str) -> f64 {
        let mut sum = 0.0;
        for process in &self.matching {
            if let Ok(text) = process.metrics().await {
                sum += testkit::http::metric_sum(&text, name).unwrap_or_default();
            }
        }
        sum
    }

    /// Stops every server, and holds that each stops cleanly and none has panicked.
    pub async fn stop(self) {
        let mains = self.mains.into_iter().map(|main| main.process);
        for process in mains.chain(self.matching) {
            let log = process.log().to_owned();
            assert_eq!(process.stop(STOP_DEADLINE).await.unwrap(), 0, "{} stops cleanly", process.name());
            let said = std::fs::read_to_string(&log).unwrap();
            assert!(!said.contains("panicked"), "{}: {said}", process.name());
        }
        self.store.renew(&self.spectator).await.unwrap();
        store::Store::close(&*self.store).await;
        let _ = std::fs::remove_file(&self.policy_file);
    }
}
