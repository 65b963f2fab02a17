//! All parties of a session in this process.

use crate::job::{
    Cancel, Chosen, Fault, Member, MemberConfig, Observer, Peer, Protocol, Stats, Value, first_error,
};
use crate::{Party, places::LocalPlaces, session::named};
use hushwire_compute::{Computation, Tensor, Visibility};
use hushwire_machine::SessionId;
use hushwire_wire::{Identity, Listener, TransportKind};
use std::{collections::BTreeMap, sync::Arc, thread};

/// A session of all parties in this process, each with its own key, links and thread: the protocol,
/// messages and checks are those of a run across machines.
///
/// The process holds everybody's values. A session of this kind is for trying, for tests, and for
/// programs that only want the result; across machines, each process is one [`Party`].
///
/// The parties meet once. Any number of computations then runs on the session, one after the other.
/// [`LocalJob`](crate::LocalJob) runs one job of any kind instead.
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
    /// Three parties on replicated shares ([`Protocol::Rep3`]), each with a default number of
    /// compute threads. Security: semi-honest, at most one party is corrupt.
    ///
    /// # Errors
    /// The system has no randomness, or no room for sockets.
    pub fn three() -> Result<Self, Fault> {
        Self::open(Chosen::new(Protocol::Rep3, None, None)?, None, Arc::new(|_| {}))
    }

    /// Two parties on additive shares of numbers ([`Protocol::Two`]). Security: semi-honest,
    /// κ = 128.
    ///
    /// # Errors
    /// As [`Local::three`].
    #[cfg(feature = "two")]
    pub fn two() -> Result<Self, Fault> {
        Self::open(Chosen::new(Protocol::Two, None, None)?, None, Arc::new(|_| {}))
    }

    /// `n` parties, 2 to 8, by authenticated garbling ([`Protocol::Authgarble`]): computations run
    /// as Boolean circuits. Security: malicious with abort, all parties but one may be corrupt.
    ///
    /// # Errors
    /// `n` is no number of parties of that protocol; as [`Local::three`].
    #[cfg(feature = "n-party")]
    pub fn parties(n: u8) -> Result<Self, Fault> {
        if !(2..=crate::job::MOST_PARTIES).contains(&n) {
            let cause = format!("authenticated garbling has 2 to {} parties", crate::job::MOST_PARTIES);
            return Err(Fault::usage("starting the session", cause, "take a number between these"));
        }
        Self::open(Chosen::new(Protocol::Authgarble(n), None, None)?, None, Arc::new(|_| {}))
    }

    /// The parties of any protocol. `threads` are the compute threads of each of three or n
    /// parties; `None` is a default. All parties share this machine's processors: one thread each
    /// is enough for as many processors as parties. `observer` hears the progress of each run at
    /// the first party.
    ///
    /// # Errors
    /// As [`Local::three`]; the protocol takes no such number of threads.
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

    /// Runs a computation: all inputs go in by name, and all outputs come out by name. Its members
    /// are the parties in their order; where it has more members, one party acts for several.
    ///
    /// # Errors
    /// An input is missing or does not fit its declared type, or the run was cancelled. The session
    /// is of no more use then.
    pub fn run<'n, V: Into<Value>>(
        &mut self,
        computation: &Computation,
        inputs: impl IntoIterator<Item = (&'n str, V)>,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let mut inputs = named(inputs);
        let known: Vec<&str> = computation.inputs().map(|(name, _)| name).collect();
        if let Some(odd) = inputs.keys().find(|name| !known.contains(&name.as_str())) {
            let cause = format!("the computation has no input called `{odd}`");
            let remedy = format!("it has {}", known.join(", "));
            return Err(Fault::usage("starting the run", cause, remedy));
        }
        let shares = self.shared_out(computation, &mut inputs);
        let parties = self.parties.iter_mut().zip(shares);
        let learnt = abreast(parties, |(party, inputs)| party.0.run(computation, &inputs))?;
        Ok(learnt.into_iter().flatten().collect())
    }

    /// Runs a query: the rows of all owners go in, as
    /// [`QueryTask::columns`](crate::job::QueryTask::columns) gives them, and the outputs come out
    /// for [`QueryTask::result`](crate::job::QueryTask::result). Owners and those who learn the
    /// result are the parties in turn.
    ///
    /// # Errors
    /// An input is missing, or the run was cancelled. The session is of no more use then.
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

    /// The inputs of each party, which acts for members in turn.
    fn shared_out(
        &mut self,
        computation: &Computation,
        inputs: &mut BTreeMap<String, Value>,
    ) -> Vec<BTreeMap<String, Value>> {
        // All that is brought is this program's own.
        self.parties.iter_mut().for_each(|party| party.allow(u64::MAX));
        let mut shares = vec![BTreeMap::new(); self.parties.len()];
        let count = self.parties.len();
        for (i, name) in computation.members().iter().enumerate() {
            // More members than parties: each has one of them compute for it.
            let party = Member::Party((i % count) as u8);
            self.parties.iter_mut().for_each(|member| member.assign(name, party.clone()));
        }
        for (name, ty) in computation.inputs() {
            let Some(value) = inputs.remove(name) else { continue };
            match ty.visibility {
                Visibility::Private(of) => {
                    shares[usize::from(of.0) % count].insert(name.to_owned(), value);
                }
                Visibility::Public => {
                    shares.iter_mut().for_each(|all| drop(all.insert(name.to_owned(), value.clone())));
                }
                Visibility::Secret => {
                    self.parties.iter_mut().for_each(|party| party.own(name, Member::Party(0)));
                    shares[0].insert(name.to_owned(), value);
                }
            }
        }
        shares
    }

    /// A handle that ends the session from another thread, also within a run.
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

/// Works on all parties at once. An error is the first cause of a failure.
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
    for one in ended {
        match one {
            Ok(one) => done.push(one),
            Err(e) => errors.push(e),
        }
    }
    first_error(errors)?;
    Ok(done)
}
