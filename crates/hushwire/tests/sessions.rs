//! Sessions for computations, against the plain evaluator.

use hushwire::{
    Client, Local, Party,
    compute::{Computation, Scalar, Tensor, Visibility, evaluate, test_support},
    job::{
        Chosen, ComputationSource, ComputeJob, ComputeTask, Event, Fault, Kind, Member, MemberConfig,
        Observer, Peer, Protocol, Task, Value,
    },
    wire::{Identity, Listener, TransportKind},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Barrier, Mutex},
    thread,
};

fn rep3() -> Chosen {
    Chosen::new(Protocol::Rep3, None, None).unwrap_or_else(|e| panic!("{e}"))
}

fn computation(text: &str) -> Computation {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

const TABLE: &str = "computation t\nmembers a, b\nsymbols n\ninput x: i16[n] from a\ninput y: i16[n] from b\n\
    output z = x * y + 1 to a\noutput less = x < y to b\noutput sorted = permute(x, order(y)) to a, b\noutput s = sum(x) to b\n";

fn column(n: usize, seed: i128) -> Tensor {
    let scalar = Scalar::signed(16);
    Tensor::from_numbers(scalar, &[n], (0..n as i128).map(|i| (i * 7919 + seed * 104_729) % 65_536 - 32_768))
}

#[test]
fn one_session_serves_many_computations() {
    let mut three = Local::three().unwrap_or_else(|e| panic!("{e}"));
    let table = computation(TABLE);
    for n in [0, 1, 3, 8, 65] {
        let given = BTreeMap::from([("x".to_owned(), column(n, 1)), ("y".to_owned(), column(n, 2))]);
        let expected = evaluate(&table, &given).unwrap_or_else(|e| panic!("{e}"));
        let inputs = given.iter().map(|(name, tensor)| (name.as_str(), tensor.clone()));
        let learnt = three.run(&table, inputs).unwrap_or_else(|e| panic!("{n}: {e}"));
        assert_eq!(learnt, expected, "{n} rows");
    }
    let many = computation(
        "computation many\nmembers a, b, c, d, e\ninput x: u8 from a\ninput y: u8 from e\ninput p: bool[3] from d\n\
         output z = x / y to c\noutput q = count(p) to a\n",
    );
    let inputs = [("x", Value::from(200u8)), ("y", 0u8.into()), ("p", [true, false, true].into())];
    let learnt = three.run(&many, inputs).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((learnt["z"].get(0), learnt["q"].get(0)), (255, 2));
    assert!(three.stats().iter().all(|stats| stats.bytes_sent > 0));
}

/// Runs two or three parties over TLS, each on a thread with its own part.
fn parties<T: Send>(protocol: Protocol, work: impl Fn(u8, Result<Party, Fault>) -> T + Sync) -> Vec<T> {
    parties_with(protocol, |_| (), work)
}

/// As [`parties`], with settings that `furnish` changes.
fn parties_with<T: Send>(
    protocol: Protocol,
    furnish: impl Fn(&mut MemberConfig),
    work: impl Fn(u8, Result<Party, Fault>) -> T + Sync,
) -> Vec<T> {
    let chosen = Chosen::new(protocol, None, None).unwrap_or_else(|e| panic!("{e}"));
    let threads = (protocol == Protocol::Rep3).then_some(3);
    let (mut configs, mut peers) = (vec![], vec![]);
    for index in 0..protocol.parties() {
        let me = Member::Party(index);
        let identity = Identity::generate(&me.to_string()).unwrap_or_else(|e| panic!("{e}"));
        let listener = Arc::new(Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}")));
        peers.push(Peer { member: me.clone(), address: Some(listener.address()), pin: identity.pin() });
        configs.push(MemberConfig::new(me, identity, Some(listener)));
    }
    thread::scope(|scope| {
        let running = configs.into_iter().zip(0..).map(|(mut config, index)| {
            let peers = peers.iter().filter(|peer| peer.member != config.me);
            config.peers = peers.cloned().collect();
            config.transport = TransportKind::TcpTls;
            furnish(&mut config);
            let work = &work;
            let observer: Observer = Arc::new(|_| {});
            scope.spawn(move || work(index, Party::connect_with(config, chosen, threads, &observer)))
        });
        let running: Vec<_> = running.collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| panic!("a thread panicked")))
            .collect()
    })
}

