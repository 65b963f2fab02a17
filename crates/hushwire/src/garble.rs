//! Garbled circuits between two parties. [`garble`] and [`evaluate`] run Yao's protocol once. For
//! schemes, engines and repeated runs, this module has all of [`hushwire_garble`].
//!
//! The circuit has two inputs: the first belongs to the garbler, the second to the evaluator. Both
//! learn all outputs, and nothing else about the other party's input.
//!
//! **Security.** Semi-honest parties, κ = 128: MI half gates, and SoftSpoken OT extension for the
//! evaluator's input. Neither party detects a peer that garbles or answers wrongly.
//! [`Local::parties`](crate::Local::parties) has a protocol that does.

use crate::pair::name;
use hushwire_aes::Backend;
use hushwire_circuit::{Planes, Program, TwoParty};
use hushwire_fault::Fault;
pub use hushwire_garble::*;
use hushwire_machine::Channel;
use hushwire_ot::{Context, Sid};
use hushwire_prg::Seed;

/// AGREEMENT: the domain of the names of these runs.
const DOMAIN: &str = "hushwire 2026-11-28 library garbled circuit v1";
const STEP: &str = "garbled circuit";

/// Garbles `program` for the peer, which calls [`evaluate`] with the same program. `input` is the
/// program's first input, packed: bit `i` is bit `i % 8` of byte `i / 8`.
///
/// Returns each output of the program, packed in the same way.
///
/// # Errors
/// The program does not have two inputs, or `input` has the wrong length; the peer runs another
/// program; or the channel failed.
pub fn garble(channel: &mut Channel, program: &Program, input: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
    run(channel, Role::Garbler, program, input)
}

/// Evaluates `program`, which the peer garbles with [`garble`]. `input` is the program's second
/// input, packed in the same way.
///
/// Returns each output of the program, packed in the same way.
///
/// # Errors
/// The errors of [`garble`].
pub fn evaluate(channel: &mut Channel, program: &Program, input: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
    run(channel, Role::Evaluator, program, input)
}

fn run(channel: &mut Channel, role: Role, program: &Program, input: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
    let me = u8::from(role == Role::Evaluator);
    let [width, wanted] = own(program, me)?;
    if input.len() != wanted {
        let cause = format!("the input has {} bytes, and {width} bits are {wanted} bytes", input.len());
        return Err(Fault::usage(STEP, cause, "give all bits of the input, the lowest one first"));
    }
    let sid = Sid(name(channel, DOMAIN, me)?);
    let context = Context { sid, backend: Backend::best() };
    let roles = TwoParty::new(program, vec![0, 1], vec![[true, true]; program.outputs().len()]);
    let failed = |e: GarbleError| e.fault().during(STEP);
    let mut party = yao::YaoParty::open(channel, role, &context, yao::Terms::default(), &Seed::random())
        .map_err(failed)?;
    let planes = Planes::pack(input, width, 1);
    let learnt = party.run(channel, program, &roles, &planes).map_err(failed)?;
    Ok(learnt.split(program.outputs()).map(|output| output.unpack()).collect())
}

/// The numbers of bits and of bytes of a party's input.
fn own(program: &Program, me: u8) -> Result<[usize; 2], Fault> {
    match program.inputs() {
        widths @ [_, _] => {
            let width = widths[usize::from(me)];
            Ok([width, width.div_ceil(8)])
        }
        widths => {
            let cause =
                format!("the circuit's number of inputs is {}, and each party brings one", widths.len());
            Err(Fault::usage(STEP, cause, "take a circuit with two inputs, or yao::YaoParty for any other"))
        }
    }
}
