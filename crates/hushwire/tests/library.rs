//! The short functions of the library: their results, and the errors of wrong uses.

use hushwire::{
    Fault, Local,
    block::Block,
    circuit::{Program, named},
    compute::Computation,
    fault::code,
    garble, local_pair,
    nn::{Array, Floats, Network, zoo::Writer},
    ot,
};

fn ok<T>(result: Result<T, Fault>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn chosen_messages_are_those_of_the_choices() {
    let count = 1000u32;
    let pairs: Vec<[Block; 2]> =
        (0..count).map(|i| [2 * i, 2 * i + 1].map(|n| Block::from_u128(n.into()))).collect();
    let choices: Vec<bool> = (0..count).map(|i| i.wrapping_mul(2_654_435_769) >> 31 == 1).collect();
    let pair = local_pair(|channel| ot::send(channel, &pairs), |channel| ot::receive(channel, &choices));
    let ((), received) = ok(pair);
    let wanted: Vec<Block> = pairs.iter().zip(&choices).map(|(pair, c)| pair[usize::from(*c)]).collect();
    assert_eq!(received, wanted);
    // Both parties must agree on the number of OTs.
    let short =
        local_pair(|channel| ot::send(channel, &pairs), |channel| ot::receive(channel, &choices[1..]));
    let error = short.err().unwrap_or_else(|| panic!("no error")).to_string();
    assert!(error.contains("of them, and the peer"), "{error}");
}

#[test]
fn outputs_of_a_garbled_circuit_are_those_of_the_circuit() {
    let program = |name: &str| named::program(name).unwrap_or_else(|e| panic!("{e}"));
    let run = |a: &Program, b: &Program, x: &[u8], y: &[u8]| {
        local_pair(|channel| garble::garble(channel, a, x), |channel| garble::evaluate(channel, b, y))
    };
    let (add, sub) = (program("add:12"), program("sub:12"));
    let (ours, theirs) = ok(run(&add, &add, &[0xff, 0x0f], &[0x02, 0x01]));
    assert_eq!((&ours[0][..], ours == theirs), (&[0x01, 0x11][..], true));
    for (result, words) in [
        (run(&add, &sub, &[0; 2], &[0; 2]), "garbled circuit"),
        (run(&add, &add, &[0; 2], &[0; 3]), "the input has 3 bytes, and 12 bits are 2 bytes"),
        (run(&program("sha256-block"), &add, &[0; 2], &[0; 2]), "number of inputs is 1"),
    ] {
        let error = result.err().unwrap_or_else(|| panic!("{words}")).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_failure_of_one_side_is_the_error_of_both() {
    let refuse = || Fault::usage("asking", "nothing is asked", "ask");
    for side in 0..2 {
        let pair = local_pair(
            |channel| if side == 0 { Err(refuse()) } else { Ok(channel.recv("a word", &mut [0])?) },
            |channel| if side == 1 { Err(refuse()) } else { Ok(channel.recv("a word", &mut [0])?) },
        );
        let error = pair.err().unwrap_or_else(|| panic!("no error"));
        assert_eq!(
            (error.code(), error.step()),
            (code::REQUEST, "asking".to_owned()),
            "side {side}: {error}"
        );
    }
}

#[test]
fn every_number_of_parties_computes_the_same() {
    let text = "computation c\nmembers a, b\ninput x: i32[3] from a\ninput y: i32[3] from b\n\
        output z = x * y - 1 to a, b\noutput most = max_of(x) to b\n";
    let computation: Computation = text.parse().unwrap_or_else(|e| panic!("{e}"));
    for open in [Local::two, Local::three, || Local::parties(2), || Local::parties(3)] {
        let mut local = ok(open());
        for factor in [2, -3] {
            let learnt = ok(local.run(&computation, [("x", [5i32, -7, 11]), ("y", [factor; 3])]));
            let numbers = [0, 1, 2].map(|i| learnt["z"].number(i));
            assert_eq!(numbers, [5 * factor - 1, -7 * factor - 1, 11 * factor - 1].map(|n| Some(n.into())));
            assert_eq!(learnt["most"].number(0), Some(11));
        }
    }
    for n in [0, 1, 9] {
        let error = Local::parties(n).err().unwrap_or_else(|| panic!("{n} parties"));
        assert_eq!(error.code(), code::REQUEST, "{error}");
    }
}

#[test]
fn a_network_gives_what_it_gives_in_floating_point() {
    let mut network = Writer::new("n", 3, &[1, 6]);
    let hidden = network.gemm("input", [6, 5]);
    let hidden = network.relu(&hidden);
    let output = network.gemm(&hidden, [5, 2]);
    let model = network.finish(&output);
    let (onnx, input) = (model.to_bytes(), Array::new(&[1, 6], vec![0.5, -1.0, 0.25, 2.0, -0.75, 1.5]));
    let network = Network::new(model, Some(&[1, 6])).unwrap_or_else(|e| panic!("{e}"));
    let floats = Floats::new(&network, &input, true).unwrap_or_else(|e| panic!("{e}"));
    let wanted = floats.value(network.layers.len() - 1);
    for run in [Local::model(&onnx, &input), Local::model(&onnx, &input).two()] {
        let found = ok(run.run());
        assert_eq!(found.lengths, [1, 2]);
        for (found, wanted) in found.data.iter().zip(&wanted.data) {
            assert!((found - wanted).abs() < 0.05, "{found} and {wanted}");
        }
    }
    let error = Local::model(b"no model", &input).run().err().unwrap_or_else(|| panic!("no model"));
    assert_eq!(error.code(), code::ONNX, "{error}");
}

#[test]
fn mistakes_of_a_query_are_named() {
    let tables = [("people", "id,city\n1,Zug\n1,Bern\n")];
    let count = "SELECT COUNT(*) AS n FROM people";
    for (query, wrong) in [
        (Local::query("SELECT nothing FROM people", tables), code::COLUMN_UNKNOWN),
        (Local::query(count, tables).key("persons", "id"), code::REQUEST),
        (Local::query(count, tables).key("people", "id"), code::ROWS),
        (Local::query(count, [("people", "")]), code::READ),
    ] {
        let error = query.run().err().unwrap_or_else(|| panic!("{wrong:?}"));
        assert_eq!(error.code(), wrong, "{error}");
    }
    let grouped = "SELECT city, COUNT(*) AS n FROM people GROUP BY city";
    let answer = ok(Local::query(grouped, tables).min_group(2).run());
    assert_eq!((answer.rows.len(), answer.count), (0, Some(0)));
}