#[test]
fn parties_that_met_compute_with_every_protocol() {
    let table = computation(TABLE);
    let given = BTreeMap::from([("x".to_owned(), column(9, 3)), ("y".to_owned(), column(9, 4))]);
    let expected = evaluate(&table, &given).unwrap_or_else(|e| panic!("{e}"));
    for protocol in Protocol::ALL {
        let learnt = parties(protocol, |index, party| {
            let mut party = party.unwrap_or_else(|e| panic!("{e}"));
            let name = ["x", "y"].get(usize::from(index));
            let run = |party: &mut Party| {
                party
                    .run(&table, name.map(|name| (*name, given[*name].clone())))
                    .unwrap_or_else(|e| panic!("{e}"))
            };
            let first = run(&mut party);
            assert_eq!(run(&mut party), first, "a session runs again");
            first
        });
        let of = |party: usize| learnt[party].keys().map(String::as_str).collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec!["sorted", "z"], vec!["less", "s", "sorted"]), "{protocol}");
        assert!(learnt.iter().flatten().all(|(name, tensor)| expected[name] == *tensor), "{protocol}");
    }
}

/// A party of a session computes what it allows, and nothing else.
#[test]
fn a_party_of_a_session_refuses_what_it_does_not_allow() {
    let [sum, other] = ["x + y", "x"].map(|expr| {
        let head = "computation c\nmembers a, b\ninput x: u8 from a\ninput y: u8 from b\n";
        format!("{head}output z = {expr} to b\n")
    });
    let job = ComputeJob::new(Protocol::Gmw, ComputationSource::Text(sum.clone()));
    let allowed = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}")).terms().digest();
    let furnish = |config: &mut MemberConfig| {
        if config.me == Member::Party(0) {
            config.allow([allowed]);
        }
    };
    let (sum, other) = (computation(&sum), computation(&other));
    let errors = parties_with(Protocol::Gmw, furnish, |index, party| {
        let mut party = party.unwrap_or_else(|e| panic!("{e}"));
        let inputs = || [(["x", "y"][usize::from(index)], 3u8)];
        party.run(&sum, inputs()).unwrap_or_else(|e| panic!("{e}"));
        party.run(&other, inputs()).err()
    });
    let errors: Vec<_> = errors.into_iter().flatten().collect();
    assert_eq!(errors.len(), 2);
    assert!(
        errors[0].kind() == Kind::Refused && errors[0].to_string().contains("in jobs that it allows alone")
    );
}

type Values = BTreeMap<String, Tensor>;

/// Whether a party brings an input: all parties bring public inputs, and the second one brings
/// secret inputs.
fn brings(index: u8, visibility: Visibility) -> bool {
    match visibility {
        Visibility::Public => true,
        Visibility::Private(of) => of.0 == u16::from(index),
        Visibility::Secret => index == 1,
    }
}

/// Random computations of public, private and secret inputs, with their inputs and the evaluator's
/// results.
fn random() -> Vec<(Computation, Values, Values)> {
    let all = (0..60).filter_map(|seed| {
        let c = test_support::computation(seed);
        let given = test_support::inputs(&c, seed ^ 1, seed as usize % 6);
        let expected = evaluate(&c, &given).ok()?;
        Some((c, given, expected))
    });
    all.collect()
}

