//! Scans and strings of bits, and circuits that a computation carries.

use super::{circuits::check, evaluator::run};
use crate::test_support::{Dice, tensor};
use crate::{Computation, Netlist, Scalar, Tensor, circuits, evaluate};
use hushwire_circuit::{Circuit, Gate, named};
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #[test]
    fn scans_start_anew(rows in prop::collection::vec((any::<bool>(), -9..9i64, any::<i64>()), 0..40)) {
        let n = rows.len();
        let starts = Tensor::from_words(Scalar::Bool, &[n], rows.iter().map(|r| r.0.into()));
        let x = Tensor::from_numbers(Scalar::signed(64), &[n, 2], rows.iter().flat_map(|r| [r.1.into(), r.2.into()]));
        let types = [format!("bool[{n}]"), format!("i64[{n}, 2]")];
        for (name, join) in [
            ("scan_sum", (|a, b| i64::wrapping_add(a, b)) as fn(i64, i64) -> i64),
            ("scan_min", |a, b| a.min(b)),
            ("scan_max", |a, b| a.max(b)),
            ("copy_down", |a, _| a),
        ] {
            let got = run([&types[0], &types[1]], &format!("{name}(x, y)"), starts.clone(), x.clone());
            let mut seen = [None::<i64>; 2];
            for (i, (start, a, b)) in rows.iter().enumerate() {
                for (k, here) in [*a, *b].into_iter().enumerate() {
                    seen[k] = Some(match seen[k].filter(|_| !*start) {
                        Some(above) => join(above, here),
                        None => here,
                    });
                    prop_assert_eq!(got.number(2 * i + k).unwrap(), i128::from(seen[k].unwrap()), "{}", name);
                }
            }
        }
    }

    #[test]
    fn strings_are_cut_and_joined(seed: u64, widths in prop::array::uniform2(1..150u16), cut in prop::array::uniform2(any::<prop::sample::Index>())) {
        let mut dice = Dice(seed);
        let [x, y] = widths.map(|w| tensor(&mut dice, Scalar::Bits(w), &[3]));
        let types = widths.map(|w| format!("bits({w})[3]"));
        let bit = |t: &Tensor, i: usize, k: usize| t.element(i)[k / 64] >> (k % 64) & 1;
        let joined = run([&types[0], &types[1]], "join(x, y)", x.clone(), y.clone());
        let all = usize::from(widths[0] + widths[1]);
        let (from, to) = (cut[0].index(all), cut[1].index(all));
        let (from, to) = (from.min(to), from.max(to) + 1);
        let part = run([&types[0], &types[1]], &format!("part(join(x, y), {from}..{to})"), x.clone(), y.clone());
        prop_assert_eq!(part.scalar(), Scalar::Bits((to - from) as u16));
        for i in 0..3 {
            for k in 0..all {
                let first = usize::from(widths[0]);
                let expected = if k < first { bit(&x, i, k) } else { bit(&y, i, k - first) };
                prop_assert_eq!(bit(&joined, i, k), expected);
                if (from..to).contains(&k) {
                    prop_assert_eq!(bit(&part, i, k - from), expected);
                }
            }
        }
    }
}

#[test]
fn rows_of_a_key_meet_the_first_side_first() {
    let x = Tensor::from_words(Scalar::unsigned(8), &[6], [7, 3, 7, 3, 9, 7]);
    let y = Tensor::from_words(Scalar::unsigned(8), &[6], [0, 1, 0, 1, 2, 0]);
    let got = run(["u8[6]", "u8[6]"], "permute(x, meet(x, y, first=2))", x.clone(), y);
    let keys: Vec<_> = (0..6).map(|i| got.get(i)).collect();
    assert_eq!(keys.chunk_by(|a, b| a == b).count(), 3, "each key in one place: {keys:?}");
    let text =
        "computation c\nmembers m\ninput x: u8[6] from m\noutput y = permute(x, meet(x, first=2)) to m\n";
    let c: Computation = text.parse().unwrap();
    assert_eq!(c.to_string().parse::<Computation>().unwrap(), c);
    assert_eq!(Computation::from_bytes(&c.to_bytes()).unwrap(), c);
    assert!(c.explain().contains("`meet` opens to parties 1 and 2 names of keys"), "{}", c.explain());
    let wrong = text.replace("first=2", "first=7").parse::<Computation>().unwrap_err().to_string();
    assert!(wrong.contains("`meet` of 6 rows, 7 of which are the first side"), "{wrong}");
    check(&c, &[("x".to_owned(), x)].into()).unwrap();
}

