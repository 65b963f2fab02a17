//! A garbled circuit: two parties learn who has more, and nothing else about the other's number.

use hushwire::{circuit::named, garble, local_pair};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let less = named::program("less:32")?;
    let [alice, bob] = [50_000u32, 70_000].map(u32::to_le_bytes);
    let (alices, bobs) = local_pair(
        |channel| garble::garble(channel, &less, &alice),
        |channel| garble::evaluate(channel, &less, &bob),
    )?;
    println!("Alice has less than Bob: {}", alices[0][0] == 1);
    assert_eq!((&alices[0][..], &bobs[0][..]), (&[1][..], &[1][..]));
    Ok(())
}