#[test]
fn random_computations_have_the_same_bits_with_every_protocol() {
    let all = random();
    assert!(all.len() > 20, "{} computations", all.len());
    for protocol in Protocol::ALL {
        parties(protocol, |index, party| {
            let mut party = party.unwrap_or_else(|e| panic!("{e}"));
            for (k, (c, given, expected)) in all.iter().enumerate() {
                c.inputs().for_each(|(name, _)| party.own(name, Member::Party(1)));
                let inputs = c.inputs().filter(|(_, ty)| brings(index, ty.visibility));
                let inputs: Vec<_> = inputs.map(|(name, _)| (name, given[name].clone())).collect();
                let learnt = party.run(c, inputs).unwrap_or_else(|e| panic!("{protocol} {k}: {e}\n{c}"));
                let mine = |to: &hushwire::compute::Member| to.0 == u16::from(index);
                let outputs = c.outputs().iter().filter(|output| output.to.iter().any(mine));
                assert_eq!(learnt.len(), outputs.clone().count());
                for output in outputs {
                    assert_eq!(
                        learnt[&output.name], expected[&output.name],
                        "{protocol} {k} {}\n{c}",
                        output.name
                    );
                }
            }
        });
    }
}

#[test]
fn what_one_owner_does_alone_is_not_sent() {
    let run = |text: &str| {
        let mut three = Local::three().unwrap_or_else(|e| panic!("{e}"));
        let before: u64 = three.stats().iter().map(|stats| stats.bytes_sent).sum();
        let learnt = three.run(&computation(text), [("x", column(500, 7)), ("y", column(500, 8))]);
        let learnt = learnt.unwrap_or_else(|e| panic!("{e}"));
        let sent: u64 = three.stats().iter().map(|stats| stats.bytes_sent).sum();
        (learnt, sent - before)
    };
    let head = "computation c\nmembers a, b\nsymbols n\ninput x: i16[n] from a\ninput y: i16[n] from b\n";
    let (cut, sent) = run(&format!(
        "{head}best = permute(x, order(desc x)) * x / 3\noutput z = best < abs(y) * y to a, b\n"
    ));
    let (_, least) = run(&format!("{head}output z = x < y to a, b\n"));
    assert!(sent < least + 100, "{sent} bytes, a comparison alone {least}");
    let given = BTreeMap::from([("x".to_owned(), column(500, 7)), ("y".to_owned(), column(500, 8))]);
    let text =
        format!("{head}best = permute(x, order(desc x)) * x / 3\noutput z = best < abs(y) * y to a, b\n");
    assert_eq!(Some(cut), evaluate(&computation(&text), &given).ok());
}

/// The errors of all parties.
fn errors(protocol: Protocol, work: impl Fn(u8, &mut Party) -> Result<(), Fault> + Sync) -> Vec<String> {
    parties(protocol, |index, party| {
        let mut party = party.unwrap_or_else(|e| panic!("{e}"));
        let error =
            work(index, &mut party).err().unwrap_or_else(|| panic!("party {index} found nothing wrong"));
        let again = work(index, &mut party).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(again.contains("connect anew"), "{again}");
        error.to_string()
    })
}

