//! Sessions for computations: one party of a real run, or all three in this process.

use crate::job::{
    Cancel, Chosen, ComputeSession, Fault, Member, MemberConfig, Observer, Peer, Prepared, Protocol, Stats,
    Value, first_error,
};
use crate::{Local, places::Places};
use hushwire_compute::{Computation, Tensor, Visibility};
use hushwire_machine::SessionId;
use hushwire_wire::{Identity, Listener, TransportKind};
use std::{collections::BTreeMap, sync::Arc, thread};

/// One party of a session: it meets the others once, and any number of computations runs on that.
///
/// All members run the same computations in the same order; before each, they compare its digest. Members of a computation are
/// the parties and the clients of their names, or the parties in their order, unless [`Party::assign`] says otherwise.
pub struct Party(ComputeSession);

/// A member of a session of three parties that does not compute: it brings values as shares, and learns what it may. It calls the same
/// computations as the parties, also those in which it has no part.
pub struct Client(ComputeSession);

impl Party {
    /// Meets the other two parties, as `config` names them; [`MemberConfig::of_party`] reads one from a party file.
    ///
    /// # Errors
    /// The others did not come, or are not those of the pins.
    pub fn connect(config: MemberConfig) -> Result<Self, Fault> {
        let silent: Observer = Arc::new(|_| {});
        Self::connect_with(config, Chosen::new(Protocol::Rep3, None, None)?, None, &silent)
    }

    /// The same with any protocol, and with as many compute threads as all parties have (none: a default). `observer` hears who is
    /// missing, and the progress of each run.
    ///
    /// # Errors
    /// As [`Party::connect`].
    pub fn connect_with(
        config: MemberConfig,
        chosen: Chosen,
        threads: Option<u16>,
        observer: &Observer,
    ) -> Result<Self, Fault> {
        ComputeSession::connect(config, chosen, threads, &[], observer).map(Self)
    }

    /// Meets the other two parties and these clients, in an order that all members have alike.
    ///
    /// # Errors
    /// The others did not come, are not those of the pins, or expect other clients.
    pub fn connect_among(config: MemberConfig, clients: &[&str], observer: &Observer) -> Result<Self, Fault> {
        among(config, clients, observer).map(Self)
    }
}

impl Client {
    /// Meets the three parties, as `config` names them, in a session with these clients, of which it is one.
    ///
    /// # Errors
    /// The parties did not come, are not those of the pins, or expect other clients.
    pub fn connect(config: MemberConfig, clients: &[&str], observer: &Observer) -> Result<Self, Fault> {
        among(config, clients, observer).map(Self)
    }
}

fn among(config: MemberConfig, clients: &[&str], observer: &Observer) -> Result<ComputeSession, Fault> {
    let clients: Vec<String> = clients.iter().map(|name| (*name).to_owned()).collect();
    ComputeSession::connect(config, Chosen::new(Protocol::Rep3, None, None)?, None, &clients, observer)
}

macro_rules! members {
    ($($member:ident)+) => {$(
        impl $member {
            /// Says which member of the session one of computations is, the same at all of them.
            pub fn assign(&mut self, name: &str, member: Member) {
                self.0.assign(name, member);
            }

            /// Says who brings a secret input, the same at all members.
            pub fn own(&mut self, input: &str, owner: Member) {
                self.0.own(input, owner);
            }

            /// Says how many bytes values and work on them may take at each party, the same at all members: 2 GiB, where nobody does and inputs say how
            /// long they are.
            pub fn allow(&mut self, memory: u64) {
                self.0.allow(memory);
            }

            /// Runs a computation: what this member brings goes in by name, and so do public inputs, which all members have
            /// alike; what it learns comes out by name.
            ///
            /// # Errors
            /// An input is missing or does not fit, members run different computations or bring different lengths, the run was
            /// cancelled, or somebody failed. The session is of no more use then.
            pub fn run<'n, V: Into<Value>>(
                &mut self,
                computation: &Computation,
                inputs: impl IntoIterator<Item = (&'n str, V)>,
            ) -> Result<BTreeMap<String, Tensor>, Fault> {
                self.0.run(computation, &named(inputs))
            }

            /// A handle that ends the session from another thread, also within a run.
            #[must_use]
            pub fn cancel(&self) -> Cancel {
                self.0.cancel()
            }

            /// The session's measurements so far.
            #[must_use]
            pub fn stats(&self) -> Stats {
                self.0.stats()
            }
        }
    )+};
}

members!(Party Client);

fn named<'n, V: Into<Value>>(inputs: impl IntoIterator<Item = (&'n str, V)>) -> BTreeMap<String, Value> {
    inputs.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Three parties in this process, each with its own key and links: the same protocol, messages and checks as across machines.
/// The process holds everybody's values; it is for trying, for tests, and for programs that only want the result.
pub struct Three {
    parties: Vec<Party>,
    /// Sockets that must outlive the parties.
    _places: Places,
}

impl Local<'_, Prepared> {
    /// Three parties in this process that have met: a session for computations.
    ///
    /// # Errors
    /// The system has no randomness, or no room for sockets.
    pub fn three() -> Result<Three, Fault> {
        Self::three_observed(Arc::new(|_| {}))
    }

    /// The same; `observer` hears the progress of each run at the first party.
    ///
    /// # Errors
    /// As [`Local::three`].
    pub fn three_observed(observer: Observer) -> Result<Three, Fault> {
        Self::three_with(None, observer)
    }

    /// The same with so many compute threads of each party, at least one (none: a default). The three parties share this machine's
    /// processors: one thread each is enough for as many processors as parties.
    ///
    /// # Errors
    /// As [`Local::three`].
    pub fn three_with(threads: Option<u16>, observer: Observer) -> Result<Three, Fault> {
        let wrong = |e: &dyn std::fmt::Display| Fault::internal("starting the session", e);
        let session = SessionId::fresh().map_err(|e| wrong(&e))?;
        let chosen = Chosen::new(Protocol::Rep3, None, None)?;
        let places = Places::of(TransportKind::Unix)?;
        let (mut configs, mut peers) = (vec![], vec![]);
        for index in 0..3 {
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
        Ok(Three { parties, _places: places })
    }
}

/// Works on all at once; the first cause of a failure.
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

impl Three {
    /// Runs a computation, whoever its members are: all inputs go in by name, all outputs come out.
    ///
    /// # Errors
    /// An input is missing or does not fit, or the run was cancelled. The session is of no more use then.
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
        // All that is brought is this program's own.
        self.parties.iter_mut().for_each(|party| party.allow(u64::MAX));
        let mut shares = [const { BTreeMap::new() }; 3];
        for (i, name) in computation.members().iter().enumerate() {
            // More members than parties: each has one of them compute for it.
            self.parties.iter_mut().for_each(|party| party.assign(name, Member::Party((i % 3) as u8)));
        }
        for (name, ty) in computation.inputs() {
            let Some(value) = inputs.remove(name) else { continue };
            match ty.visibility {
                Visibility::Private(of) => {
                    shares[usize::from(of.0) % 3].insert(name.to_owned(), value);
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
        let parties = self.parties.iter_mut().zip(shares);
        let learnt = abreast(parties, |(party, inputs)| party.0.run(computation, &inputs))?;
        Ok(learnt.into_iter().flatten().collect())
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
