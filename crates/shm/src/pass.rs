//! Descriptors over a Unix socket.
//!
//! One message carries a byte that identifies the format, and the descriptors of a ring. Surplus
//! descriptors are closed.

use std::{
    io::{self, ErrorKind, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{BorrowedFd, OwnedFd},
};

use rustix::{
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
};

/// AGREEMENT: the byte that comes with the descriptors. It changes with the layout of the memory.
const TAG: u8 = 0xA1;

/// Sends `fds` in one message. Returns false if that would block.
pub(crate) fn give<const N: usize>(socket: BorrowedFd<'_>, fds: [BorrowedFd<'_>; N]) -> io::Result<bool> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(ErrorKind::InvalidInput.into());
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    match sendmsg(socket, &[IoSlice::new(&[TAG])], &mut ancillary, flags) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN | Errno::INTR) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Receives exactly `N` descriptors; `None` if no message is there yet.
pub(crate) fn take<const N: usize>(socket: BorrowedFd<'_>) -> io::Result<Option<[OwnedFd; N]>> {
    // Space for more than `N` descriptors, so that surplus ones are seen and closed.
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut tag = [0];
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let came = match recvmsg(socket, &mut [IoSliceMut::new(&mut tag)], &mut ancillary, flags) {
        Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
        came => came?,
    };
    let fds: Vec<OwnedFd> = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    if came.bytes == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let whole = tag == [TAG] && !came.flags.contains(ReturnFlags::CTRUNC);
    match <[OwnedFd; N]>::try_from(fds) {
        Ok(fds) if whole => Ok(Some(fds)),
        _ => Err(io::Error::new(ErrorKind::InvalidData, "the other process passed no ring of this release")),
    }
}
