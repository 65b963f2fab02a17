//! Three parties on numbers: the mean of three salaries, none of which any party learns.

use hushwire::Local;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mean = "computation mean_pay
        members ada, bob, cleo
        input a: u64 from ada
        input b: u64 from bob
        input c: u64 from cleo
        output mean = (a + b + c) / 3 to ada, bob, cleo";
    let mut three = Local::three()?;
    let pay = [("a", 52_000u64), ("b", 61_000), ("c", 70_600)];
    let learnt = three.run(&mean.parse()?, pay)?;
    println!("the mean is {:?}", learnt["mean"].number(0));
    assert_eq!(learnt["mean"].number(0), Some(61_200));
    Ok(())
}
