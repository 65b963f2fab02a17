//! The bytes of every protocol on the wire, compared with the file of digests.

use hushwire_aes::Backend;
use hushwire_circuit::{Adder, Planes, named, planes::plane_bytes};
use hushwire_machine::{
    NetError, SessionId,
    drive::{Machine, Wiring},
};
use hushwire_prg::Seed;
use hushwire_rep3::{
    AesBlocks, Batch, CircuitBatch, CircuitWorkspace, Comparison, ExpandedKeys, Field, KeyExpansion, KeySize,
    Multiply, Rep3Party, Role, Sbox, ThreeParty, Workspace,
    ring::{
        Bits, Column, Compact, Conv2d, Dot, FromPlaces, Geometry, Greatest, Inject, MatMul, Meet,
        NegativeInFew, OnBits, OnNumbers, Permutation, Permute, Product, Rectify, RectifyByBits, Reveal,
        RevealBits, Select, Sharing, SharingBits, Sort, SortKey, Sum, ToNumbers, Truncate, TruncateInFew,
        Word, Xor,
        test_support::{share_bits, share_words},
    },
    share,
};
use hushwire_testkit::{Digests, Trace, Transport, noise, prg, run_three, world};
use std::sync::Arc;

/// A number of rows that ends within a byte.
const ROWS: usize = 77;

/// The trace of a batch's machine at three parties with fixed seeds.
fn trace<M: Machine<Error = NetError>>(backend: Backend, make: impl Fn(&mut Batch, usize) -> M) -> Trace {
    let mut parties = world(3, backend);
    let mut machines = parties.each_mut().map(|party| {
        let i = party.role().index();
        make(&mut party.next_batch().unwrap(), i)
    });
    let trace = Trace::new();
    trace.run(Wiring::Ring, &mut machines);
    trace
}

fn numbers<W: Word>(label: &str, rows: usize) -> [Arc<Column<W>>; 3] {
    let mut prg = prg(5, label);
    let numbers: Vec<W> = (0..rows).map(|_| W::of(prg.next_u64())).collect();
    share_words(&mut prg, &numbers).map(Arc::new)
}

fn bits(label: &str, width: usize, rows: usize) -> [Arc<Bits>; 3] {
    let mut prg = prg(6, label);
    let numbers: Vec<u64> = (0..rows).map(|_| prg.next_u64() >> (64 - width)).collect();
    share_bits(&mut prg, width, &numbers).map(Arc::new)
}

fn circuits(all: &mut Digests) {
    for (name, instances) in [("add:64", 1), ("mul:8", 300), ("sort:5x3", 40), ("less:16", 4200)] {
        let program = Arc::new(named::program(name).unwrap());
        let input = noise(2, program.input_bits() * plane_bytes(instances));
        all.run(&format!("rep3/circuit/{name}/{instances}"), |backend| {
            let shares = share(&mut prg(4, "inputs"), &input);
            trace(backend, |batch, i| {
                let (cx, ws) = (batch.context(), CircuitWorkspace::default());
                CircuitBatch::new(program.clone(), cx, &shares[i], instances, ws).unwrap()
            })
        });
    }
    for (name, field) in [("gf2", Field::Gf2), ("gf16", Field::Gf16), ("gf256", Field::Gf256)] {
        let shares = ["x", "y"].map(|label| share(&mut prg(1, label), &noise(1, 5000)));
        all.run(&format!("rep3/product/{name}"), |backend| {
            trace(backend, |batch, i| {
                let [x, y] = [0, 1].map(|k: usize| shares[k][i].clone());
                Multiply::new(field, batch.context(), x, y).unwrap()
            })
        });
    }
}

