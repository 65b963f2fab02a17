//! The text and the binary form of random computations.

use crate::test_support::{Dice, computation, inputs};
use crate::{Computation, ComputeError, evaluate};
use proptest::prelude::*;
use std::{collections::BTreeSet, mem::discriminant};

proptest! {
    #[test]
    fn both_forms_are_read_as_the_same_computation(seed: u64) {
        let c = computation(seed);
        let text = c.to_string();
        let read: Computation = text.parse().map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(&read, &c, "{}", text);
        prop_assert_eq!(read.digest(), c.digest());
        prop_assert_eq!(read.to_string(), text, "the text is canonical");
        let again = Computation::from_bytes(&c.to_bytes()).unwrap();
        prop_assert_eq!(&again, &c);
    }

    #[test]
    fn every_form_computes_the_same(seed: u64, n in 0..5usize) {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, n);
        let read: Computation = c.to_string().parse().unwrap();
        // Both refuse slices of too few rows, and places of a `gather` that do not exist.
        prop_assert_eq!(evaluate(&c, &given), evaluate(&read, &given));
    }

    #[test]
    fn a_changed_form_is_refused_or_is_another_computation(seed: u64, at: prop::sample::Index, by in 1..=255u8) {
        let c = computation(seed);
        let mut bytes = c.to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= by;
        if let Ok(other) = Computation::from_bytes(&bytes) {
            prop_assert_eq!(other.to_bytes(), bytes);
            prop_assert_ne!(other.digest(), c.digest());
        }
    }

    #[test]
    fn a_short_form_is_refused(seed: u64, at: prop::sample::Index) {
        let bytes = computation(seed).to_bytes();
        let short = &bytes[..at.index(bytes.len())];
        let refused = Computation::from_bytes(short).unwrap_err();
        prop_assert!(matches!(refused, ComputeError::Binary { .. } | ComputeError::Type { .. }), "{}", refused);
    }

    #[test]
    fn no_text_is_too_strange(text in "[a-z0-9_ =+*/<>!&|()\\[\\],.:#\n-]{0,200}") {
        let _ = text.parse::<Computation>();
    }

    #[test]
    fn a_changed_text_is_read_or_refused(seed: u64, at: prop::sample::Index, to in "[ -~\n]{0,3}") {
        let text = computation(seed).to_string();
        let at = at.index(text.len());
        let changed = format!("{}{to}{}", &text[..at], &text[at + 1..]);
        if let Ok(read) = changed.parse::<Computation>() {
            prop_assert_eq!(read.to_string().parse::<Computation>().unwrap(), read);
        }
    }
}

#[test]
fn random_computations_hold_every_operation() {
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        seen.extend(computation(seed).nodes().iter().map(|n| format!("{:?}", discriminant(&n.op))));
    }
    assert_eq!(seen.len(), 42, "{seen:?}");
}

#[test]
fn the_order_of_writing_is_no_part_of_the_identity() {
    let [one, other] = ["a = x + y\nb = x * y\n", "b = x * y\nunused = x - y\na = x + y\n"].map(|lines| {
        let text = format!(
            "computation c\nmembers m\ninput x: u8 from m\ninput y: u8 from m\n{lines}output z = a / b to m\n"
        );
        text.parse::<Computation>().unwrap()
    });
    assert_eq!(one, other);
    assert_eq!(one.digest(), other.digest());
}

#[test]
fn those_who_learn_are_a_set() {
    let to = |members: &str| {
        format!("computation c\nmembers m, k\ninput x: u8 from m\noutput x to {members}\n")
            .parse::<Computation>()
    };
    assert_eq!(to("m, k").unwrap().digest(), to("k, m").unwrap().digest());
    assert!(to("m, m").is_err());
}

#[test]
fn compared_comparisons_keep_their_parentheses() {
    let text = "computation c\nmembers m\ninput x: u8 from m\noutput z = (x < 3) == (x > 1) to m\n";
    let c: Computation = text.parse().unwrap();
    assert_eq!(c.to_string().parse::<Computation>().unwrap(), c);
}

