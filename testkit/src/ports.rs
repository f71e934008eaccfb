//! Free ports on loopback, that nobody else takes.
//!
//! A service must come back on the port it had, so a port must not be taken while its service is down. Ports that the
//! kernel hands out would be, by any outgoing connection; these lie below that range. Each process holds whole blocks of
//! them by a file lock, which ends with the process.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};

/// The first port of the first block: above what services listen on by default, for the most part.
const FIRST: u16 = 20_000;
/// Ports a process takes at a time: a whole stack needs about twenty.
const BLOCK: u16 = 40;
/// How many blocks there are. They end where Linux begins to hand out ports (32768, see ip(7)).
const BLOCKS: u16 = 319;

/// The blocks that this process holds.
#[derive(Debug)]
struct Held {
    next: u16,
    end: u16,
    /// Open files are locks.
    locks: Vec<File>,
}

static HELD: Mutex<Held> = Mutex::new(Held { next: 0, end: 0, locks: Vec::new() });

/// A port on which nobody listens and that no other process of ours takes while this one lives.
///
/// # Errors
/// When all are taken.
pub fn free_port() -> anyhow::Result<u16> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        while held.next < held.end {
            let port = held.next;
            held.next += 1;
            if is_free(port) {
                return Ok(port);
            }
        }
        held.take_block()?;
    }
}

/// Whether one could listen on this port of 127.0.0.1 now.
#[must_use]
pub fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

impl Held {
    fn take_block(&mut self) -> anyhow::Result<()> {
        let folder = std::env::temp_dir().join("dovetail-ports");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // Begins somewhere else in each process, so that a port rests before it is used again.
        let first = u16::try_from(std::process::id() % u32::from(BLOCKS))?;
        for block in (0..BLOCKS).map(|step| (first + step) % BLOCKS) {
            let path = folder.join(block.to_string());
            // Another account's file is another account's block.
            let Ok(lock) = File::create(&path) else { continue };
            if lock.try_lock().is_ok() {
                self.locks.push(lock);
                self.next = FIRST + block * BLOCK;
                self.end = self.next + BLOCK;
                return Ok(());
            }
        }
        bail!("all ports from {FIRST} to {} are taken; see {}", FIRST + BLOCKS * BLOCK, folder.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_port_is_given_twice() {
        let taken = free_port().unwrap();
        let _listener = TcpListener::bind((Ipv4Addr::LOCALHOST, taken)).unwrap();
        assert!(!is_free(taken));
        let ports: HashSet<u16> = (0..2 * BLOCK).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.len(), usize::from(2 * BLOCK));
        assert!(!ports.contains(&taken));
    }
}
