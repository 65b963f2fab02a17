//! Three people learn the mean of their salaries, and each whether it earns less than that; nobody learns another's.

use hushwire::{Local, compute::Computation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let salaries: Computation = include_str!("../../../examples/compute/salaries.hwc").parse()?;
    let mut parties = Local::three()?;
    let pay = [("ada_pay", 52_000u64), ("bob_pay", 61_000), ("cleo_pay", 70_600)];
    let learnt = parties.run(&salaries, pay)?;
    println!("the mean of all is {}", learnt["mean_pay"].number(0).unwrap_or_default());
    for name in ["ada", "bob", "cleo"] {
        println!("{name} earns less: {}", learnt[&format!("{name}_below")].truth(0));
    }
    Ok(())
}
