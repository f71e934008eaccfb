//! A stretch of network between a client and a service, which can be cut, silenced in one direction or both, and healed.

use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::ports::free_port;

/// How much is carried at a time.
const BUFFER_BYTES: usize = 16 * 1024;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// What the client says.
    ToService,
    /// What the service says.
    ToClient,
    /// Both.
    Both,
}

/// A proxy on loopback in front of one port. It lives as long as its value and the runtime it was started on.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    service_port: u16,
    /// Which way bytes are held back.
    silent: watch::Sender<Option<Direction>>,
    /// The task that accepts and carries; none while the network is cut.
    serving: Mutex<JoinSet<()>>,
}

impl Proxy {
    /// Starts a proxy in front of a port of 127.0.0.1.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn start(service_port: u16) -> anyhow::Result<Self> {
        let (silent, _) = watch::channel(None);
        let proxy = Self { port: free_port()?, service_port, silent, serving: Mutex::default() };
        proxy.heal().await?;
        Ok(proxy)
    }

    /// The port clients connect to, on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts the network: connections are reset or closed, and new ones refused.
    pub async fn cut(&self) {
        let mut serving = std::mem::take(&mut *self.serving.lock().unwrap_or_else(PoisonError::into_inner));
        serving.shutdown().await;
    }

    /// Holds bytes back: connections stay open, new ones are accepted, and nothing arrives. What is sent meanwhile arrives
    /// after [`Self::heal`], as TCP has it.
    pub fn silence(&self, direction: Direction) {
        self.silent.send_replace(Some(direction));
    }

    /// Makes all well again, whatever was done.
    ///
    /// # Errors
    /// When it cannot listen again.
    pub async fn heal(&self) -> anyhow::Result<()> {
        self.silent.send_replace(None);
        if !self.serving.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return Ok(());
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await;
        let listener = listener.with_context(|| format!("cannot listen on port {}", self.port))?;
        let serve = serve(listener, self.service_port, self.silent.subscribe());
        self.serving.lock().unwrap_or_else(PoisonError::into_inner).spawn(serve);
        Ok(())
    }
}

/// Accepts and carries, all in one task, so that its end closes everything at once.
async fn serve(listener: TcpListener, service_port: u16, silent: watch::Receiver<Option<Direction>>) {
    let mut connections = FuturesUnordered::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => connections.push(carry(client, service_port, silent.clone())),
                // The client is gone again.
                Err(_) => continue,
            },
            Some(()) = connections.next() => {}
        }
    }
}

/// Carries one connection until both sides have closed it, or one is gone.
async fn carry(client: TcpStream, service_port: u16, silent: watch::Receiver<Option<Direction>>) {
    let Ok(service) = TcpStream::connect((Ipv4Addr::LOCALHOST, service_port)).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_service, to_service) = service.into_split();
    // An error on one side ends both, which is what the other side gets to see.
    let _ = tokio::try_join!(
        pump(from_client, to_service, Direction::ToService, silent.clone()),
        pump(from_service, to_client, Direction::ToClient, silent),
    );
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: Direction,
    mut silent: watch::Receiver<Option<Direction>>,
) -> anyhow::Result<()> {
    let holds_back = |silent: &Option<Direction>| {
        silent.is_some_and(|silent| silent == Direction::Both || silent == direction)
    };
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        silent.wait_for(|silent| !holds_back(silent)).await?;
        let read = tokio::select! {
            biased;
            changed = silent.changed() => { changed?; continue }
            read = from.read(&mut buffer) => read?,
        };
        if read == 0 {
            to.shutdown().await?;
            return Ok(());
        }
        to.write_all(&buffer[..read]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::until;
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A service that says back what it hears, and how much it has heard so far.
    async fn echo(listener: TcpListener, heard: watch::Sender<usize>) {
        let mut connections = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let (mut stream, _) = accepted.unwrap();
                    let heard = heard.clone();
                    connections.push(async move {
                        let mut byte = [0];
                        while let Ok(1) = stream.read(&mut byte).await {
                            heard.send_modify(|count| *count += 1);
                            if stream.write_all(&byte).await.is_err() {
                                break;
                            }
                        }
                    });
                }
                Some(()) = connections.next() => {}
            }
        }
    }

    #[tokio::test]
    async fn a_network_is_cut_silenced_and_healed() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let service_port = listener.local_addr().unwrap().port();
        let (heard, mut hears) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(echo(listener, heard));
        let proxy = Proxy::start(service_port).await.unwrap();
        let address = (Ipv4Addr::LOCALHOST, proxy.port());
        let mut byte = [0];

        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"a").await.unwrap();
        client.read_exact(&mut byte).await.unwrap();
        assert_eq!((&byte, *hears.borrow()), (b"a", 1));

        // The service hears, the client does not.
        proxy.silence(Direction::ToClient);
        client.write_all(b"b").await.unwrap();
        hears.wait_for(|count| *count == 2).await.unwrap();
        assert_eq!(client.try_read(&mut byte).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        // And now the service does not hear either, which the answer that comes first shows.
        proxy.silence(Direction::ToService);
        client.write_all(b"c").await.unwrap();
        client.read_exact(&mut byte).await.unwrap();
        assert_eq!((&byte, *hears.borrow()), (b"b", 2));
        proxy.heal().await.unwrap();
        client.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"c");

        proxy.cut().await;
        assert!(matches!(client.read(&mut byte).await, Ok(0) | Err(_)), "still connected");
        TcpStream::connect(address).await.unwrap_err();
        proxy.heal().await.unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"d").await.unwrap();
        client.read_exact(&mut byte).await.unwrap();
        until("all is heard", PATIENCE, async || Ok(*hears.borrow() == 4)).await.unwrap();
    }
}
