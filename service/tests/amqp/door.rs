//! The way to one node, so that a test sees who came by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use service::lifecycle::Tasks;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// Passes connections on to a node and counts them.
pub(crate) struct Door {
    pub(crate) url: String,
    ever: Arc<AtomicUsize>,
}

impl Door {
    pub(crate) async fn to(port: u16, tasks: &Tasks) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("amqp://{}", listener.local_addr().unwrap());
        let ever = Arc::new(AtomicUsize::new(0));
        let door = Self { url, ever: Arc::clone(&ever) };
        let connections = tasks.clone();
        tasks.spawn_endless("door", async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                // Refused by a dead node, the client is hung up on.
                let Ok(mut node) = TcpStream::connect(("127.0.0.1", port)).await else { continue };
                ever.fetch_add(1, Ordering::SeqCst);
                connections.spawn_endless("connection", async move {
                    let _ = copy_bidirectional(&mut client, &mut node).await;
                    drop((client, node));
                    std::future::pending().await
                });
            }
        });
        door
    }

    /// How many there ever were.
    pub(crate) fn ever(&self) -> usize {
        self.ever.load(Ordering::SeqCst)
    }
}
