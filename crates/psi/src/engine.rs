//! The protocols that can compute a circuit of an intersection.

use crate::{PsiError, PsiSide, PsiTerms, plan::CircuitProtocol, random};
use hushwire_circuit::{Planes, Program, TwoParty};
use hushwire_garble::{Role, yao};
use hushwire_machine::Channel;
use hushwire_ot::Context;
use zeroize::Zeroizing;

/// One party of either protocol.
pub(crate) enum CircuitEngine {
    Yao(Box<yao::YaoParty>),
    Gmw(Box<hushwire_gmw::GmwParty>),
}

impl CircuitEngine {
    pub(crate) fn open(
        channel: &mut Channel,
        side: PsiSide,
        context: &Context,
        terms: &PsiTerms,
    ) -> Result<CircuitEngine, PsiError> {
        let seed = random::seed()?;
        Ok(match terms.protocol {
            CircuitProtocol::Yao => {
                let role = if side == PsiSide::A { Role::Evaluator } else { Role::Garbler };
                let terms = yao::Terms { scheme: terms.scheme, ot: terms.ot };
                CircuitEngine::Yao(Box::new(yao::YaoParty::open(channel, role, context, terms, &seed)?))
            }
            CircuitProtocol::Gmw => {
                let party = hushwire_gmw::GmwParty::open(channel, side.number(), context, terms.ot, &seed)?;
                CircuitEngine::Gmw(Box::new(party))
            }
        })
    }

    /// Runs one instance. Takes a byte, 0 or 1, for every bit of this party's inputs; returns one
    /// for every bit that it learns.
    pub(crate) fn run(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        roles: &TwoParty,
        inputs: Zeroizing<Vec<u8>>,
    ) -> Result<Planes, PsiError> {
        let inputs = Planes::new(inputs.len(), 1, inputs).expect("a byte is a plane of one instance");
        match self {
            CircuitEngine::Yao(party) => Ok(party.run(channel, program, roles, &inputs)?),
            CircuitEngine::Gmw(party) => Ok(party.run(channel, program, roles, &inputs)?),
        }
    }
}