fn aes(all: &mut Digests) {
    for sbox in Sbox::ALL {
        for size in KeySize::ALL {
            let keys = share(&mut prg(3, "keys"), &noise(1, 3 * size.key_bytes()));
            all.run(&format!("rep3/aes/{sbox}/expansion/{}", 8 * size.key_bytes()), |backend| {
                trace(backend, |batch, i| {
                    KeyExpansion::new(size, sbox, batch.context(), &keys[i], Workspace::default()).unwrap()
                })
            });
        }
        let keys = share(&mut prg(3, "keys"), &noise(1, 176));
        let input = share(&mut prg(4, "input"), &noise(2, 16 * 37));
        let expanded = Role::ALL
            .map(|role| ExpandedKeys::from_shares(role, KeySize::Aes128, &keys[role.index()], 1).unwrap())
            .map(Arc::new);
        all.run(&format!("rep3/aes/{sbox}/blocks"), |backend| {
            trace(backend, |batch, i| {
                AesBlocks::new(sbox, batch.context(), expanded[i].clone(), &input[i], Workspace::default())
            })
        });
    }
}

fn name(adder: Adder) -> &'static str {
    match adder {
        Adder::Ripple => "ripple",
        Adder::Prefix => "prefix",
    }
}

fn words<W: Word>(all: &mut Digests) {
    let of = |what: &str| format!("rep3/ring{}/{what}", W::BITS);
    let (x, y) = (numbers::<W>("x", 120), numbers::<W>("y", 120));
    let cut = |column: &Arc<Column<W>>, rows: usize| {
        Arc::new(Column { own: column.own[..rows].to_vec(), next: column.next[..rows].to_vec() })
    };
    all.run(&of("product"), |backend| {
        trace(backend, |b, i| Product::new(b.context(), x[i].clone(), y[i].clone()).unwrap())
    });
    all.run(&of("truncate"), |backend| {
        trace(backend, |b, i| Truncate::new(b, &x[i], 3, true, Adder::Prefix).unwrap())
    });
    all.run(&of("less"), |backend| {
        trace(backend, |b, i| OnNumbers::less(b, &x[i], &y[i], true, Adder::Prefix).unwrap())
    });
    all.run(&of("equal"), |backend| trace(backend, |b, i| OnNumbers::equal(b, &x[i], &y[i]).unwrap()));
    // The remaining programs are the same for every width.
    if W::BITS < 64 {
        return;
    }
    all.run(&of("dot"), |backend| {
        trace(backend, |b, i| Dot::new(b.context(), [10, 7], cut(&x[i], 70), cut(&y[i], 70)).unwrap())
    });
    all.run(&of("matmul"), |backend| {
        trace(backend, |b, i| MatMul::new(b.context(), [3, 5, 10], cut(&x[i], 15), cut(&y[i], 50)).unwrap())
    });
    let (pictures, window, stride) = ([2, 4, 5, 3], [2, 3], [1, 2]);
    let (before, after) = ([1, 0], [0, 1]);
    let geometry = Geometry { groups: 1, pictures, window, filters: 4, stride, before, after };
    all.run(&of("conv2d"), |backend| {
        trace(backend, |b, i| Conv2d::new(b.context(), geometry, x[i].clone(), cut(&y[i], 72)).unwrap())
    });
    all.run(&of("sharing"), |backend| {
        trace(backend, |b, i| {
            let (owner, values) = (Role::ALL[1], vec![W::of(300); ROWS]);
            Sharing::new(b.context(), owner, ROWS, if i == 1 { &values } else { &[] }).unwrap()
        })
    });
    all.run(&of("reveal"), |backend| {
        trace(backend, |b, i| Reveal::new(b.role(), x[i].clone(), [true, false, true]).unwrap())
    });
    let keys = bits("bits", W::BITS, ROWS);
    for adder in Adder::ALL {
        let of = |what: &str| of(&format!("{what}/{}", name(adder)));
        all.run(&of("to-bits"), |backend| {
            trace(backend, |b, i| OnNumbers::to_bits(b, &x[i], adder).unwrap())
        });
        all.run(&of("some-bits"), |backend| {
            trace(backend, |b, i| OnNumbers::some_bits(b, &x[i], 2..7, adder).unwrap())
        });
        all.run(&of("rectified"), |backend| {
            trace(backend, |b, i| OnNumbers::rectified(b, &x[i], 2..7, adder).unwrap())
        });
        all.run(&of("less"), |backend| {
            trace(backend, |b, i| OnNumbers::less(b, &x[i], &y[i], false, adder).unwrap())
        });
        all.run(&of("less-bounded"), |backend| {
            trace(backend, |b, i| OnNumbers::less_bounded(b, &x[i], &y[i], adder).unwrap())
        });
        all.run(&of("truncate"), |backend| {
            trace(backend, |b, i| Truncate::new(b, &x[i], 3, true, adder).unwrap())
        });
        all.run(&of("to-numbers"), |backend| {
            trace(backend, |b, i| ToNumbers::<W>::new(b, &keys[i], adder).unwrap())
        });
    }
    all.run(&of("few-rounds/rectify"), |backend| {
        trace(backend, |b, i| Rectify::new(b, &x[i], 24..W::BITS).unwrap())
    });
    all.run(&of("few-rounds/truncate"), |backend| {
        trace(backend, |b, i| TruncateInFew::new(b, &x[i], 3, true).unwrap())
    });
    all.run(&of("few-rounds/less-bounded"), |backend| {
        trace(backend, |b, i| NegativeInFew::less_bounded(b, &x[i], &y[i]).unwrap())
    });
    for (name, count) in [("greater", 2), ("greatest", 3)] {
        all.run(&of(&format!("few-rounds/{name}")), |backend| {
            trace(backend, |b, i| Greatest::new(b, &[&*x[i], &y[i], &x[i]][..count], 19).unwrap())
        });
    }
    let flags = bits("flags", 1, 120);
    all.run(&of("inject"), |backend| trace(backend, |b, i| Inject::<W>::new(b, &flags[i])));
    all.run(&of("select"), |backend| trace(backend, |b, i| Select::new(b, &flags[i], &x[i], &y[i]).unwrap()));
}

