//! Tests that the owners' parts and the rest together give the results of the whole.

use crate::test_support::{computation, inputs};
use crate::{Computation, Cut, Member, Op, Tensor, Visibility, circuits, evaluate};
use std::collections::BTreeMap;

type Values = BTreeMap<String, Tensor>;

/// The owners that the types name; a third member brings secret inputs.
fn owners(c: &Computation) -> Vec<Option<u16>> {
    let owner = |visibility| match visibility {
        Visibility::Public => None,
        Visibility::Private(Member(of)) => Some(of),
        Visibility::Secret => Some(9),
    };
    c.inputs().map(|(_, ty)| owner(ty.visibility)).collect()
}

fn bound(text: &str, given: &Values) -> Computation {
    let c: Computation = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    c.bind(&c.symbols_of(given).unwrap()).unwrap()
}

/// Cuts, and runs the parts on these inputs. Each owner has only its own inputs and the public
/// ones.
fn through(c: &Computation, given: &Values, numbers: bool) -> (Cut<u16>, Values) {
    through_owners(c, given, numbers, |_| true)
}

/// Like [`through`], with owners that compute nothing.
fn through_owners(
    c: &Computation,
    given: &Values,
    numbers: bool,
    computes: fn(&u16) -> bool,
) -> (Cut<u16>, Values) {
    let owners = owners(c);
    let of = |is: &dyn Fn(Option<u16>) -> bool| -> Values {
        let all = c.inputs().zip(&owners).filter(|(_, owner)| is(**owner));
        all.map(|((name, _), _)| (name.to_owned(), given[name].clone())).collect()
    };
    let cut = c.cut_among(&owners, &of(&|owner| owner.is_none()), numbers, computes);
    let cut = cut.unwrap_or_else(|e| panic!("{e}\n{c}"));
    let mut brought =
        cut.brought().iter().map(|(owner, _)| owner).zip(cut.shared().inputs()).collect::<Vec<_>>();
    brought.sort_by_key(|(owner, _)| **owner);
    let mut all = Values::new();
    for owner in [0, 1, 9] {
        let own = of(&|of| of.is_none() || of == Some(owner));
        let values = cut.bring(c, &owner, |name| own.get(name)).unwrap();
        let mine = brought.iter().filter(|(of, _)| **of == owner);
        all.extend(mine.map(|(_, (name, _))| (*name).to_owned()).zip(values));
    }
    assert_eq!(cut.origins().len(), cut.shared().nodes().len());
    let nodes = cut.shared().nodes().iter().zip(cut.origins());
    let inputs = nodes.filter(|(node, _)| matches!(node.op, Op::Input(_))).map(|(_, of)| *of);
    assert!(
        inputs.eq(cut.brought().iter().map(|(_, value)| *value)),
        "inputs of the rest are the values brought"
    );
    let found = evaluate(cut.shared(), &all).unwrap_or_else(|e| panic!("{e}\n{c}\n{}", cut.shared()));
    (cut, found)
}

