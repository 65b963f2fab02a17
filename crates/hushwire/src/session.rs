//! Sessions for computations: one member of a real run.

use crate::job::{
    Cancel, Chosen, ComputeSession, Fault, Member, MemberConfig, Observer, Protocol, Stats, TermsDigest,
    Value,
};
use hushwire_compute::{Computation, Tensor};
use std::{collections::BTreeMap, sync::Arc};

/// One party of a session: it meets the others once, and any number of computations runs on that.
///
/// All members run the same computations in the same order; before each, they compare its digest.
/// Members of a computation are the parties and the clients of their names, or the parties in their
/// order, unless [`Party::assign`] says otherwise.
pub struct Party(pub(crate) ComputeSession);

/// A member of a session of three parties that does not compute: it brings values as shares, and
/// learns what it may. It calls the same computations as the parties, also those in which it has no
/// part.
pub struct Client(ComputeSession);

impl Party {
    /// Meets the other two parties, as `config` names them; [`MemberConfig::of_party`] reads one
    /// from a party file.
    ///
    /// # Errors
    /// The others did not come, or are not those of the pins.
    pub fn connect(config: MemberConfig) -> Result<Self, Fault> {
        let silent: Observer = Arc::new(|_| {});
        Self::connect_with(config, Chosen::new(Protocol::Rep3, None, None)?, None, &silent)
    }

    /// The same with any protocol, and with as many compute threads as all parties have (none: a
    /// default). `observer` hears who is missing, and the progress of each run.
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

    /// The digest of the terms on which parties of a protocol run a computation, which an operator
    /// allows before the session begins ([`MemberConfig::allow`]). Its members are the parties of
    /// their names, or the parties in their order.
    ///
    /// # Errors
    /// The protocol does not run it; it has public inputs, or secret ones that nobody brings.
    pub fn terms_digest(chosen: Chosen, computation: &Computation) -> Result<TermsDigest, Fault> {
        Ok(ComputeSession::terms(chosen, computation)?.digest())
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
    /// Meets the three parties, as `config` names them, in a session with these clients, of which
    /// it is one.
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

            /// Says how many bytes values and work on them may take at each party, the same at all
            /// members: 2 GiB, where nobody does and inputs say how long they are.
            pub fn allow(&mut self, memory: u64) {
                self.0.allow(memory);
            }

            /// Runs a computation: what this member brings goes in by name, and so do public
            /// inputs, which all members have alike; what it learns comes out by name.
            ///
            /// # Errors
            /// An input is missing or does not fit, members run different computations or bring
            /// different lengths, the run was cancelled, or somebody failed. The session is of no
            /// more use then.
            pub fn run<'n, V: Into<Value>>(
                &mut self,
                computation: &Computation,
                inputs: impl IntoIterator<Item = (&'n str, V)>,
            ) -> Result<BTreeMap<String, Tensor>, Fault> {
                self.0.run(computation, &named(inputs))
            }

            /// Runs a query: what this member brings goes in, as
            /// [`QueryTask::columns`](crate::job::QueryTask::columns) gives it, and what it learns
            /// comes out for [`QueryTask::result`](crate::job::QueryTask::result). Owners and those
            /// who learn the result are parties, or clients of the session.
            ///
            /// # Errors
            /// As [`Self::run`]; the query's terms are not allowed.
            #[cfg(feature = "sql")]
            pub fn ask(
                &mut self,
                query: &crate::job::QueryTask,
                inputs: &BTreeMap<String, Value>,
            ) -> Result<BTreeMap<String, Tensor>, Fault> {
                self.0.ask(query, inputs)
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

pub(crate) fn named<'n, V: Into<Value>>(
    inputs: impl IntoIterator<Item = (&'n str, V)>,
) -> BTreeMap<String, Value> {
    inputs.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}