fn strings(all: &mut Digests) {
    let (x, y, choose) = (bits("x", 40, ROWS), bits("y", 40, ROWS), bits("choose", 1, ROWS));
    for adder in Adder::ALL {
        all.run(&format!("rep3/bits/less/{}", name(adder)), |backend| {
            trace(backend, |b, i| OnBits::less(b, &x[i], &y[i], false, adder).unwrap())
        });
    }
    all.run("rep3/bits/equal", |backend| trace(backend, |b, i| OnBits::equal(b, &x[i], &y[i]).unwrap()));
    all.run("rep3/bits/select", |backend| {
        trace(backend, |b, i| OnBits::select(b, &choose[i], &x[i], &y[i]).unwrap())
    });
    all.run("rep3/bits/sharing", |backend| {
        trace(backend, |b, i| {
            let planes = noise(3, 40 * plane_bytes(ROWS));
            let (bytes, own) = (planes.len(), if i == 2 { &planes[..] } else { &[] });
            SharingBits::new(b.context(), Role::ALL[2], bytes, own).unwrap()
        })
    });
    all.run("rep3/bits/reveal", |backend| {
        trace(backend, |b, i| RevealBits::to_all(b.role(), x[i].clone()).unwrap())
    });
}

/// Protocols that move rows. A sort of few rows takes other steps than a sort of many.
fn rows(all: &mut Digests) {
    for rows in [ROWS, 3000] {
        let of = |what: &str| format!("rep3/rows/{what}/{rows}");
        let (column, byte) = (numbers::<u64>("column", rows), bits("byte", 8, rows));
        all.run(&of("permute"), |backend| {
            trace(backend, |b, i| {
                let by = Permutation::random(b, rows).unwrap();
                Permute::<Sum<u64>>::new(b.context(), by, vec![column[i].clone()]).unwrap()
            })
        });
        all.run(&of("permute-back"), |backend| {
            trace(backend, |b, i| {
                let by = Permutation::random(b, rows).unwrap();
                Permute::<Sum<u64>>::new(b.context(), by, vec![column[i].clone(); 2]).unwrap().inverse()
            })
        });
        all.run(&of("permute-bits"), |backend| {
            trace(backend, |b, i| {
                let by = Permutation::random(b, rows).unwrap();
                Permute::<Xor<u8>>::of_bits(b.context(), by, byte[i].clone()).unwrap()
            })
        });
        let places: Vec<u64> = (0..rows as u64).map(|row| (row * 7 + 3) % rows as u64).collect();
        let places = share_words(&mut prg(5, "places"), &places);
        all.run(&of("from-places"), |backend| trace(backend, |b, i| FromPlaces::new(b, &places[i]).unwrap()));
    }
    let mut parties =
        |rows: usize, name: &str, run: &dyn Fn(Batch, usize, usize) -> Box<dyn Machine<Error = NetError>>| {
            all.run(&format!("rep3/rows/{name}/{rows}"), |backend| {
                let mut machines = world(3, backend).map(|mut party| {
                    let i = party.role().index();
                    run(party.next_batch().unwrap(), rows, i)
                });
                let trace = Trace::new();
                trace.run(Wiring::Ring, &mut machines);
                trace
            });
        };
    for rows in [ROWS, 3000] {
        let keys = [bits("major", 20, rows), bits("minor", 3, rows)];
        parties(rows, "sort", &|batch, rows, i| {
            let key = |(k, descending): (usize, bool)| SortKey {
                bits: keys[k][i].clone(),
                signed: descending,
                descending,
            };
            Box::new(Sort::new(batch, rows, &[(0, false), (1, true)].map(key)).unwrap())
        });
        parties(rows, "meet", &|batch, rows, i| {
            let keys = keys.each_ref().map(|key| key[i].clone());
            Box::new(Meet::new(batch, rows, &keys, rows / 3).unwrap())
        });
        let mut flags = prg(5, "flags");
        let flags: Vec<u64> = (0..rows).map(|_| flags.next_u64() & 1).collect();
        let (flags, column) = (share_words(&mut prg(5, "shares"), &flags), numbers::<u32>("kept", rows));
        let numbers = numbers::<u32>("numbers", rows);
        parties(rows, "rectify-by-bits", &|batch, _, i| {
            Box::new(RectifyByBits::new(batch, &numbers[i], 13..32).unwrap())
        });
        parties(rows, "compact", &|batch, rows, i| {
            Box::new(Compact::new(batch, &flags[i], &[column[i].clone()], rows / 2).unwrap())
        });
    }
}

