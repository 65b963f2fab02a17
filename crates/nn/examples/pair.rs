//! Runs a network of the zoo, or of an ONNX file, between two parties of this process, on a thread
//! each, and reports its time and bytes:
//! `pair [network] [he|ot] [extension] [threads] [ahead|in-turn] [net] [images]`. With 0 threads
//! (the default) it only plans. OTs are made ahead of use or in turn; the network between the two
//! is `none`, `lan`, `wan`, or of a form such as `1Gbps,5ms`. A network of the zoo may end in its
//! ring or rings, as `squeezenet@32+48`.

use hushwire_aes::Backend;
use hushwire_compute::{Op, Tensor};
use hushwire_machine::{Cost, Meter, PartyId, inproc};
use hushwire_nn::{
    Floats, INPUT, Members, Network, Numbers, Samples, Secure, Wanted, WideLayers, WideRing, decode,
    onnx::Model, zoo,
};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::Seed;
use hushwire_two::{ArithmeticParty, Distance, Plan, Products, Spent};
use hushwire_wire::Shape;
use std::{collections::BTreeMap, thread, time::Duration, time::Instant};

const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or("squeezenet-cifar".into());
    let products = if args.next().as_deref() == Some("ot") { Products::Ot } else { Products::He };
    let ot: Protocol = args.next().and_then(|n| n.parse().ok()).unwrap_or(Protocol::SoftSpoken2);
    let threads: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(2);
    let ahead = args.next().as_deref() != Some("in-turn");
    let net: Shape = args.next().map_or(Shape::NONE, |n| n.parse().expect("a network's shape"));
    let distance = Distance::of(net.rtt);
    let images: Option<usize> = args.next().map(|n| n.parse().expect("a number of images"));
    let (name, ring) =
        name.split_once('@').map_or((name.clone(), None), |(n, r)| (n.to_owned(), Some(r.to_owned())));
    let file = name.ends_with(".onnx").then(|| std::fs::read(&name).expect("a file"));
    let model = match &file {
        Some(bytes) => Model::read(bytes).expect("a model"),
        None => zoo::make(&name, 1).expect("a network"),
    };
    let lengths = images.map(|images| {
        let side = if name.ends_with("cifar") { 32 } else { 227 };
        [images, 3, side, side]
    });
    let network = Network::new(model, lengths.as_ref().map(|l| &l[..])).expect("supported");
    let input = zoo::sample(&network.layers[network.inputs[0].1].lengths, 7);
    let floats = Floats::new(&network, &input, true).expect("values");
    // A model of a file in the ring that is chosen for it.
    let numbers = file.map_or(ring.as_deref().map_or(Numbers::of(32), rings), |_| {
        let samples = Samples::made_up(&network, None).expect("samples");
        Wanted::default().chosen(&network, &samples).expect("numbers").numbers
    });
    println!("{numbers:?}");
    let secure = Secure::new(&network, numbers, &Members::default()).expect("a computation");
    let mut inputs = secure.weights(&network, floats.greatest(), 2).expect("weights");
    inputs.insert(INPUT.to_owned(), secure.input(&input).expect("an input"));
    let c = secure.computation();
    let owners: Vec<usize> = c.inputs().map(|(name, _)| usize::from(name == INPUT)).collect();
    let start = Instant::now();
    let plan = Plan::with(c, &owners, &[[false, true]], products).expect("a plan");
    let costs = plan.costs(ot, distance);
    let tally = costs.all;
    println!(
        "planned in {:.2} s; {} rounds, {:?} MB, {:?} OTs",
        start.elapsed().as_secs_f64(),
        tally.rounds,
        tally.bytes.map(|bytes| bytes >> 20),
        tally.cots
    );
    let op_of = |node: usize| match &c.nodes()[node].op {
        Op::Conv2d { .. } => "conv",
        Op::Max => "relu",
        Op::Pool { .. } => "pool",
        Op::Rescale(_) => "trunc",
        Op::MatMul => "matmul",
        Op::Mul => "batchnorm",
        _ => "others",
    };
    let mut bytes = BTreeMap::<&str, [u64; 2]>::new();
    for (node, cost) in &costs.nodes {
        let of = bytes.entry(op_of(*node)).or_default();
        (of[0], of[1]) =
            (of[0] + cost.bytes[0] + cost.bytes[1], of[1] + (cost.cots[0] + cost.cots[1]) as u64);
    }
    for (op, [bytes, cots]) in bytes {
        println!("{op:10} {:8.1} MB both ways, {:8.2} million OTs", bytes as f64 / 1e6, cots as f64 / 1e6);
    }
    if threads == 0 {
        return;
    }
    let own = |i: usize| -> Vec<Tensor> {
        let all = c.inputs().zip(&owners).filter(|(_, owner)| **owner == i);
        all.map(|((name, _), _)| inputs[name].clone()).collect()
    };
    let mut nets = inproc::mesh_capped(&IDS, 2, Duration::from_secs(600), usize::MAX);
    nets.iter_mut().for_each(|of| net.apply(of));
    let start = Instant::now();
    let (plan, own) = (&plan, &own);
    let ran: Vec<(Vec<Tensor>, BTreeMap<usize, Spent>, Cost)> = thread::scope(|scope| {
        let party = |(i, mut net): (usize, hushwire_machine::Net)| {
            scope.spawn(move || {
                let peer = Some(IDS[1 - i]);
                let [mut channel, ots] =
                    [0, 1].map(|lane| net.channel(lane, peer, peer).expect("the lane is there"));
                let context = Context { sid: Sid([4; 32]), backend: Backend::best() };
                let party = ArithmeticParty::open(ots, i, &context, ot, &Seed::random()).expect("a set-up");
                let meter = Meter::new();
                channel.tap(meter.tap());
                let mut party = party.threads(threads).ahead(ahead).distance(distance).metered(&meter);
                let made = party.run(&mut channel, plan, own(i), &mut |_, _| true).expect("an honest run");
                (made, party.spent().clone(), meter.reading().cost())
            })
        };
        let threads: Vec<_> = nets.into_iter().enumerate().map(party).collect();
        threads.into_iter().map(|t| t.join().expect("it ends")).collect()
    });
    println!(
        "{name} {products:?} {ot}: {:.2} s, {} rounds, {} + {} MB",
        start.elapsed().as_secs_f64(),
        ran[0].2.rounds,
        ran[0].2.bytes_sent >> 20,
        ran[1].2.bytes_sent >> 20
    );
    let found = decode(&ran[1].0[0]);
    let expected = floats.value(network.outputs[0].1);
    let worst = found.data.iter().zip(&expected.data).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    println!("off by {worst} of {}", expected.greatest());
    let mut by_op = BTreeMap::<&str, Spent>::new();
    for (node, spent) in &ran[0].1 {
        let of = by_op.entry(op_of(*node)).or_default();
        (of.all, of.products) = (of.all + spent.all, of.products + spent.products);
    }
    for (op, spent) in by_op {
        println!(
            "{op:10} {:8.1} ms, products {:8.1} ms",
            1e3 * spent.all.as_secs_f64(),
            1e3 * spent.products.as_secs_f64()
        );
    }
}

/// The numbers of a ring, or of two.
fn rings(text: &str) -> Numbers {
    let bits = |text: &str| text.parse().expect("a number of bits");
    match text.split_once('+') {
        None => Numbers::of(bits(text)),
        Some((narrow, wide)) => {
            let frac = if bits(wide) > 48 { 16 } else { 12 };
            Numbers::mixed(bits(narrow), frac, WideRing { bits: bits(wide), layers: WideLayers::Known })
        }
    }
}