#[test]
fn different_computations_and_lengths_end_at_every_party() {
    let [one, other] = ["x + y", "x - y"].map(|expr| {
        computation(&format!(
            "computation c\nmembers a, b\nsymbols n\ninput x: u8[n] from a\ninput y: u8[n] from b\noutput z = {expr} to a\n"
        ))
    });
    let inputs = |index: u8, n: usize| ["x", "y"].get(usize::from(index)).map(|name| (*name, vec![index; n]));
    for protocol in Protocol::ALL {
        let all = errors(protocol, |index, party| {
            party.run(if index == 1 { &other } else { &one }, inputs(index, 3)).map(drop)
        });
        assert!(all.iter().all(|e| e.contains("party ")), "{all:?}");
        assert!(
            all.iter().any(|e| e.contains("runs another computation") && e.contains("(ours: c, digest ")),
            "{all:?}"
        );
        let all =
            errors(protocol, |index, party| party.run(&one, inputs(index, 3 + usize::from(index))).map(drop));
        assert!(
            all.iter().any(|e| e.contains("n is ") && e.contains("bring as many rows of both")),
            "{all:?}"
        );
    }
    // Public values and owners of secret inputs must agree, as the computation must.
    let text =
        "computation c\nmembers a, b\ninput p: u8[2] public\ninput s: u8[2] secret\noutput z = p * s to a\n";
    let c = computation(text);
    for (public, owner) in [(1, 0), (0, 1)] {
        let all = errors(Protocol::Rep3, |index, party| {
            let own = u8::from(index == 2) * owner;
            party.own("s", Member::Party(own));
            let secret = (index == own).then_some(("s", [3, 4]));
            let public = [("p", [1, 2 + public * index])];
            party.run(&c, public.into_iter().chain(secret)).map(drop)
        });
        assert!(all.iter().any(|e| e.contains("runs another computation")), "{all:?}");
    }
    let all = errors(Protocol::Gmw, |_, party| party.run::<Value>(&c, []).map(drop));
    assert!(all.iter().all(|e| e.contains("secret input s is brought by no member")), "{all:?}");
    let all = errors(Protocol::Gmw, |_, party| {
        party.own("s", Member::Party(0));
        party.run::<Value>(&c, []).map(drop)
    });
    assert!(all.iter().all(|e| e.contains("public input p: u8[2] has no values")), "{all:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let sum =
        computation("computation s\nmembers a\nsymbols n\ninput x: u8[n] from a\noutput y = sum(x) to a\n");
    for (given, words) in [
        (Value::from([1i32, 256]), "element 2: \"256\" does not fit u8, which has 0 to 255"),
        (Value::from([0i32, 1, -1]), "element 3: \"-1\" does not fit u8"),
        (Value::from(column(3, 1)), "it is i16, and declared u8[n]"),
    ] {
        let mut three = Local::three().unwrap_or_else(|e| panic!("{e}"));
        let error = three.run(&sum, [("x", given)]).err().unwrap_or_else(|| panic!("taken")).to_string();
        assert!(error.contains(words), "{error}");
    }
    let least = computation("computation l\nmembers a\ninput x: u8 in 0..9 from a\noutput y = x to a\n");
    let mut three = Local::three().unwrap_or_else(|e| panic!("{e}"));
    let error = three.run(&least, [("x", 10u8)]).err().unwrap_or_else(|| panic!("taken")).to_string();
    assert!(error.contains("element 0 is not within 0 to 8"), "{error}");
    let mut three = Local::three().unwrap_or_else(|e| panic!("{e}"));
    let error = three.run(&sum, [("z", 1u8)]).err().unwrap_or_else(|| panic!("taken")).to_string();
    assert!(error.contains("no input called `z`"), "{error}");
    let learnt = three.run(&sum, [("x", [1u8, 2])]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(learnt["y"].get(0), 3, "a mistake before anything is sent leaves the session whole");
    let error = three.run::<Value>(&sum, []).err().unwrap_or_else(|| panic!("taken")).to_string();
    assert!(error.contains("has no values for input `x`"), "{error}");
}

#[test]
fn a_run_is_heard_and_can_be_cancelled() {
    let heard = Arc::new(Mutex::new(vec![]));
    let cancel = Arc::new(Mutex::new(None::<hushwire::job::Cancel>));
    let (list, handle) = (heard.clone(), cancel.clone());
    let observer: Observer = Arc::new(move |event| {
        if let Event::Progress(done, of) = event {
            list.lock().unwrap_or_else(|e| panic!("{e}")).push((done, of));
            if let (1.., Some(handle)) = (of, &*handle.lock().unwrap_or_else(|e| panic!("{e}"))) {
                handle.cancel();
            }
        }
    });
    let mut three = Local::open(rep3(), Some(1), observer).unwrap_or_else(|e| panic!("{e}"));
    let table = computation(
        "computation steps\nmembers a, b\nsymbols n\ninput x: i16[n] from a\ninput y: i16[n] from b\n\
         output z = select(x < y, x * y, x + 1) to a\noutput least = min_of(y) to b\n",
    );
    let given = [("x", column(20, 5)), ("y", column(20, 6))];
    let inputs = || given.clone();
    let learnt = three.run(&table, inputs()).unwrap_or_else(|e| panic!("{e}"));
    let given = inputs().map(|(name, tensor)| (name.to_owned(), tensor));
    assert_eq!(Some(learnt), evaluate(&table, &BTreeMap::from(given)).ok());
    let steps = heard.lock().unwrap_or_else(|e| panic!("{e}")).clone();
    assert!(steps.len() > 2 && steps.windows(2).all(|two| two[0].0 <= two[1].0), "{steps:?}");
    *cancel.lock().unwrap_or_else(|e| panic!("{e}")) = Some(three.cancel());
    let error = three.run(&table, inputs()).err().unwrap_or_else(|| panic!("not cancelled")).to_string();
    assert!(error.contains("the program cancelled the run; connect anew"), "{error}");
    assert!(three.run(&table, inputs()).is_err());
}

/// A member of a session of three parties and clients.
enum Seat {
    Party(Party),
    Client(Client),
}

impl Seat {
    fn run(&mut self, c: &Computation, inputs: Vec<(&str, Value)>) -> Result<Values, Fault> {
        match self {
            Seat::Party(party) => party.run(c, inputs),
            Seat::Client(client) => client.run(c, inputs),
        }
    }

    fn cancel(&self) -> hushwire::job::Cancel {
        match self {
            Seat::Party(party) => party.cancel(),
            Seat::Client(client) => client.cancel(),
        }
    }
}

/// Runs three parties and two clients over TLS, on threads. `list` gives the clients that each
/// member expects.
fn among<T: Send>(
    list: impl Fn(&Member) -> Vec<&'static str> + Sync,
    work: impl Fn(&Member, Result<Seat, Fault>) -> T + Sync,
) -> Vec<T> {
    let clients = ["ann", "bob"].map(|name| Member::Client(name.to_owned()));
    let (mut configs, mut peers) = (vec![], vec![]);
    for me in (0..3).map(Member::Party).chain(clients) {
        let identity = Identity::generate(&me.to_string()).unwrap_or_else(|e| panic!("{e}"));
        let listener = matches!(me, Member::Party(_)).then(|| Listener::bind("127.0.0.1:0"));
        let listener = listener.transpose().unwrap_or_else(|e| panic!("{e}")).map(Arc::new);
        let address = listener.as_deref().map(Listener::address);
        peers.push(Peer { member: me.clone(), address, pin: identity.pin() });
        configs.push(MemberConfig::new(me, identity, listener));
    }
    thread::scope(|scope| {
        let running = configs.into_iter().map(|mut config| {
            let client = matches!(config.me, Member::Client(_));
            let peers = peers.iter().filter(|peer| peer.member != config.me);
            config.peers = peers.filter(|peer| !client || peer.address.is_some()).cloned().collect();
            config.transport = TransportKind::TcpTls;
            config.connect_timeout = std::time::Duration::from_secs(10);
            let (work, list) = (&work, &list);
            scope.spawn(move || {
                let (me, observer): (_, Observer) = (config.me.clone(), Arc::new(|_| {}));
                let clients = list(&me);
                let seat = match client {
                    true => Client::connect(config, &clients, &observer).map(Seat::Client),
                    false => Party::connect_among(config, &clients, &observer).map(Seat::Party),
                };
                work(&me, seat)
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|t| t.join().unwrap_or_else(|_| panic!("a thread panicked"))).collect()
    })
}

const BOTH: [&str; 2] = ["ann", "bob"];

#[test]
fn clients_are_members_of_a_session_for_many_computations() {
    let text = |lines: &str| {
        computation(&format!(
            "computation c\nmembers ann, party1, bob\nsymbols n\ninput x: i32[n] from ann\ninput y: i32[n] from party1\n\
             input p: i32 public\n{lines}"
        ))
    };
    // The computations are on numbers, on bits, of clients alone, and one in which bob has no part.
    let all = [
        text("output s = sum(x * y) + p to bob, ann\noutput z = x * y to party1\n"),
        text("output l = x < y to ann\noutput m = max(x, y) * p to bob\n"),
        text("output best = permute(y, order(desc x)) to bob\n"),
        computation(
            "computation d\nmembers ann, bob\ninput a: u8 from ann\ninput b: u8 from bob\noutput c = a ^ b to ann\n",
        ),
        text("output z = x + y to ann\n"),
    ];
    let numbers = |scalar: Scalar, n: &[usize], seed: i128| {
        let count = n.iter().product::<usize>() as i128;
        Tensor::from_numbers(scalar, n, (0..count).map(|i| (i + 3) * seed * 77_777 - 40))
    };
    let given = |c: &Computation, k: usize| -> Values {
        let of = |ty: &hushwire::compute::Type, seed| {
            let lengths = vec![5 + k; ty.shape.rank()];
            numbers(ty.scalar, &lengths, seed)
        };
        let inputs = c.inputs().zip(1..).map(|((name, ty), seed)| (name.to_owned(), of(ty, seed)));
        inputs.collect()
    };
    let learnt = among(
        |_| BOTH.to_vec(),
        |me, seat| {
            let mut seat = seat.unwrap_or_else(|e| panic!("{e}"));
            let name = me.to_string().replace("client ", "").replace(' ', "");
            let run = |(k, c): (usize, &Computation)| {
                let mine = c.inputs().filter(|(_, ty)| match ty.visibility {
                    Visibility::Private(of) => c.members()[usize::from(of.0)] == name,
                    _ => true,
                });
                let values = given(c, k);
                let inputs = mine.map(|(input, _)| (input, Value::from(values[input].clone()))).collect();
                seat.run(c, inputs).unwrap_or_else(|e| panic!("{name} {k}: {e}"))
            };
            (name.clone(), all.iter().enumerate().map(run).collect::<Vec<_>>())
        },
    );
    for (k, c) in all.iter().enumerate() {
        let expected = evaluate(c, &given(c, k)).unwrap_or_else(|e| panic!("{e}"));
        for (name, runs) in &learnt {
            let at = c.members().iter().position(|member| member == name);
            let wanted = c.outputs().iter().filter(|o| o.to.iter().any(|m| Some(usize::from(m.0)) == at));
            let wanted: Values = wanted.map(|o| (o.name.clone(), expected[&o.name].clone())).collect();
            assert_eq!(runs[k], wanted, "{name}, computation {k}");
        }
    }
}

#[test]
fn a_client_that_differs_or_cancels_ends_the_session_of_all() {
    let text = "computation c\nmembers ann, bob\ninput a: u8 from ann\ninput b: u8 from bob\noutput c = a * b to ann\n";
    let [one, other] = [text.to_owned(), text.replace("a * b", "a & b")].map(|text| computation(&text));
    let value = |me: &Member| match me {
        Member::Client(name) => vec![(if name == "ann" { "a" } else { "b" }, Value::from(3u8))],
        _ => vec![],
    };
    let bob = Member::Client("bob".to_owned());
    let errors = among(
        |_| BOTH.to_vec(),
        |me, seat| {
            let mut seat = seat.unwrap_or_else(|e| panic!("{e}"));
            let error = seat.run(if *me == bob { &other } else { &one }, value(me)).err();
            error.unwrap_or_else(|| panic!("{me} found nothing wrong")).to_string()
        },
    );
    assert!(errors.iter().any(|e| e.contains("client bob runs another computation")), "{errors:?}");
    let done = Barrier::new(5);
    let errors = among(
        |_| BOTH.to_vec(),
        |me, seat| {
            let mut seat = seat.unwrap_or_else(|e| panic!("{e}"));
            let first = seat.run(&one, value(me)).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(first.len(), usize::from(me.to_string() == "client ann"));
            // Bob learns nothing in the first computation, and may finish it before the others.
            done.wait();
            if *me == bob {
                seat.cancel().cancel();
            }
            let error = seat.run(&one, value(me)).err();
            error.unwrap_or_else(|| panic!("{me} went on")).to_string()
        },
    );
    assert!(errors[4].contains("the program cancelled the run"), "{errors:?}");
    // A member that expects other clients is told before anything runs.
    let errors = among(
        |me| if *me == Member::Party(1) { vec!["ann"] } else { BOTH.to_vec() },
        |_, seat| seat.err().map(|e| e.to_string()),
    );
    assert!(errors.iter().all(Option::is_some), "{errors:?}");
    assert!(errors.iter().flatten().any(|e| e.contains("clients")), "{errors:?}");
    let mut three = Local::three().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(three.run(&one, [("a", 3u8), ("b", 5u8)]).unwrap_or_else(|e| panic!("{e}"))["c"].get(0), 15);
}
