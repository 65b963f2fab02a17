//! Four parties, of which three may cheat: the highest bid of an auction, by a Boolean circuit.

use hushwire::Local;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let auction = "computation auction
        members a, b, c, d
        input x: u16 from a
        input y: u16 from b
        input z: u16 from c
        output highest = max(max(x, y), z) to a, b, c, d";
    let mut four = Local::parties(4)?;
    let bids = [("x", 310u16), ("y", 470), ("z", 450)];
    let learnt = four.run(&auction.parse()?, bids)?;
    println!("the highest bid is {:?}", learnt["highest"].number(0));
    assert_eq!(learnt["highest"].number(0), Some(470));
    Ok(())
}
