//! Oblivious transfer: the receiver learns one message of each pair, and the sender not which one.

use hushwire::{block::Block, local_pair, ot};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pairs = [[1, 2], [30, 40], [500, 600]].map(|pair| pair.map(Block::from_u128));
    let choices = [true, false, true];
    let ((), received) =
        local_pair(|channel| ot::send(channel, &pairs), |channel| ot::receive(channel, &choices))?;
    let received: Vec<u128> = received.into_iter().map(Block::to_u128).collect();
    println!("the receiver chose {received:?}");
    assert_eq!(received, [2, 30, 600]);
    Ok(())
}
