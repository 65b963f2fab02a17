//! `bench prg`: the pseudo-random bytes that one core draws. Every mask, share and label comes from
//! them.
//!
//! | `case` | what is timed |
//! |---|---|
//! | `fill` | the next `bytes` of one stream |
//! | `seed` | a new stream for each `bytes`: its key schedule, then the bytes, as trees need them |
//!
//! Bytes per second. The limit is the tier's AES rounds in registers, with one block for 16 bytes.
//! Before a row is timed its bytes are compared with those of the portable tier: all parties of a
//! session must draw the same.

use std::hint::black_box;

use hushwire_aes::{Backend, Tier};
use hushwire_prg::{Prg, Seed};

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Result, Takes, Unit,
    axes::{every, params},
    bounds::{self, count},
};

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "prg",
    about: "Pseudo-random bytes on one core: streams and fresh seeds, on every tier of this CPU",
    examples: "Example:\n  hushwire bench prg --only tier=vaes512 --json prg.json",
    takes: Takes::Tier,
    core: &["*"],
    quick: &["tier=$widest bytes=4096"],
    cases,
    ..Bench::EMPTY
}];

/// The bytes of a piece: those of a seed, a page, and more than a first-level cache holds.
const BYTES: [usize; 4] = [16, 256, 4096, 1 << 20];

fn cases(asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let tiers = asked.tiers();
    Ok(every!(fresh in [false, true], &tier in &tiers, bytes in BYTES => {
        let name = if fresh { "seed" } else { "fill" };
        Case::new(name, params!(tier; tier = tier, bytes = bytes), move |ctx| measure(ctx, tier, bytes, fresh))
    }))
}

fn stream(backend: Backend) -> Prg {
    Prg::new(backend, &Seed::from_bytes([9; 16]), "bench prg")
}

fn measure(
    ctx: &mut CaseContext<'_>,
    tier: Backend,
    bytes: usize,
    fresh: bool,
) -> Result<BenchRow, BoxError> {
    let (mut prg, mut drawn, mut expected) = (stream(tier), vec![0; bytes], vec![0; bytes]);
    prg.fill(&mut drawn);
    stream(Backend::forced(Tier::Portable)?).fill(&mut expected);
    expected[0] ^= u8::from(ctx.spoiled());
    if drawn != expected {
        return Err("the bytes differ from those of the portable tier".into());
    }
    let rounds = bounds::rounds(ctx, tier)?;
    let name = format!("{}, 16 bytes a block", bounds::rounds_name(tier));
    let limit = ctx.bound(&name, Unit::BYTES_PER_S, |_| Ok(16.0 * rounds))?;
    let rate = ctx.timer().rate(count(bytes as u64), || {
        if fresh {
            prg = stream(tier);
        }
        prg.fill(black_box(&mut drawn));
    });
    Ok(BenchRow::new("throughput", Unit::BYTES_PER_S, rate).bound(&limit))
}

#[cfg(test)]
mod tests {
    use crate::{limits, trial};

    #[test]
    fn every_tier_draws_the_same_bytes_against_its_rounds() {
        let (report, _) = trial::measured("prg", &["bytes=16", "bytes=4096"]);
        assert_eq!(report.rows.len(), 4 * trial::asked(&[]).tiers().len());
        report.rows.iter().for_each(|row| limits::stands(&report, row));
        let error = trial::refused("prg", &["bytes=256", "case=seed"]);
        assert!(error.contains("differ from those of the portable tier"), "{error}");
    }
}
