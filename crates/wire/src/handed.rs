//! Accepted connections that are handed to another process, with the bytes that were read from
//! them.
//!
//! Both processes belong to one user on one host. A message has a byte that identifies the format,
//! then the bytes that were read, and one descriptor.

use crate::{
    tcp,
    tls_records::{HEADER_BYTES, RECORD_BYTES},
};
use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
        SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg,
        socketpair, sockopt,
    },
};
use std::{
    io::{self, ErrorKind, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::TcpStream,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

/// The first byte of each message. It changes with the format.
const TAG: u8 = 0xA2;
/// The most bytes of a first record of TLS.
const FIRST_BYTES: usize = HEADER_BYTES + RECORD_BYTES;

/// The end of the accepting process. It hands connections to the process that has the other end,
/// which makes a [`Listener`](crate::Listener) of it.
pub struct HandOver(OwnedFd);

impl HandOver {
    /// Makes both ends. The second one is for the other process. It closes when a program is
    /// executed, unless it is passed on.
    ///
    /// # Errors
    /// The system has no more descriptors.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), other))
    }

    /// Hands a connection over, with the bytes that were read from it. Once this returns, the other
    /// process has its own descriptor.
    ///
    /// # Errors
    /// `WouldBlock` if the other process has too many connections waiting, `ConnectionReset` or
    /// `BrokenPipe` if it ended, `InvalidInput` if more was read than the first record.
    pub fn give(&self, stream: &TcpStream, first: &[u8]) -> io::Result<()> {
        if first.len() > FIRST_BYTES {
            return Err(ErrorKind::InvalidInput.into());
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds = [stream.as_fd()];
        if !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let message = [IoSlice::new(&[TAG]), IoSlice::new(first)];
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        loop {
            match sendmsg(&self.0, &message, &mut ancillary, flags) {
                // A message is sent whole or not at all.
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
}

/// The end of the receiving process.
pub(crate) struct Handed(OwnedFd);

impl Handed {
    pub(crate) fn new(from: OwnedFd) -> io::Result<Self> {
        if sockopt::socket_type(&from)? != SocketType::SEQPACKET {
            let cause = "connections are handed over on a socket of another type";
            return Err(io::Error::new(ErrorKind::InvalidInput, cause));
        }
        Ok(Self(from))
    }

    /// Takes the next connection; `None` if there is none.
    pub(crate) fn take(&self, socket_buffer: Option<usize>) -> io::Result<Option<(TcpStream, Vec<u8>)>> {
        // Space for more than one descriptor, so that surplus ones are seen and closed.
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let (mut tag, mut first) = ([0], vec![0; FIRST_BYTES]);
        let mut into = [IoSliceMut::new(&mut tag), IoSliceMut::new(&mut first)];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let came = match recvmsg(&self.0, &mut into, &mut ancillary, flags) {
            Err(Errno::AGAIN) => return Ok(None),
            came => came?,
        };
        let fds = ancillary.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        });
        let fds: Vec<OwnedFd> = fds.flatten().collect();
        let Some(bytes) = came.bytes.checked_sub(1) else { return Err(ErrorKind::UnexpectedEof.into()) };
        let whole = tag == [TAG] && !came.flags.intersects(ReturnFlags::CTRUNC | ReturnFlags::TRUNC);
        match <[OwnedFd; 1]>::try_from(fds) {
            Ok([fd]) if whole => {
                first.truncate(bytes);
                let stream = tcp::tuned(fd.into(), socket_buffer)?;
                Ok(Some((stream, first)))
            }
            _ => Err(io::Error::new(ErrorKind::InvalidData, "the other process handed over no connection")),
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
