//! Sessions for computations: one member of a run across processes.
//!
//! A [`Party`] or a [`Client`] connects once. Computations and queries then run on the session, and
//! all members must call the same ones in the same order.

use crate::job::{
    Cancel, Chosen, ComputeSession, Fault, Member, MemberConfig, Observer, Protocol, Stats, TermsDigest,
    Value,
};
use hushwire_compute::{Computation, Tensor};
use std::{collections::BTreeMap, sync::Arc};

/// One party of a session. It connects to the others once, and any number of computations then runs
/// on the session.
///
/// All members run the same computations in the same order, and compare the digest of each before
/// it runs. The members of a computation are the parties and the clients with the same names, or
/// the parties in order, unless [`Party::assign`] says otherwise.
pub struct Party(pub(crate) ComputeSession);

/// A member of a session of three parties that does not compute: it brings values as shares, and
/// learns results. It calls the same computations as the parties, even those in which it has no
/// part.
pub struct Client(ComputeSession);

impl Party {
    /// Connects to the other two parties, as listed in `config`. [`MemberConfig::of_party`] reads
    /// such a configuration from a party file.
    ///
    /// # Errors
    /// The others did not come, or do not have the listed pins.
    pub fn connect(config: MemberConfig) -> Result<Self, Fault> {
        let silent: Observer = Arc::new(|_| {});
        Self::connect_with(config, Chosen::new(Protocol::Rep3, None, None)?, None, &silent)
    }

    /// As [`connect`](Self::connect), with any protocol, and with this number of compute threads,
    /// which must be the same at all parties (`None`: a default). `observer` is told which members
    /// are missing, and gets the progress of each run.
    ///
    /// # Errors
    /// The errors of [`Party::connect`].
    pub fn connect_with(
        config: MemberConfig,
        chosen: Chosen,
        threads: Option<u16>,
        observer: &Observer,
    ) -> Result<Self, Fault> {
        ComputeSession::connect(config, chosen, threads, &[], observer).map(Self)
    }

    /// The digest of the terms on which parties of a protocol run a computation. An operator allows
    /// it before the session begins ([`MemberConfig::allow`]). The computation's members are the
    /// parties with the same names, or the parties in order.
    ///
    /// # Errors
    /// The protocol does not support it; or it has public inputs, or secret inputs without an
    /// owner.
    pub fn terms_digest(chosen: Chosen, computation: &Computation) -> Result<TermsDigest, Fault> {
        Ok(ComputeSession::terms(chosen, computation)?.digest())
    }

    /// Connects to the other two parties and these clients. The clients' order is the same at all
    /// members.
    ///
    /// # Errors
    /// The others did not come, do not have the listed pins, or expect other clients.
    pub fn connect_among(config: MemberConfig, clients: &[&str], observer: &Observer) -> Result<Self, Fault> {
        among(config, clients, observer).map(Self)
    }
}

impl Client {
    /// Connects to the three parties, as listed in `config`, in a session with these clients, of
    /// which this is one.
    ///
    /// # Errors
    /// The parties did not come, do not have the listed pins, or expect other clients.
    pub fn connect(config: MemberConfig, clients: &[&str], observer: &Observer) -> Result<Self, Fault> {
        among(config, clients, observer).map(Self)
    }
}

/// Connects a member of a session of three parties with these clients.
fn among(config: MemberConfig, clients: &[&str], observer: &Observer) -> Result<ComputeSession, Fault> {
    let clients: Vec<String> = clients.iter().map(|name| (*name).to_owned()).collect();
    ComputeSession::connect(config, Chosen::new(Protocol::Rep3, None, None)?, None, &clients, observer)
}

macro_rules! members {
    ($($member:ident)+) => {$(
        impl $member {
            /// Assigns a member of computations to a member of the session. The assignment must be
            /// the same at all members.
            pub fn assign(&mut self, name: &str, member: Member) {
                self.0.assign(name, member);
            }

            /// Sets the owner of a secret input. It must be the same at all members.
            pub fn own(&mut self, input: &str, owner: Member) {
                self.0.own(input, owner);
            }

            /// Sets how many bytes values and the work on them may take at each party. It must be
            /// the same at all members. The default is 2 GiB if inputs declare their own lengths.
            pub fn allow(&mut self, memory: u64) {
                self.0.allow(memory);
            }

            /// Runs a computation. It takes by name the inputs that this member brings, and public
            /// inputs, which are the same at all members. It returns by name the outputs that this
            /// member learns.
            ///
            /// # Errors
            /// An input is missing or does not match its type, members run different computations
            /// or bring different lengths, the run was cancelled, or a member failed. The session
            /// cannot be used after an error.
            pub fn run<'n, V: Into<Value>>(
                &mut self,
                computation: &Computation,
                inputs: impl IntoIterator<Item = (&'n str, V)>,
            ) -> Result<BTreeMap<String, Tensor>, Fault> {
                self.0.run(computation, &named(inputs))
            }

            /// Runs a query. It takes the values that this member brings, as
            /// [`QueryTask::columns`](crate::job::QueryTask::columns) gives them. It returns the
            /// outputs that this member learns, for
            /// [`QueryTask::result`](crate::job::QueryTask::result). Owners and members that learn
            /// the result are parties, or clients of the session.
            ///
            /// # Errors
            /// The errors of [`Self::run`]; or the query's terms are not allowed.
            #[cfg(feature = "sql")]
            pub fn ask(
                &mut self,
                query: &crate::job::QueryTask,
                inputs: &BTreeMap<String, Value>,
            ) -> Result<BTreeMap<String, Tensor>, Fault> {
                self.0.ask(query, inputs)
            }

            /// A handle that ends the session from another thread, even during a run.
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

/// Values by the names of their inputs.
pub(crate) fn named<'n, V: Into<Value>>(
    inputs: impl IntoIterator<Item = (&'n str, V)>,
) -> BTreeMap<String, Value> {
    inputs.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}
