//! All parties of a session in this process.

use crate::job::{
    Cancel, Chosen, Fault, Member, MemberConfig, Observer, Peer, Protocol, Stats, Value, first_error,
};
use crate::{Party, places::LocalPlaces, session::named};
use hushwire_compute::{Computation, Tensor, Visibility};
use hushwire_machine::SessionId;
use hushwire_wire::{Identity, Listener, TransportKind};
use std::{collections::BTreeMap, sync::Arc, thread};

/// A session of all parties in this process, each with its own key, links and thread. The protocol,
/// messages and checks are those of a run across machines.
///
/// The process holds the values of all parties. Such a session is for trials, for tests, and for
/// programs that need only the result. Across machines, each process is one [`Party`].
///
/// The parties connect once. Any number of computations then runs on the session, one after the
/// other. [`LocalJob`](crate::LocalJob) runs one job of any kind instead.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut three = hushwire::Local::three()?;
/// let sum = "computation sum
///     members a, b
///     input x: u32 from a
///     input y: u32 from b
///     output z = x + y to a";
/// let learnt = three.run(&sum.parse()?, [("x", 40u32), ("y", 2)])?;
/// assert_eq!(learnt["z"].number(0), Some(42));
/// # Ok(())
/// # }
/// ```
pub struct Local {
    parties: Vec<Party>,
    /// Sockets that must outlive the parties.
    _places: LocalPlaces,
}

impl Local {
    /// Opens a session of three parties on replicated shares ([`Protocol::Rep3`]), each with a
    /// default number of compute threads. Security: semi-honest, at most one corrupted party.
    ///
    /// # Errors
    /// The system gives no randomness, or there is no space for sockets.
    pub fn three() -> Result<Self, Fault> {
        Self::open(Chosen::new(Protocol::Rep3, None, None)?, None, Arc::new(|_| {}))
    }

    /// Opens a session of two parties on additive shares of numbers ([`Protocol::Two`]). Security:
    /// semi-honest, κ = 128.
    ///
    /// # Errors
    /// The errors of [`Local::three`].
    #[cfg(feature = "two")]
    pub fn two() -> Result<Self, Fault> {
        Self::open(Chosen::new(Protocol::Two, None, None)?, None, Arc::new(|_| {}))
    }

    /// Opens a session of `n` parties, 2 to 8, by authenticated garbling
    /// ([`Protocol::Authgarble`]). Computations run as Boolean circuits. Security: malicious with
    /// abort, all parties but one may be corrupted.
    ///
    /// # Errors
    /// The protocol does not have `n` parties; or an error of [`Local::three`].
    #[cfg(feature = "n-party")]
    pub fn parties(n: u8) -> Result<Self, Fault> {
        if !(2..=crate::job::MOST_PARTIES).contains(&n) {
            let cause = format!("authenticated garbling has 2 to {} parties", crate::job::MOST_PARTIES);
            return Err(Fault::usage("starting the session", cause, "take a number between these"));
        }
        Self::open(Chosen::new(Protocol::Authgarble(n), None, None)?, None, Arc::new(|_| {}))
    }

    /// Opens a session of the parties of any protocol. `threads` is the number of compute threads
    /// of each party, for three or n parties; `None` is a default. All parties share this machine's
    /// processors. One thread for each party suffices if there are no more processors than parties.
    /// `observer` gets the progress of each run at the first party.
    ///
    /// # Errors
    /// An error of [`Local::three`]; or the protocol does not allow this number of threads.
    pub fn open(chosen: Chosen, threads: Option<u16>, observer: Observer) -> Result<Self, Fault> {
        let wrong = |e: &dyn std::fmt::Display| Fault::internal("starting the session", e);
        let session = SessionId::fresh().map_err(|e| wrong(&e))?;
        let places = LocalPlaces::of(TransportKind::Unix)?;
        let (mut configs, mut peers) = (vec![], vec![]);
        for index in 0..chosen.protocol.parties() {
            let me = Member::Party(index);
            let identity = Identity::generate(&me.to_string()).map_err(|e| wrong(&e))?;
            let listener = Listener::bind(&places.address(&me.key()));
            let listener = Arc::new(listener.map_err(|e| Fault::from(e).during("listening"))?);
            peers.push(Peer { member: me.clone(), address: Some(listener.address()), pin: identity.pin() });
            let config = MemberConfig::new(me, identity, Some(listener));
            configs.push(MemberConfig { transport: TransportKind::Unix, session, ..config });
        }
        for config in &mut configs {
            config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
        }
        let silent: Observer = Arc::new(|_| {});
        let observers = std::iter::once(observer).chain(std::iter::repeat(silent));
        let parties = abreast(configs.into_iter().zip(observers), |(config, observer)| {
            Party::connect_with(config, chosen, threads, &observer)
        })?;
        Ok(Self { parties, _places: places })
    }

