//! Unix sockets between processes of one user on one host.
//!
//! The bytes are not encrypted, since they do not leave the kernel. Only processes of this party's
//! own user are accepted. The kernel vouches for the user (`SO_PEERCRED` on Linux; elsewhere the
//! owner and mode of the socket's file). Such a process could read this one's memory anyway, so its
//! hello alone says which party it is.

use std::{
    fs,
    io::{self, ErrorKind},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::{
            fs::{FileTypeExt, MetadataExt, PermissionsExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
};

use hushwire_machine::{OtherUser, Process};
use rustix::fs::{FlockOperation, flock};
use socket2::{Domain, SockAddr, Socket, Type};

/// LOCAL: the number of connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// A listening socket and its file, which is removed on drop.
pub(crate) struct UnixPath {
    socket: UnixListener,
    path: PathBuf,
    /// The device and inode of the file, so that a successor's file is left alone.
    file: (u64, u64),
    /// The process that bound the file. A fork leaves the file alone.
    process: Process,
}

impl UnixPath {
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // The lock is held while the old file is judged and replaced, so that two processes do not
        // replace each other's files. A directory can itself be locked, so no lock file remains.
        let directory = fs::File::open(parent.unwrap_or(Path::new(".")))?;
        flock(&directory, FlockOperation::LockExclusive)?;
        let address = SockAddr::unix(path)?;
        if is_stale(path, &address)? {
            fs::remove_file(path)?;
        }
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address)?;
        // No process can connect before `listen`, so the mode that the umask gave has no effect.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        socket.listen(BACKLOG)?;
        let file = inode(path)?;
        Ok(Self { socket: socket.into(), path: path.to_owned(), file, process: Process::here() })
    }

    /// The next waiting connection.
    pub(crate) fn take(&self, buffer: Option<usize>) -> io::Result<Option<UnixStream>> {
        match self.socket.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                let socket = Socket::from(stream);
                // As with TCP: if the other end is gone, reading reports it.
                let _ = tune(&socket, buffer);
                Ok(Some(socket.into()))
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for UnixPath {
    fn drop(&mut self) {
        if self.process.is_here() && inode(&self.path).is_ok_and(|file| file == self.file) {
            // The next listener replaces a file that remains.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn inode(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))
}

/// Whether `path` is the socket of a process that has ended; an error if something else is there.
fn is_stale(path: &Path, address: &SockAddr) -> io::Result<bool> {
    let file = match fs::symlink_metadata(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    if !file.file_type().is_socket() {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "a file that is not a socket is there"));
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    probe.set_nonblocking(true)?;
    match probe.connect(address) {
        Err(e) if e.kind() == ErrorKind::ConnectionRefused => Ok(true),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        // It connected, or the queue is full: a process listens.
        Ok(()) | Err(_) => Err(io::Error::new(ErrorKind::AddrInUse, "in use by a running process")),
    }
}

/// Tries once to connect to the socket at `path`. It never waits: a full queue is an error.
pub(crate) fn dial(path: &str, buffer: Option<usize>) -> io::Result<UnixStream> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    tune(&socket, buffer)?;
    socket.connect(&SockAddr::unix(path)?)?;
    Ok(socket.into())
}

fn tune(socket: &Socket, buffer: Option<usize>) -> io::Result<()> {
    if let Some(bytes) = buffer {
        socket.set_send_buffer_size(bytes)?;
        socket.set_recv_buffer_size(bytes)?;
    }
    Ok(())
}

/// Refuses a peer of another user.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn check_user(stream: &UnixStream) -> io::Result<()> {
    let theirs = rustix::net::sockopt::socket_peercred(stream)?.uid;
    same_user(theirs.as_raw())
}

/// Refuses a peer whose socket another user made. A peer that dialled could open this party's
/// socket file, which only its owner can.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn check_user(stream: &UnixStream) -> io::Result<()> {
    match stream.peer_addr()?.as_pathname() {
        Some(path) => same_user(fs::symlink_metadata(path)?.uid()),
        None => Ok(()),
    }
}

fn same_user(theirs: u32) -> io::Result<()> {
    let ours = rustix::process::geteuid().as_raw();
    if theirs == ours {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::PermissionDenied, OtherUser { ours, theirs }))
}

#[cfg(test)]
#[path = "unix_tests.rs"]
mod tests;
