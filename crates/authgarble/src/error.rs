//! Errors of a run: failed checks, bad messages, the OTs below, the network, and misuse.

use std::fmt;

use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_machine::{NetError, PartyId, drive::Misstep};
use hushwire_ot::OtError;
use thiserror::Error;

/// The check that failed. It never tells which bit failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Check {
    /// A party sent different messages to different parties (a hash of all broadcasts is sent with
    /// the next one).
    Echo,
    /// A value does not match its commitment: a part of a coin, or a value that a check compares.
    Commitment,
    /// A party used different bits towards different peers (one fold of all bits and MACs).
    Bits,
    /// A party used a different Δ towards different peers (sums of keys, opened against MACs).
    Delta,
    /// The check values of the leaky ANDs do not sum to zero over all parties.
    LeakyAnds,
    /// The MACs of the bits that buckets open are wrong.
    Buckets,
    /// The MACs of the wire masks that triples open are wrong.
    MaskedWires,
    /// The MACs of the masks of a party's inputs are wrong.
    InputMasks,
    /// The MACs of the bits in a garbled row are wrong at the evaluator (rows).
    Rows,
    /// The evaluator's labels of all ANDs do not fit the Λ that it sends; checked before a garbler
    /// answers (half gates).
    AndLabels,
    /// The MACs of the masks of all ANDs do not fit the evaluated values (half gates).
    Ands,
    /// The evaluator's labels of the outputs are wrong (rows).
    Labels,
    /// The MACs of the masks of outputs are wrong.
    OutputMasks,
    /// A party did not report in the last message that all its checks passed.
    Verdict,
}

impl Check {
    /// All checks.
    pub const ALL: [Check; 14] = [
        Check::Echo,
        Check::Commitment,
        Check::Bits,
        Check::Delta,
        Check::LeakyAnds,
        Check::Buckets,
        Check::MaskedWires,
        Check::InputMasks,
        Check::Rows,
        Check::AndLabels,
        Check::Ands,
        Check::Labels,
        Check::OutputMasks,
        Check::Verdict,
    ];
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Check::Echo => "broadcast",
            Check::Commitment => "commitment",
            Check::Bits => "authenticated bit",
            Check::Delta => "global key",
            Check::LeakyAnds => "leaky AND",
            Check::Buckets => "bucket",
            Check::MaskedWires => "masked wire",
            Check::InputMasks => "input mask",
            Check::Rows => "garbled row",
            Check::AndLabels => "AND label",
            Check::Ands => "AND gate",
            Check::Labels => "output label",
            Check::OutputMasks => "output mask",
            Check::Verdict => "verdict",
        })
    }
}

/// The reason why a step ended without a result. Whatever the step was given is lost; set up a new
/// session.
///
/// Its text is that of its [`fault`](Self::fault).
#[derive(Debug, Error)]
pub enum AuthError {
    /// A check failed.
    Abort {
        /// The party at fault, if the check identifies it.
        peer: Option<PartyId>,
        /// The check that failed.
        check: Check,
    },
    /// A message that no party that follows the protocol sends.
    Malformed {
        /// The party that sent it.
        peer: PartyId,
        /// The message.
        message: &'static str,
    },
    /// The parties are not about to run the same computation.
    Mismatch {
        /// The party whose computation differs.
        peer: PartyId,
    },
    /// This party's inputs do not have the required size.
    Inputs {
        /// The number of planes that were given.
        found: usize,
        /// The number of planes that the circuit takes.
        expected: usize,
    },
    /// A stock has fewer triples or masks than a run takes.
    Short {
        /// The kind of correlation that the stock lacks.
        what: &'static str,
        /// The number left.
        found: u64,
        /// The number that the run takes.
        expected: u64,
    },
    /// A message of another length than the round declares, or a call out of turn.
    Misstep(#[from] Misstep),
    /// The OTs below failed.
    Ot(#[from] OtError),
    /// The channel failed.
    Net(#[from] NetError),
}

impl AuthError {
    pub(crate) fn abort(check: Check) -> Self {
        AuthError::Abort { peer: None, check }
    }

    pub(crate) fn abort_of(check: Check, peer: usize) -> Self {
        AuthError::Abort { peer: Some(PartyId(peer as u8)), check }
    }

    /// The error's code, the peer to blame, and the texts of the table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Abort { peer, check } => {
                let places = [("peer", Text::peer(*peer, "a peer")), ("check", check.into_text())];
                Fault::of(code::AUTH_CHECK, &places).blaming(*peer)
            }
            Self::Malformed { peer, message } => {
                let places = [("peer", (*peer).into()), ("message", (*message).into())];
                Fault::of(code::AUTH_MALFORMED, &places).blaming(Some(*peer))
            }
            Self::Mismatch { peer } => {
                Fault::of(code::AUTH_DIFFERS, &[("peer", (*peer).into())]).blaming(Some(*peer))
            }
            Self::Inputs { found, expected } => Fault::of(
                code::AUTH_INPUTS,
                &[("found", found.into_text()), ("expected", expected.into_text())],
            ),
            Self::Short { what, found, expected } => Fault::of(
                code::AUTH_SHORT,
                &[("what", (*what).into()), ("found", found.into_text()), ("expected", expected.into_text())],
            ),
            Self::Misstep(e) => Fault::of(code::AUTH_MISSTEP, &[("what", e.into_text())]),
            Self::Ot(e) => e.fault(),
            Self::Net(e) => e.fault(),
        }
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault().clauses())
    }
}
