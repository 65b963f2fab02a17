//! Parties in one process over a real transport: for benchmarks, examples, tests, and programs that
//! play all parties.

use std::{env, fs, path::PathBuf, thread};

use hushwire_machine::{Net, NetError, PartyId, Process, SessionId};

use crate::{Identity, Listener, PeerConfig, SessionConfig, TransportKind, connect};

/// Parties that are ready to join one session. The public fields may be changed before
/// [`connect`](Self::connect).
pub struct LocalParties {
    /// Each party's view of the session, in the order of the ids.
    pub configs: Vec<SessionConfig>,
    /// Throw-away certificates, one for each party.
    pub identities: Vec<Identity>,
    /// The listener of each party; `None` for clients, which only dial.
    pub listeners: Vec<Option<Listener>>,
    _sockets: Option<Sockets>,
}

impl LocalParties {
    /// Makes parties at loopback ports that the system chooses, or at Unix sockets in a directory
    /// of their own.
    ///
    /// # Errors
    /// A certificate, a port or the directory is not available.
    pub fn bind(ids: &[PartyId], transport: TransportKind, session: SessionId) -> Result<Self, NetError> {
        Self::bind_at("127.0.0.1", ids, transport, session)
    }

    /// As [`bind`](Self::bind), at ports of `host`, which is a name or an address of this machine.
    ///
    /// # Errors
    /// The errors of [`bind`](Self::bind).
    pub fn bind_at(
        host: &str,
        ids: &[PartyId],
        transport: TransportKind,
        session: SessionId,
    ) -> Result<Self, NetError> {
        let failed = |id, e: &dyn std::error::Error| NetError::Config { peer: Some(id), what: e.to_string() };
        let identity = |id: &PartyId| Identity::generate(&id.to_string()).map_err(|e| failed(*id, &e));
        let identities = ids.iter().map(identity).collect::<Result<Vec<_>, _>>()?;
        let sockets = match identities.first() {
            Some(first) if transport.is_local() => Some(Sockets::new(&first.pin().to_string())?),
            _ => None,
        };
        let mut listeners = vec![];
        let mut peers = vec![];
        for (id, identity) in ids.iter().zip(&identities) {
            let listener = match &sockets {
                _ if id.is_client() => None,
                Some(Sockets(folder, _)) => {
                    Some(Listener::bind(&format!("unix:{}", folder.join(id.0.to_string()).display()))?)
                }
                None => Some(Listener::bind(&format!("{host}:0"))?),
            };
            // The address to dial has the given name if there is a port.
            let address =
                |l: &Listener| l.local_addr().map_or(l.address(), |a| format!("{host}:{}", a.port()));
            peers.push(PeerConfig { id: *id, address: listener.as_ref().map(address), pin: identity.pin() });
            listeners.push(listener);
        }
        let others = |me: &PartyId| peers.iter().filter(|peer| peer.id != *me).cloned().collect();
        let configs = ids.iter().map(|me| SessionConfig::new(*me, session, others(me), transport)).collect();
        Ok(Self { configs, identities, listeners, _sockets: sockets })
    }

    /// Connects all parties at once, each on a thread of its own.
    #[must_use]
    pub fn connect(&self) -> Vec<Result<Net, NetError>> {
        let parties = self.configs.iter().zip(&self.identities).zip(&self.listeners);
        thread::scope(|scope| {
            let joining: Vec<_> = parties
                .map(|((config, identity), listener)| {
                    let join = move || connect(config, identity, listener.as_ref());
                    (config.me, scope.spawn(join))
                })
                .collect();
            let joined = joining.into_iter().map(|(me, party)| {
                party.join().unwrap_or_else(|_| {
                    Err(NetError::Config {
                        peer: Some(me),
                        what: "its thread panicked while it joined".into(),
                    })
                })
            });
            joined.collect()
        })
    }
}

/// A directory for Unix sockets that only this user can access. It is removed with its contents.
struct Sockets(PathBuf, Process);

impl Sockets {
    /// Makes the directory. `unique` is an unused name: the path must not exist.
    fn new(unique: &str) -> Result<Self, NetError> {
        let name: String = unique.chars().filter(char::is_ascii_alphanumeric).take(24).collect();
        let folder = env::temp_dir().join(format!("hushwire-{name}"));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|e| NetError::Config {
            peer: None,
            what: format!("{} cannot be made for sockets: {e}", folder.display()),
        })?;
        Ok(Self(folder, Process::here()))
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        if !self.1.is_here() {
            return;
        }
        // A temporary directory that remains is harmless.
        let _ = fs::remove_dir_all(&self.0);
    }
}
