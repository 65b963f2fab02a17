//! A link over memory that both processes share. The Unix socket of its handshake passes the ring,
//! stays open and tells each end when the other one ends.

use std::{
    io::{self, ErrorKind},
    os::fd::{AsFd, BorrowedFd},
};

use hushwire_machine::{Doze, Rx, Tx, Wait};
use hushwire_shm::{Consumer, Producer, Ring, RingError};
use rustix::event::PollFlags;

use crate::{hello::GreetingRole, slot::Duplex, tcp::Guard};

/// LOCAL: the size of a ring in bytes. It was measured from 64 KiB to 1 MiB. A longer ring saves a
/// single flow some sleeps. But the rings of several lanes then no longer fit in the second-level
/// cache with the data, which costs more.
const RING_BYTES: usize = 256 << 10;

/// Moves data from `socket` to a ring, which the dialler makes and the listener takes.
pub(crate) fn settle(
    socket: &dyn Duplex,
    sends: bool,
    role: GreetingRole,
    guard: &Guard<'_>,
) -> io::Result<Box<dyn Duplex>> {
    let socket = socket.as_fd();
    let ring = match role {
        GreetingRole::Dialer => {
            let ring = Ring::create(RING_BYTES)?;
            while !ring.give(socket)? {
                guard.wait(socket, PollFlags::OUT)?;
            }
            ring
        }
        GreetingRole::Listener => loop {
            match Ring::take(socket)? {
                Some(ring) => break ring,
                None => guard.wait(socket, PollFlags::IN)?,
            }
        },
    };
    Ok(Box::new(if sends {
        ShmLink::Sends(ring.producer(socket)?)
    } else {
        ShmLink::Hears(ring.consumer(socket)?)
    }))
}

/// One end of a ring; bytes move one way only.
enum ShmLink {
    Sends(Producer),
    Hears(Consumer),
}

fn failed(e: RingError, gone: ErrorKind) -> io::Error {
    match e {
        RingError::Gone => gone.into(),
        RingError::Position { .. } => io::Error::new(ErrorKind::InvalidData, e),
    }
}

impl Tx for ShmLink {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        match self {
            Self::Sends(ring) => ring.write(out).map_err(|e| failed(e, ErrorKind::BrokenPipe)),
            Self::Hears(_) => Err(ErrorKind::Unsupported.into()),
        }
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Doze(self)
    }
}

impl Rx for ShmLink {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Hears(ring) => ring.read(into).map_err(|e| failed(e, ErrorKind::UnexpectedEof)),
            Self::Sends(_) => Err(ErrorKind::Unsupported.into()),
        }
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Doze(self)
    }
}

impl Doze for ShmLink {
    fn doze(&self) -> bool {
        match self {
            Self::Sends(ring) => ring.doze(),
            Self::Hears(ring) => ring.doze(),
        }
    }

    fn wakers(&self) -> [Option<BorrowedFd<'_>>; 2] {
        match self {
            Self::Sends(ring) => ring.wakers().map(Some),
            Self::Hears(ring) => ring.wakers().map(Some),
        }
    }

    fn wake(&self) {
        match self {
            Self::Sends(ring) => ring.wake(),
            Self::Hears(ring) => ring.wake(),
        }
    }
}

impl AsFd for ShmLink {
    /// The socket, which carries no data and only signals the end.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Sends(ring) => ring.wakers()[1],
            Self::Hears(ring) => ring.wakers()[1],
        }
    }
}