/// Owners whose inputs are fixed, such as data sets at rest.
#[test]
fn owners_that_compute_nothing_bring_their_inputs() {
    let mut compared = 0;
    for seed in 0..300 {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, seed as usize % 6);
        let Ok(expected) = evaluate(&c, &given) else { continue };
        let c = c.bind(&c.symbols_of(&given).unwrap()).unwrap();
        let (cut, found) = through_owners(&c, &given, true, |owner| *owner == 0);
        assert_eq!(found, expected, "{c}");
        for (owner, value) in cut.brought() {
            let is_input = matches!(c.node(*value).op, Op::Input(_));
            assert!(*owner == 0 || is_input, "owner {owner} of\n{c}");
            compared += usize::from(*owner != 0 && is_input);
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_cut_gives_what_the_whole_gives() {
    let (mut compared, mut fewer) = (0, 0);
    for seed in 0..600 {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, seed as usize % 6);
        let Ok(expected) = evaluate(&c, &given) else { continue };
        let c = c.bind(&c.symbols_of(&given).unwrap()).unwrap();
        for numbers in [false, true] {
            let (cut, found) = through(&c, &given, numbers);
            assert_eq!(found, expected, "seed {seed}\n{c}\n{}", cut.shared());
            fewer += u32::from(cut.shared().nodes().len() < c.nodes().len());
        }
        compared += 1;
    }
    assert!(compared > 300 && fewer > 300, "{compared} compared, {fewer} have fewer operations together");
}

/// A move that is left to the rest late reads places that are computed from constants, and that
/// come between it and its operand.
#[test]
fn constants_between_a_move_and_what_it_moves_are_kept() {
    for places in [
        "prefix_sum(const(u64[4], [0, 1, 0, 0]))",
        "const(u64[4], [0, 1, 0, 0]) + const(u64[4], [1, 0, 1, 1])",
    ] {
        let text = format!(
            "computation c\nmembers a, b\ninput x: u64[2] from a\ninput y: u64[4] from b\np = {places}\noutput z = gather(x, p) * y to a\n"
        );
        let c: Computation = text.parse().unwrap_or_else(|e| panic!("{e}: {text}"));
        for seed in 0..3 {
            let given = inputs(&c, seed, 4);
            let expected = evaluate(&c, &given).unwrap();
            for numbers in [false, true] {
                assert_eq!(through(&c, &given, numbers).1, expected, "{text}");
            }
        }
    }
}

fn column(numbers: &[i128], bits: u8) -> Tensor {
    Tensor::from_numbers(crate::Scalar::signed(bits), &[numbers.len()], numbers.iter().copied())
}

#[test]
fn what_one_owner_does_alone_costs_nothing() {
    let text = "computation c\nmembers a, b\nsymbols n\ninput x: i32[n] from a\ninput y: i32[n] from b\n\
        input p: i32[n] public\ninput s: i32[n] secret\n\
        alone = permute(x, order(desc x)) / 7\noutput z = alone < y * 3 + p to a\noutput w = x % 5 to b\n\
        output v = p * p to a\noutput u = s + 1 to b\n";
    let given: Values = ["x", "y", "p", "s"]
        .into_iter()
        .zip([[5, -9, 7], [1, -2, 3], [i128::from(i32::MIN), 4, 0], [8, 8, 9]])
        .map(|(name, numbers)| (name.to_owned(), column(&numbers, 32)))
        .collect();
    let whole = bound(text, &given);
    let (cut, found) = through(&whole, &given, true);
    assert_eq!(Ok(found), evaluate(&whole, &given));
    let inputs: Vec<_> = cut.shared().inputs().map(|(name, _)| name.to_owned()).collect();
    // The inputs are the sorted x / 7 and x % 5 of a, 3 y of b, and s + 1, rather than x, y and s.
    assert!(inputs.len() == 4 && inputs.iter().all(|name| name.starts_with('t')), "{}", cut.shared());
    let left: Vec<&Op> = cut.shared().nodes().iter().map(|node| &node.op).collect();
    let left: Vec<_> = left.iter().filter(|op| !matches!(op, Op::Input(_) | Op::Constant(_))).collect();
    assert_eq!(left.len(), 1, "the comparison alone mixes owners: {left:?}");
    let ands = |c: &Computation| circuits::program(c).unwrap().ands();
    let less = "computation c\nmembers a, b\ninput x: i32[3] from a\ninput y: i32[3] from b\noutput z = x < y to a\n";
    assert_eq!(ands(cut.shared()), ands(&less.parse().unwrap()));
    assert!(ands(&whole) > 50 * ands(cut.shared()), "{} of {}", ands(cut.shared()), ands(&whole));
}

/// The inputs of the rest of `z = …`, as `name: type`.
fn brought(lines: &str, numbers: bool) -> Vec<String> {
    let text = format!(
        "computation c\nmembers a, b\ninput x: u8 from a\ninput v: u8[4] from a\ninput y: u64[4] from b\n{lines} to b\n"
    );
    let given = Values::from([
        ("x".to_owned(), Tensor::from_numbers(crate::Scalar::unsigned(8), &[], [200])),
        ("v".to_owned(), Tensor::from_numbers(crate::Scalar::unsigned(8), &[4], [1, 2, 255, 0])),
        ("y".to_owned(), Tensor::from_numbers(crate::Scalar::unsigned(64), &[4], [9, 0, 1, 2])),
    ]);
    let whole = bound(&text, &given);
    let (cut, found) = through(&whole, &given, numbers);
    assert_eq!(Ok(found), evaluate(&whole, &given), "{lines}");
    cut.shared()
        .inputs()
        .map(|(name, ty)| format!("{name}: {ty}"))
        .filter(|of| !of.starts_with("y:"))
        .collect()
}

#[test]
fn what_is_free_on_shares_is_not_brought_in_more_bits() {
    for (lines, numbers, wanted) in [
        ("output z = broadcast(cast(x, u64), [4]) * y", true, vec!["t3_0: u64"]),
        ("output z = broadcast(cast(x, u64), [4]) * y", false, vec!["x: u8"]),
        ("output z = cast(v, u64) < y", true, vec!["v: u8[4]"]),
        ("output z = sum(cast(v, u64) * y)", true, vec!["t4_0: u64[4]"]),
        ("m = v * 3\noutput z = cast(reshape(m, [4]), u64) == y", true, vec!["m: u8[4]"]),
        ("output z = slice(cast(v, u64), 1..2) + slice(y, 0..1)", true, vec!["t4_0: u64[1]", "t5_0: u64[1]"]),
        ("p = order(v)\noutput z = permute(y, p)", true, vec!["v: u8[4]"]),
        ("p = order(v)\noutput z = cast(permute(v, p), u64) ^ y", true, vec!["t4_0: u8[4]"]),
        ("output z = v", true, vec!["v: u8[4]"]),
    ] {
        let found = brought(lines, numbers);
        let types = |all: &[String]| -> Vec<String> {
            all.iter().map(|of| of.split(": ").nth(1).unwrap_or_default().to_owned()).collect()
        };
        let wanted: Vec<String> = wanted.into_iter().map(str::to_owned).collect();
        assert_eq!(types(&found), types(&wanted), "{lines}: {found:?}");
    }
}

#[test]
fn ranges_are_kept_behind_the_cut_but_refuse_nothing() {
    let text = |line: &str| {
        format!(
            "computation c\nmembers a, b\ninput x: i16 in 0..100 from a\ninput y: i16 in 0..9 from b\ninput p: i16 public\n{line} to a\n"
        )
    };
    let given = |p| -> Values {
        let one = |n| Tensor::from_numbers(crate::Scalar::signed(16), &[], [n]);
        [("x", 99), ("y", 8), ("p", p)].into_iter().map(|(name, n)| (name.to_owned(), one(n))).collect()
    };
    let whole = bound(&text("output z = cast(x * 3, i32) < cast(y, i32)"), &given(1));
    let (cut, _) = through(&whole, &given(1), true);
    // Inputs come first.
    let range = cut.shared().range(crate::Value(1)).unwrap();
    assert_eq!((range.low, range.high), (0, 297), "{}", cut.shared());
    // If p is a constant, the sum is refused because of the values that it may reach. The whole
    // computation is not.
    let whole = bound(&text("output z = x + y * p"), &given(30_000));
    let (_, found) = through(&whole, &given(30_000), true);
    assert_eq!(Ok(found), evaluate(&whole, &given(30_000)));
}

#[test]
fn a_public_value_without_a_place_is_found_where_it_is_cut() {
    let text = "computation c\nmembers a\ninput x: u8[2] from a\ninput p: u64[1] public\noutput z = gather(x, p) to a\n\
        input q: u64[2] public\noutput w = gather(q, p) to a\n";
    let whole: Computation = text.parse().unwrap();
    let place = |p| {
        let one = Tensor::from_numbers(crate::Scalar::unsigned(64), &[1], [p]);
        let two = Tensor::from_numbers(crate::Scalar::unsigned(64), &[2], [7, 8]);
        whole.cut(&owners(&whole), &Values::from([("p".to_owned(), one), ("q".to_owned(), two)]), true)
    };
    assert!(place(1).is_ok());
    let error = place(2).unwrap_err().to_string();
    assert!(error.contains("place"), "{error}");
}