#[test]
fn deep_graphs_end() {
    let mut dice = Dice(3);
    let chain: String = (0..20_000).map(|k| format!("t{} = t{k} + {}\n", k + 1, dice.below(9))).collect();
    let text = format!("computation deep\nmembers m\ninput t0: u8 from m\n{chain}output z = t20000 to m\n");
    let c: Computation = text.parse().unwrap();
    assert_eq!(c.to_string().parse::<Computation>().unwrap(), c);
    assert_eq!(Computation::from_bytes(&c.to_bytes()).unwrap(), c);
    let nested =
        format!("computation c\nmembers m\ninput x: u8 from m\noutput z = {}x to m\n", "-(".repeat(10_000));
    assert!(matches!(nested.parse::<Computation>(), Err(ComputeError::Text { .. })));
}

/// AGREEMENT: a changed digest would separate members of old releases from new ones.
#[test]
fn a_digest_is_pinned() {
    let text = "computation bill\nmembers shop, client\nsymbols n\ninput price: u64[n] from shop\ninput amount: u64[n] from client\n\
                paid = sum(price * amount)\noutput total = paid to client\n";
    let c: Computation = text.parse().unwrap();
    let hex: String = c.digest().iter().take(8).map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, "1638c43c54f48a7c");
}

/// Widths that a few bytes claim must not allocate memory.
#[test]
fn a_circuit_of_too_many_bits_is_refused_before_it_is_made() {
    let text = "computation c\nmembers m\ncircuit not [\n1 2\n1 1\n1 1\n1 1 0 1 INV\n]\ninput x: bits(1) from m\noutput z = circuit(not, x) to m\n";
    let bytes = text.parse::<Computation>().unwrap().to_bytes();
    // One circuit; one input of one bit, one output of one bit, one gate: INV 0 1.
    let at = bytes.windows(8).position(|w| w == [1, 1, 1, 1, 1, 1, 2, 0]).unwrap();
    let refused = |inputs: Vec<u8>| {
        let changed = [&bytes[..at + 1], &inputs, &bytes[at + 3..]].concat();
        Computation::from_bytes(&changed).unwrap_err().to_string()
    };
    let wide = [0xff, 0xff, 3];
    assert!(refused([vec![1], wide.to_vec()].concat()).contains("a circuit of too many bits"));
    assert!(refused([vec![65], vec![1; 65]].concat()).contains("a circuit of too many bits"));
    assert!(refused(vec![0]).contains("gate 0 reads wire 0 before anything writes it"));
}

/// Left-associative signs nest as deep as their number.
#[test]
fn long_chains_are_refused_with_their_place() {
    let chain = |sign: &str, terms: usize| {
        let sum = vec!["x"; terms].join(sign);
        format!("computation long\nmembers m\ninput x: u8 from m\noutput z = {sum} to m\n")
    };
    for sign in ["+", "*", " ^ ", " - "] {
        let error = chain(sign, 20_000).parse::<Computation>().unwrap_err().to_string();
        assert!(error.contains("line 4, column ") && error.contains("give parts of it names"), "{error}");
        assert!(chain(sign, 513).parse::<Computation>().is_ok(), "{sign}");
        assert!(chain(sign, 514).parse::<Computation>().is_err(), "{sign}");
    }
    let shifts = format!(
        "computation long\nmembers m\ninput x: u8 from m\noutput z = x{} to m\n",
        " << 1".repeat(20_000)
    );
    assert!(shifts.parse::<Computation>().is_err());
    // Brackets and calls do not hide the height.
    let sum = vec!["x"; 300].join("+");
    for wrapped in [format!("({sum}) + {sum}"), format!("sum(broadcast({sum}, [2])) + {sum}")] {
        let text = format!("computation long\nmembers m\ninput x: u8 from m\noutput z = {wrapped} to m\n");
        let error = text.parse::<Computation>().unwrap_err().to_string();
        assert!(error.contains("has more than 512 levels"), "{error}");
    }
    // A wide expression is not deep.
    let wide = vec!["x + x"; 2_000].join(", ");
    let text =
        format!("computation wide\nmembers m\ninput x: u8[1] from m\noutput z = concat({wide}) to m\n");
    assert!(text.parse::<Computation>().is_ok());
}

/// AGREEMENT: the binary form, by the digests of random computations that have every operation.
#[test]
fn digests_stay() {
    let mut hash = blake3::Hasher::new();
    (0..200).for_each(|seed| {
        hash.update(&computation(seed).digest());
    });
    assert_eq!(hash.finalize().to_hex()[..32], *"7d99e9ceae7efc843ea49f4778465a87");
}