/// A whole session: the exchange of keys, inputs, a run and openings, and the comparison of an
/// owner's shares.
fn session(backend: Backend) -> Trace {
    let program = Arc::new(named::program("mul:8").unwrap());
    let owners = vec![Role::ALL[2], Role::ALL[0]];
    let who = ThreeParty { owners: owners.clone(), learns: vec![[true, false, true]] };
    let all = Planes::new(16, 9, noise(7, 16 * plane_bytes(9))).unwrap();
    let shares = share(&mut prg(4, "owner"), &noise(8, 100));
    let trace = Trace::new();
    run_three(Transport::Inproc, 1, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let [mut ring, mut back] = [(left, right), (right, left)].map(|(to, from)| {
            let mut channel = net.channel(0, to, from).unwrap();
            channel.tap(trace.tap(role.index()));
            channel
        });
        let (id, seed) = (SessionId([3; 16]), Seed::from_bytes([role.index() as u8; 16]));
        let mut party = Rep3Party::open(role, backend, id, seed, &mut back).unwrap();
        let inputs = all.select(program.inputs(), |i| owners[i] == role);
        party.run([&mut ring, &mut back], &program, &who, &inputs).unwrap();
        let mut tagging = party.next_batch().unwrap().tagging();
        tagging.part(&shares[role.index()].own, &shares[role.index()].next);
        let comparison = Comparison::begin(role, &mut back, vec![tagging.finish()]).unwrap();
        assert!(comparison.end(&mut back).unwrap().is_none());
    });
    trace
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("rep3");
    circuits(&mut all);
    aes(&mut all);
    words::<u8>(&mut all);
    words::<u16>(&mut all);
    words::<u32>(&mut all);
    words::<u64>(&mut all);
    strings(&mut all);
    rows(&mut all);
    all.run("rep3/session", session);
    all.compare();
}