    /// Runs a computation on all inputs, and returns all outputs, both by name. Its members are the
    /// parties in order. If it has more members than parties, a party acts for several members.
    ///
    /// # Errors
    /// The computation has no input of a given name; the session can still be used. Or an input is
    /// missing or does not match its declared type, or the run was cancelled; the session cannot be
    /// used afterwards.
    pub fn run<'n, V: Into<Value>>(
        &mut self,
        computation: &Computation,
        inputs: impl IntoIterator<Item = (&'n str, V)>,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let mut inputs = named(inputs);
        let known: Vec<&str> = computation.inputs().map(|(name, _)| name).collect();
        if let Some(odd) = inputs.keys().find(|name| !known.contains(&name.as_str())) {
            let cause = format!("the computation has no input called `{odd}`");
            let remedy = format!("leave it out; the inputs are {}", known.join(", "));
            return Err(Fault::usage("starting the run", cause, remedy));
        }
        let shares = self.shared_out(computation, &mut inputs);
        let parties = self.parties.iter_mut().zip(shares);
        let learnt = abreast(parties, |(party, inputs)| party.0.run(computation, &inputs))?;
        Ok(learnt.into_iter().flatten().collect())
    }

    /// Runs a query. The input is the rows of all owners, as
    /// [`QueryTask::columns`](crate::job::QueryTask::columns) gives them. The result is the outputs
    /// for [`QueryTask::result`](crate::job::QueryTask::result). Owners and members that learn the
    /// result are assigned to the parties in turn.
    ///
    /// # Errors
    /// An input is missing, or the run was cancelled. The session cannot be used after an error.
    #[cfg(feature = "sql")]
    pub fn ask(
        &mut self,
        query: &crate::job::QueryTask,
        mut inputs: BTreeMap<String, Value>,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let shares = self.shared_out(query.query().computation(), &mut inputs);
        let parties = self.parties.iter_mut().zip(shares);
        let learnt = abreast(parties, |(party, inputs)| party.0.ask(query, &inputs))?;
        Ok(learnt.into_iter().flatten().collect())
    }

    /// Assigns the members to the parties in turn, and distributes the inputs to the parties that
    /// act for their owners.
    fn shared_out(
        &mut self,
        computation: &Computation,
        inputs: &mut BTreeMap<String, Value>,
    ) -> Vec<BTreeMap<String, Value>> {
        // No limit of memory: all inputs are this program's own.
        self.parties.iter_mut().for_each(|party| party.allow(u64::MAX));
        let count = self.parties.len();
        for (i, name) in computation.members().iter().enumerate() {
            let acting = Member::Party((i % count) as u8);
            self.parties.iter_mut().for_each(|party| party.assign(name, acting.clone()));
        }
        let mut shares = vec![BTreeMap::new(); count];
        for (name, ty) in computation.inputs() {
            let Some(value) = inputs.remove(name) else { continue };
            match ty.visibility {
                Visibility::Private(owner) => {
                    shares[usize::from(owner.0) % count].insert(name.to_owned(), value);
                }
                Visibility::Public => {
                    for share in &mut shares {
                        share.insert(name.to_owned(), value.clone());
                    }
                }
                Visibility::Secret => {
                    self.parties.iter_mut().for_each(|party| party.own(name, Member::Party(0)));
                    shares[0].insert(name.to_owned(), value);
                }
            }
        }
        shares
    }

    /// A handle that ends the session from another thread, even during a run.
    #[must_use]
    pub fn cancel(&self) -> Cancel {
        self.parties[0].cancel()
    }

    /// The measurements of each party so far.
    #[must_use]
    pub fn stats(&self) -> Vec<Stats> {
        self.parties.iter().map(Party::stats).collect()
    }
}

/// Runs `work` on all parties at once. An error is the one that caused the others.
fn abreast<P: Send, T: Send>(
    parties: impl Iterator<Item = P>,
    work: impl Fn(P) -> Result<T, Fault> + Sync,
) -> Result<Vec<T>, Fault> {
    let ended: Vec<_> = thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = parties.map(|party| scope.spawn(move || work(party))).collect();
        let panicked = |_| Err(Fault::internal("computing", "a thread panicked"));
        running.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
    });
    let (mut done, mut errors) = (vec![], vec![]);
    for result in ended {
        match result {
            Ok(result) => done.push(result),
            Err(e) => errors.push(e),
        }
    }
    first_error(errors)?;
    Ok(done)
}
