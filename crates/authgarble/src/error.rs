//! Errors of a run: checks, messages, the OTs below, the network, and misuse.

use std::fmt;

use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_machine::{NetError, PartyId, drive::Misstep};
use hushwire_ot::OtError;
use thiserror::Error;

/// The check that failed. It never says which bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Check {
    /// A party sent different messages to different parties (hash of all broadcasts, sent with the
    /// next one).
    Echo,
    /// A value does not open its commitment: a coin, or what a check compares.
    Commitment,
    /// A party's bits towards different peers (one fold of all bits and MACs).
    Bits,
    /// A party's Δ towards different peers (sums of keys, opened against MACs).
    Delta,
    /// The sum over all parties of the leaky ANDs' check values.
    LeakyAnds,
    /// MACs of the bits that buckets open.
    Buckets,
    /// MACs of wire masks under triples.
    MaskedWires,
    /// MACs of the masks of a party's inputs.
    InputMasks,
    /// MACs of the bits in a garbled row, at the evaluator (rows).
    Rows,
    /// The evaluator's labels of all ANDs against the Λ that it says, before a garbler answers
    /// (half gates).
    AndLabels,
    /// MACs of every AND's masks against what was evaluated (half gates).
    Ands,
    /// The evaluator's labels of the outputs (rows).
    Labels,
    /// MACs of the masks of outputs.
    OutputMasks,
    /// The last word of every party.
    Verdict,
}

impl Check {
    /// All of them.
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

/// The reason why a step ended without a result. What the step was given is lost: set up a new
/// session.
///
/// Reads as its [`fault`](Self::fault) does.
#[derive(Debug, Error)]
pub enum AuthError {
    /// A check failed.
    Abort {
        /// The party at fault, where the check tells.
        peer: Option<PartyId>,
        /// The check that failed.
        check: Check,
    },
    /// A message that no party following the protocol sends.
    Malformed {
        /// The party that sent it.
        peer: PartyId,
        /// The message.
        message: &'static str,
    },
    /// The parties are not about to run the same thing.
    Mismatch {
        /// The party that runs another.
        peer: PartyId,
    },
    /// This party's inputs do not have the size that they need.
    Inputs {
        /// Planes that came.
        found: usize,
        /// Planes that it takes.
        expected: usize,
    },
    /// A stock of triples and masks has fewer than a run takes.
    Short {
        /// The kind of which there are too few.
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

    /// The code, the peer to blame, and the texts of the table.
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
