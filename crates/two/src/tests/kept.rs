//! Inputs that stay, such as the weights of a served model: the results, transforms and messages of
//! runs with them.

use super::{
    random::text,
    session::{own, sessions},
};
use crate::{KeptInputs, Plan, Products, TwoError};
use hushwire_compute::{Computation, Tensor, Type, evaluate};
use hushwire_machine::{PartyId, Tap};
use hushwire_ot::Protocol;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

/// The messages of a party, run by run.
#[derive(Clone, Default)]
struct Overheard(Arc<Mutex<Vec<Vec<u8>>>>);

impl Overheard {
    fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.0.lock().expect("nobody panicked"))
    }
}

impl Tap for Overheard {
    fn outgoing(&mut self, _: PartyId, _: u16, msg: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().expect("nobody panicked").push(msg.to_vec());
        None
    }
    fn incoming(&mut self, _: PartyId, _: u16, _: &mut [u8]) {}
}

/// Two layers with weights. The second reads the results of the first.
fn network() -> Computation {
    text(
        "input x: fixed(32, 6)[1, 2, 9, 9] from m\ninput w: fixed(32, 6)[20, 2, 3, 3] from m\n\
         input m: fixed(32, 6)[5, 980] from m\n\
         y = max(rescale(conv2d(wrapping(x), wrapping(w)), 6), 0)\n\
         output z = rescale(matmul(wrapping(m), wrapping(reshape(y, [980, 1]))), 6) to m",
    )
}

/// Small numbers as inputs.
fn values(c: &Computation) -> BTreeMap<String, Tensor> {
    let value = |(name, ty): (&str, &Type)| {
        let lengths = ty.shape.lengths().expect("lengths have numbers");
        let numbers = (0..lengths.iter().product::<usize>()).map(|i| (i * 37 % 201) as i128 - 100);
        (name.to_owned(), Tensor::from_numbers(ty.scalar, &lengths, numbers))
    };
    c.inputs().map(value).collect()
}

/// Results are correct for any kept inputs and either owner of the weights. Weights that are kept
/// transformed are not transformed in a run. Runs with the same inputs do not send any block of 16
/// bytes twice. Such a block would be a seed, a mask or an encryption used twice. The session's
/// registry ends a party that uses an OT, or a tweak of its pads, twice.
#[test]
fn kept_weights_are_transformed_once_and_nothing_else_is_kept() {
    let c = network();
    let given = values(&c);
    let expected = &evaluate(&c, &given).expect("it has values")["z"];
    for (owner, most) in [(0, u64::MAX), (1, u64::MAX), (0, 0)] {
        let owners = [1 - owner, owner, owner];
        let plan = Plan::with(&c, &owners, &[[true; 2]], Products::He).expect("a plan");
        let layers = plan.layers().filter(|(_, layer)| layer.evaluator == owner).count();
        assert_eq!(layers, 2, "both layers are of the owner's weights");
        let mine = |i: usize| if i == owner { own(&c, &given, &owners, i) } else { vec![] };
        let kept = [0, 1].map(|i| KeptInputs::new(&plan, [i, owner], mine(i), most, 2).expect("they fit"));
        assert_eq!(kept[owner].layers.len(), if most == 0 { 0 } else { 2 });
        let sent = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
            let sent = Overheard::default();
            channel.tap(Box::new(sent.clone()));
            for _ in 0..3 {
                let rest = if i == owner { vec![] } else { own(&c, &given, &owners, i) };
                let made = party.run_kept(channel, &plan, &kept[i], rest, &mut |_, _| true);
                assert_eq!(made.expect("an honest run"), std::slice::from_ref(expected));
            }
            let (transforms, anew) = (party.transforms(), i == owner && most == 0);
            assert_eq!(transforms > 0, anew, "{transforms} transforms");
            sent.take()
        });
        for (party, messages) in sent.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for message in messages {
                for block in message.as_chunks::<16>().0 {
                    assert!(seen.insert(*block), "party {party} sends {block:?} twice");
                }
            }
            assert!(seen.len() > 1000, "{} blocks", seen.len());
        }
    }
}

/// Inputs beyond a layer's bound are refused when they are kept. Other inputs are refused as in any
/// run.
#[test]
fn inputs_that_do_not_fit_are_not_kept() {
    let c = text(
        "input x: i48[1, 9] from m\ninput w: i48[9, 1] from m\noutput y = matmul(wrapping(x), wrapping(w)) to m",
    );
    let plan = Plan::with(&c, &[0, 1], &[[true; 2]], Products::He).expect("a plan");
    let scalar = c.inputs().next().expect("an input").1.scalar;
    let of = |w: i128| vec![Tensor::from_numbers(scalar, &[9, 1], [w; 9])];
    let keep = |own| KeptInputs::new(&plan, [1, 1], own, u64::MAX, 1);
    assert!(keep(of(5)).is_ok());
    assert!(matches!(keep(vec![]).err(), Some(TwoError::Inputs { found: 0, expected: 1 })));
    assert!(keep(of(1 << 46)).err().is_some_and(|e| e.to_string().contains("a weight is greater")));
    let kept = keep(of(5)).expect("it fits");
    let made = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
        (i == 1).then(|| party.run_kept(channel, &plan, &kept, of(5), &mut |_, _| true).err())
    });
    assert!(matches!(made[1], Some(Some(TwoError::Inputs { found: 1, expected: 0 }))));
}
