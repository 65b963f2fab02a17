//! Measures products and sorts of 64-bit numbers among three parties in this process. They run over
//! plain TCP with a modelled round trip. Usage: `rates [rows] [round trip in ms] [what: products,
//! sort] [runs]`. Both are cut as the parties' delay demands; products are also measured whole.

use hushwire_aes::Backend;
use hushwire_compute::{Computation, Tensor};
use hushwire_machine::{Channel, Net, SessionId};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Rep3Party, Role, Shares};
use hushwire_three::{Cut, Plan, run, test_support::shared};
use hushwire_wire::{LocalParties, Shape, TransportKind};
use std::{
    thread,
    time::{Duration, Instant},
};

type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let rows: u64 = args.next().map_or(Ok(1 << 20), |n| n.parse())?;
    let round_trip: u64 = args.next().map_or(Ok(0), |n| n.parse())?;
    let only = args.next().unwrap_or_default();
    // The first run has fresh memory.
    let runs: usize = args.next().map_or(Ok(4), |n| n.parse())?;
    let shape = Shape { bits_per_second: None, rtt: Duration::from_millis(round_trip) };
    let cut = Cut::new(1, shape.one_way());
    for (name, body, cut) in [
        ("products, whole", "x * y", Cut::whole()),
        ("products", "x * y", cut),
        ("sort, one column", "permute(y, order(x))", cut),
    ] {
        if name.contains(&only) {
            let text = format!(
                "computation c\nmembers m\ninput x: u64[{rows}] from m\ninput y: u64[{rows}] from m\noutput z = {body} to m"
            );
            let times = measure(&text.parse()?, cut, shape, runs)?;
            println!(
                "{name}, {rows} rows, {round_trip} ms: {times:.1?} in the slowest party, first and later runs"
            );
        }
    }
    Ok(())
}

/// The time of the slowest party in each run.
fn measure(c: &Computation, cut: Cut, shape: Shape, runs: usize) -> Result<Vec<Duration>, Error> {
    let plan = Plan::new(c)?;
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "rates");
    let mut shares: [Vec<Shares>; 3] = Default::default();
    for ((_, input), door) in c.inputs().zip(plan.inputs()) {
        let lengths = input.shape.lengths().ok_or("a length without a number")?;
        let numbers: Vec<u128> = (0..door.elements).map(|_| prg.next_u64().into()).collect();
        let value = Tensor::from_words(input.scalar, &lengths, numbers);
        shares.iter_mut().zip(shared(&mut prg, &value, *door)).for_each(|(to, share)| to.push(share));
    }
    let mut parties =
        LocalParties::bind(&Role::ALL.map(Role::id), TransportKind::TcpInsecure, SessionId::fresh()?)?;
    parties.configs.iter_mut().for_each(|config| config.lanes = cut.lanes() as u16);
    let nets: Vec<Net> = parties.connect().into_iter().collect::<Result<_, _>>()?;
    let times: Vec<Vec<Duration>> = thread::scope(|scope| {
        let party = |((mut net, role), inputs): ((Net, Role), Vec<Shares>)| {
            let plan = &plan;
            scope.spawn(move || -> Result<Vec<Duration>, Error> {
                shape.apply(&mut net);
                let (left, right) = (Some(role.left().id()), Some(role.right().id()));
                let lane =
                    |net: &mut Net, l| Ok([net.channel(l, left, right)?, net.channel(l, right, left)?]);
                let mut lanes: Vec<[Channel; 2]> =
                    (0..cut.lanes() as u16).map(|l| lane(&mut net, l)).collect::<Result<_, Error>>()?;
                let id = SessionId([7; 16]);
                let mut party = Rep3Party::open(role, Backend::best(), id, Seed::random(), &mut lanes[0][1])?;
                let mut times = vec![];
                for _ in 0..runs {
                    let (inputs, begun) = (inputs.clone(), Instant::now());
                    let lanes = lanes.iter_mut().map(<[Channel; 2]>::each_mut).collect();
                    run(&mut party, lanes, plan, cut, inputs, &mut |_, _| true)?;
                    times.push(begun.elapsed());
                }
                Ok(times)
            })
        };
        let running: Vec<_> = nets.into_iter().zip(Role::ALL).zip(shares).map(party).collect();
        running
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a party panicked")?)
            .collect::<Result<_, Error>>()
    })?;
    Ok((0..runs).map(|k| times.iter().map(|of| of[k]).max().unwrap_or_default()).collect())
}
