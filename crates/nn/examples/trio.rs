//! Runs a network of the zoo, or of an ONNX file, among three parties of this process, on a thread
//! each, and reports its time:
//! `trio [network] [threads] [inproc|tcp] [runs] [rows of a piece, or 0] [microseconds a message]`.
//! Without runs it reports rounds and bytes alone, those of party 1 wave by wave. Times are from
//! shares to shares; in the first run memory is still fresh. The processor time of the process is
//! reported as well. A network of the zoo may end in its ring or rings, as `squeezenet@32+64`.

use hushwire_aes::Backend;
use hushwire_compute::{Tensor, evaluate};
use hushwire_machine::{Channel, Cost, Meter, Net, SessionId, inproc};
use hushwire_nn::{
    Floats, INPUT, Members, Network, Numbers, Samples, Secure, Wanted, WideLayers, WideRing, decode,
    onnx::Model, zoo,
};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Rep3Party, Role, Shares};
use hushwire_three::{
    Cut, Plan, run,
    test_support::{opened, shared},
};
use hushwire_wire::{LocalParties, TransportKind};
use std::{
    thread,
    time::{Duration, Instant},
};

type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or("squeezenet-cifar".into());
    let threads: u16 = args.next().map_or(Ok(1), |n| n.parse())?;
    let tcp = args.next().as_deref() == Some("tcp");
    let runs: usize = args.next().map_or(Ok(3), |n| n.parse())?;
    let rows: Option<usize> = args.next().map(|n| n.parse()).transpose()?.filter(|rows| *rows > 0);
    let delay: u64 = args.next().map_or(Ok(20), |n| n.parse())?;
    let (name, ring) =
        name.split_once('@').map_or((name.clone(), None), |(n, r)| (n.to_owned(), Some(r.to_owned())));
    let file = name.ends_with(".onnx").then(|| std::fs::read(&name)).transpose()?;
    let model = file.as_ref().map_or_else(|| zoo::make(&name, 1), |bytes| Model::read(bytes))?;
    let network = Network::new(model, None)?;
    let input = zoo::sample(&network.layers[network.inputs[0].1].lengths, 7);
    let floats = Floats::new(&network, &input, true)?;
    // A model of a file in the ring that is chosen for it.
    let numbers = match file {
        Some(_) => Wanted::default().chosen(&network, &Samples::made_up(&network, None)?)?.numbers,
        None => ring.as_deref().map_or(Numbers::of(32), rings),
    };
    println!("{numbers:?}");
    let secure = Secure::new(&network, numbers, &Members::default())?;
    let mut inputs = secure.weights(&network, floats.greatest(), 2)?;
    inputs.insert(INPUT.to_owned(), secure.input(&input)?);
    let c = secure.computation();
    let start = Instant::now();
    let plan = Plan::new(c)?;
    let cut = Cut::new(threads, Duration::from_micros(delay));
    let cut = rows.map_or(cut, |rows| cut.with_rows(rows));
    let planned = start.elapsed();
    let costs = [0, 1, 2].map(|party| plan.cost(party, cut).map(|cost| cost.cost));
    println!("planned in {planned:.2?}; {costs:?}");
    if runs == 0 {
        for (leg, cost) in plan.wave_costs(1, cut)? {
            let node = c.node(leg.node);
            println!("{:3} rounds, {:8} bytes: {:?} of {}", cost.rounds, cost.bytes_sent, node.op, node.ty);
        }
    }
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "trio");
    let mut shares: [Vec<Shares>; 3] = Default::default();
    for ((name, _), door) in c.inputs().zip(plan.inputs()) {
        shares.iter_mut().zip(shared(&mut prg, &inputs[name], *door)).for_each(|(to, share)| to.push(share));
    }
    let exact = evaluate(c, &inputs)?;
    for _ in 0..runs {
        let nets = nets(tcp, cut.lanes() as u16)?;
        let (begun, before) = (Instant::now(), processor_time()?);
        let ran: Vec<(Vec<Shares>, Cost)> = thread::scope(|scope| {
            let party = |((net, role), inputs): ((Net, Role), Vec<Shares>)| {
                let plan = &plan;
                scope.spawn(move || party(net, role, plan, cut, inputs))
            };
            let threads: Vec<_> = nets.into_iter().zip(Role::ALL).zip(shares.clone()).map(party).collect();
            threads.into_iter().map(|t| t.join().expect("a party ends")).collect::<Result<_, Error>>()
        })?;
        let (took, spent) = (begun.elapsed(), processor_time()? - before);
        let bytes: Vec<u64> = ran.iter().map(|(_, cost)| cost.bytes_sent >> 20).collect();
        println!("{name}: {took:.2?}, {spent:.2?} of processors, {} rounds, {bytes:?} MiB", ran[0].1.rounds);
        let ty = &c.node(c.outputs()[0].value).ty;
        let door = plan.outputs().next().expect("a network has an output");
        let value: Tensor = opened([0, 1, 2].map(|p| &ran[p].0[0]), door, ty);
        assert!(exact.values().next() == Some(&value), "the output is not the evaluator's");
        let (found, expected) = (decode(&value), floats.value(network.outputs[0].1));
        let worst = found.data.iter().zip(&expected.data).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
        println!("off by {worst} of {}", expected.greatest());
    }
    Ok(())
}

/// The nets of all parties, with one more lane for session keys.
fn nets(tcp: bool, lanes: u16) -> Result<Vec<Net>, Error> {
    let ids = Role::ALL.map(Role::id);
    if !tcp {
        return Ok(inproc::mesh_capped(&ids, lanes + 1, Duration::from_secs(600), 2 << 20));
    }
    let mut parties = LocalParties::bind(&ids, TransportKind::TcpInsecure, SessionId::fresh()?)?;
    parties.configs.iter_mut().for_each(|config| config.lanes = lanes + 1);
    Ok(parties.connect().into_iter().collect::<Result<_, _>>()?)
}

fn party(
    mut net: Net,
    role: Role,
    plan: &Plan,
    cut: Cut,
    inputs: Vec<Shares>,
) -> Result<(Vec<Shares>, Cost), Error> {
    let (left, right) = (Some(role.left().id()), Some(role.right().id()));
    let last = cut.lanes() as u16;
    let mut keys = net.channel(last, right, left)?;
    let mut party = Rep3Party::open(role, Backend::best(), SessionId([7; 16]), Seed::random(), &mut keys)?;
    let meter = Meter::new();
    let mut lane = |l| -> Result<[Channel; 2], Error> {
        let mut pair = [net.channel(l, left, right)?, net.channel(l, right, left)?];
        pair.iter_mut().for_each(|channel| channel.tap(meter.tap()));
        Ok(pair)
    };
    let lanes = (0..last).map(&mut lane).collect::<Result<Vec<_>, _>>()?;
    let made = run(&mut party, lanes, plan, cut, inputs, &mut |_, _| true)?;
    Ok((made, meter.reading().cost()))
}

/// The time that all processors have spent on this process, in hundredths of a second.
fn processor_time() -> Result<Duration, Error> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(10 * ticks))
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