/// AES-128 of FIPS 197, Appendix C.1, with the key and the block of each row.
#[test]
fn a_standard_cipher_is_carried() {
    let aes = Netlist::new(named::make("aes128").unwrap()).unwrap();
    let text = format!(
        "computation cipher\nmembers m\ncircuit aes [\n{}]\ninput key: bits(128) from m\ninput block: bits(128)[2] from m\n\
         output z = circuit(aes, key, block) to m\n",
        aes.text()
    );
    let c: Computation = text.parse().unwrap();
    assert_eq!(Computation::from_bytes(&c.to_bytes()).unwrap(), c);
    assert_eq!(c.to_string().parse::<Computation>().unwrap(), c);
    // The circuit's wire 0 is the last bit of the last byte, as in a written number.
    let bytes = |hex: &str| u128::from_str_radix(hex, 16).unwrap();
    let key = Tensor::single(Scalar::Bits(128), bytes("000102030405060708090a0b0c0d0e0f"));
    let block = bytes("00112233445566778899aabbccddeeff");
    let blocks = Tensor::from_words(Scalar::Bits(128), &[2], [block, 0]);
    let given = BTreeMap::from([("key".to_owned(), key), ("block".to_owned(), blocks)]);
    let made = evaluate(&c, &given).unwrap().remove("z").unwrap();
    assert_eq!(made.get(0), bytes("69c4e0d86a7b0430d8cdb78070b4c55a"));
    assert!(check(&c, &given).unwrap().is_some());
}

#[test]
fn circuits_that_do_not_fit_are_refused() {
    let of = |inputs: Vec<usize>, outputs: Vec<usize>, wires: usize, gates: Vec<Gate>| {
        Netlist::new(Circuit::new(inputs, outputs, wires, gates).unwrap()).map_err(|e| e.to_string())
    };
    let xor = Gate::Xor { a: 0, b: 1, out: 2 };
    assert!(of(vec![1, 1], vec![1], 3, vec![xor]).is_ok());
    let told = of(vec![1, 1], vec![1], 4, vec![Gate::Xor { a: 0, b: 1, out: 3 }]).unwrap_err();
    assert_eq!(told, "a circuit has 4 wires and writes 3; number the wires without gaps");
    assert!(of(vec![0, 2], vec![1], 3, vec![xor]).unwrap_err().contains("inputs of 0, 2 bits"));
    assert!(of(vec![4097], vec![1], 4098, vec![Gate::Xor { a: 0, b: 1, out: 4097 }]).is_err());
    assert!(
        of(vec![1; 65], vec![1], 66, vec![Gate::Xor { a: 0, b: 1, out: 65 }])
            .unwrap_err()
            .contains("1 to 64 inputs")
    );
    let refused = |lines: &str| {
        let head = "computation c\nmembers m\ninput x: bits(1) from m\ninput y: bits(2) from m\ncircuit xor [\n1 3\n2 1 1\n1 1\n2 1 0 1 2 XOR\n]\n";
        format!("{head}{lines}\n").parse::<Computation>().unwrap_err().to_string()
    };
    assert_eq!(
        refused("output z = circuit(xor, x, y) to m"),
        "line 11, column 12: input 1 of a `circuit` is y: bits(2); it has bits(1); cast what is as wide to it"
    );
    assert_eq!(
        refused("output z = circuit(xor, x) to m"),
        "line 11, column 12: `circuit` has 1 operands; it takes 2"
    );
    assert_eq!(
        refused("output z = circuit(and, x, x) to m"),
        "line 11, column 20: there is no circuit and; write `circuit and […]` before"
    );
    assert_eq!(
        refused("circuit xor [\n1 3\n2 1 1\n1 1\n2 1 0 1 2 XOR\n]"),
        "line 11, column 9: there is a circuit xor already; give each a name of its own"
    );
    assert!(refused("circuit no [\n1 3\n2 1 1\n1 1\n2 1 0 7 2 XOR\n]").contains("line 4: "));
    assert_eq!(
        refused("output z = part(y, 1..3) to m"),
        "line 11, column 12: `part` takes bits 1..3 of y: bits(2); it takes a bit or more, up to 2"
    );
}

#[test]
fn a_public_divisor_is_cheap() {
    let ands = |scalar: &str, expr: &str| {
        let text = format!(
            "computation c\nmembers m\ninput x: {scalar} from m\ninput y: {scalar} from m\noutput z = {expr} to m\n"
        );
        circuits::program(&text.parse().unwrap()).unwrap().ands()
    };
    let general = ands("u64", "x / y");
    assert!(ands("u64", "x / 10") * 10 < general, "{} {general}", ands("u64", "x / 10"));
    assert!(ands("u64", "x % 1000") * 5 < general);
    assert!(ands("i64", "x / 10") * 8 < general);
    assert!(ands("u64", "x / 4294967311") * 2 < general);
    assert_eq!(ands("i64", "5 * x"), ands("i64", "x * 5"));
    assert!(ands("i64", "x * -3") < 3 * 64);
}
