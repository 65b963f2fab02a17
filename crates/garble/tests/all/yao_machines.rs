//! Set-up and runs as machines: both parties run on one thread, and each message can be changed.

use crate::common::{ROLES, Repeat, brought, context, due, terms, values};
use hushwire_block::registry;
use hushwire_circuit::{Program, TwoParty, named};
use hushwire_garble::{
    GarbleError, Role, Scheme,
    yao::{Opening, Terms, YaoParty},
};
use hushwire_machine::drive::{Exchanged, Lockstep, Machine, Place};
use hushwire_ot::{OtError, Protocol};
use hushwire_prg::Seed;

/// A function that changes messages on their way.
type Edit<'a> = &'a mut dyn FnMut(Place, &mut Vec<u8>);

fn openings(terms: Terms) -> [Opening; 2] {
    ROLES.map(|role| {
        let seed = Seed::from_bytes([role as u8; 16]);
        Opening::new(role, &context(), terms, &seed).expect("a private scheme")
    })
}

fn opened(terms: Terms) -> [YaoParty; 2] {
    let mut both = openings(terms);
    Lockstep::new().run(&mut both).expect("an honest set-up");
    both.map(Opening::finish)
}

/// Both parties' outputs of one run, and whether its cost was declared.
fn run(
    parties: &mut [YaoParty; 2],
    program: &Program,
    roles: &TwoParty,
    n: usize,
    edit: Edit<'_>,
) -> Result<([Vec<u8>; 2], bool), GarbleError> {
    let values = values(program, n, 3);
    let inputs = ROLES.map(|role| brought(program, roles, role, n, &values));
    let [garbler, evaluator] = parties;
    let mut both = [garbler.begin(program, roles, &inputs[0])?, evaluator.begin(program, roles, &inputs[1])?];
    let declared = both.each_ref().map(|run| run.cost().is_some());
    Lockstep::new().run_edited(&mut both, edit)?;
    Ok((both.map(|run| run.finish().to_vec()), declared == [true; 2]))
}

fn honest(_: Place, _: &mut Vec<u8>) {}

fn roles(program: &Program, owners: Vec<usize>, learns: [bool; 2]) -> TwoParty {
    TwoParty::new(program, owners, vec![learns; program.outputs().len()])
}

#[test]
fn parties_on_one_thread_cost_what_they_declare() {
    let named = |name| named::program(name).expect("a circuit of ours");
    // Programs with several messages of tables, with stages, and with nothing to garble.
    let programs =
        [(named("aes128"), 11), (named("sort:5x4"), 9), (Repeat::wide(64, 2, 3), 4), (named("less:7"), 0)];
    for terms in
        Scheme::PRIVATE.map(terms).into_iter().chain([Terms { ot: Protocol::FerretB10, ..Terms::default() }])
    {
        for (program, n) in &programs {
            let _watch = registry::watch();
            let mut parties = opened(terms);
            let owners = |party| (0..program.inputs().len()).map(|i| (i + party) % 2).collect();
            let cases = [
                roles(program, owners(0), [true, true]),
                roles(program, owners(1), [true, false]),
                roles(program, vec![0; program.inputs().len()], [false, true]),
            ];
            let mut first = true;
            // Each runs twice: the second time the evaluator's choices follow its digest at once.
            for roles in cases.iter().flat_map(|roles| [roles, roles]) {
                let (outputs, declared) =
                    run(&mut parties, program, roles, *n, &mut honest).expect("an honest run");
                for (role, outputs) in ROLES.into_iter().zip(outputs) {
                    assert_eq!(
                        outputs,
                        due(program, roles, role, *n, &values(program, *n, 3)),
                        "{terms:?} {role:?}"
                    );
                }
                let choices = roles.input_bits(program, 1) * n;
                assert_eq!(declared, first || choices == 0, "later OTs draw on what is left");
                first = false;
            }
            let [garbler, evaluator] = parties.map(|party| party.stats());
            assert_eq!((garbler.runs, garbler.table_bytes), (6, evaluator.table_bytes));
            assert_eq!(garbler.ands, 6 * program.ands() * *n as u64);
        }
    }
}

/// A circuit that is small enough to change every message, with outputs for both parties.
fn less() -> (Program, TwoParty) {
    let program = named::program("less:9").expect("a circuit of ours");
    let roles = roles(&program, vec![0, 1], [true; 2]);
    (program, roles)
}

/// A whole session in which message `at` is changed: the set-up and `runs` runs. `None` if there is
/// no such message.
fn cheated(runs: usize, at: usize, change: &dyn Fn(&mut Vec<u8>)) -> Option<Result<(), GarbleError>> {
    let (mut seen, mut hit) = (0, false);
    let mut edit = |_: Place, message: &mut Vec<u8>| {
        if !message.is_empty() {
            if seen == at {
                change(message);
                hit = true;
            }
            seen += 1;
        }
    };
    let mut session = || {
        let mut both = openings(terms(Scheme::Mi));
        Lockstep::new().run_edited(&mut both, &mut edit)?;
        let mut parties = both.map(Opening::finish);
        let (program, roles) = less();
        for _ in 0..runs {
            if let Err(e) = run(&mut parties, &program, &roles, 3, &mut edit) {
                let again = run(&mut parties, &program, &roles, 3, &mut honest);
                assert!(
                    matches!(again, Err(GarbleError::Ot(OtError::Lost { .. }))),
                    "a lost party runs nothing"
                );
                return Err(e);
            }
        }
        Ok(())
    };
    let result = session();
    hit.then_some(result)
}

#[test]
fn messages_of_other_lengths_are_refused() {
    type Change = fn(&mut Vec<u8>);
    let changes: [Change; 3] = [|m| m.truncate(m.len() - 1), |m| m.push(0), |m| m.clear()];
    for change in changes {
        let results: Vec<_> = (0..).map_while(|at| cheated(2, at, &change)).collect();
        assert!(results.len() > 12, "{} messages", results.len());
        for (at, result) in results.into_iter().enumerate() {
            let e = result.expect_err("it has another length");
            assert!(
                matches!(e, GarbleError::Malformed { .. } | GarbleError::Ot(OtError::Malformed { .. })),
                "message {at}: {e}"
            );
        }
    }
}

#[test]
fn changed_messages_give_errors_or_results_but_no_panic() {
    // In a second run, an evaluator with a changed digest continues until it learns of the
    // difference, which requires channels.
    let results: Vec<_> = (0..).map_while(|at| cheated(1, at, &|m| m[0] ^= 0x80)).collect();
    let refused = results.iter().filter(|result| result.is_err()).count();
    // Changes of terms, digests, and bits past the last one are refused; other changes may give
    // wrong outputs.
    assert!(refused >= 5 && refused < results.len(), "{refused} of {}", results.len());
}

#[test]
fn steps_out_of_turn_end_a_machine() {
    let lost = |result: Result<(), GarbleError>| matches!(result, Err(GarbleError::Ot(OtError::Lost { .. })));
    for wrong in 0..2 {
        let [mut garbler, _] = openings(Terms::default());
        let round = garbler.round(0).expect("terms come first");
        let mut out = vec![0; round.out];
        if wrong == 0 {
            garbler.write(0, &mut out).expect("its turn");
            assert!(lost(garbler.write(0, &mut out)), "a second message of a round");
        } else {
            assert!(lost(garbler.read(&[Exchanged::heard(&[0; 32])])), "an answer to nothing");
        }
        assert!(garbler.round(0).is_some_and(|round| round.out + round.into == 0), "it is not done");
        assert!(lost(garbler.write(0, &mut [])) && lost(garbler.read(&[Exchanged::NOTHING])));
    }
}

#[test]
fn a_run_that_is_not_finished_leaves_its_party_lost() {
    let (program, roles) = less();
    let [mut garbler, _] = opened(Terms::default());
    let inputs = brought(&program, &roles, Role::Garbler, 3, &values(&program, 3, 1));
    drop(garbler.begin(&program, &roles, &inputs).expect("the first"));
    let again = garbler.begin(&program, &roles, &inputs).err();
    assert!(matches!(again, Some(GarbleError::Ot(OtError::Lost { .. }))));
}

#[test]
fn messages_of_tables_are_bounded_and_follow_from_the_program() {
    let program = Repeat::wide(512, 8, 40);
    let roles = TwoParty::new(&program, vec![1], vec![[false, true]]);
    let mut parties = opened(Terms::default());
    let mut lengths = vec![];
    let mut note = |place: Place, message: &mut Vec<u8>| {
        if place.party == 0 {
            lengths.push(message.len());
        }
    };
    run(&mut parties, &program, &roles, 1, &mut note).expect("an honest run");
    let bytes = parties[0].stats().table_bytes as usize;
    assert_eq!(bytes, 40 * 8 * 512 * 32);
    let tables = &lengths[1..];
    // The permute bits follow the last tables.
    assert_eq!(tables.iter().sum::<usize>(), bytes + 8 * 512 / 8 * 2);
    assert!(tables.iter().all(|len| *len <= (512 << 10) + 1024) && tables.len() < 40, "{tables:?}");
}
